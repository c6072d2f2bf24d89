// The search box: this board, other apps, then the web; and links that open in a new tab.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { launch, open, signIn, url } from "./browser.mjs";

let browser;
before(async () => (browser = await launch()));
after(() => browser?.close());

const visible = (page) => page.locator("#found .tile:visible .name").allInnerTexts();
const call = (page, procedure, data) =>
  page.context().request.post(`${url}/api/trpc/${procedure}`, { data, headers: { origin: url } });

/** A page of a person whose home is the board Kitchen, and whose search engine is Library. */
async function furnished() {
  const page = await open(browser);
  await signIn(page);
  const me = (await (await page.context().request.get(`${url}/api/auth/session`)).json()).user.id;
  const first = async (procedure) =>
    (await (await page.context().request.get(`${url}/api/trpc/${procedure}`)).json()).result.data[0].id;
  const [board, engine] = [await first("board.getVisible"), await first("searchEngine.getSelectable")];
  const search = (openInNewTab) =>
    call(page, "user.changeSearchPreferences", { userId: me, defaultSearchEngineId: engine, openInNewTab });
  assert.equal((await search(true)).status(), 200);
  const homes = await call(page, "user.changeHomeBoards", { userId: me, homeBoardId: board, mobileHomeBoardId: null });
  assert.equal(homes.status(), 200);
  await page.goto(url);
  return { page, board, search };
}

test("an app that is not on the board is found after those that are, and then the web", async () => {
  const { page } = await furnished();
  assert.equal(await page.locator("#web:visible").count(), 0);
  await page.locator("#find").pressSequentially("cloud");
  await page.locator("section#others:visible").waitFor();
  assert.deepEqual(await visible(page), ["Nextcloud", "Own cloud", "Search Library for “cloud”"]);
  assert.equal(await page.locator(".total").innerText(), "2 apps");
  await page.fill("#find", "jelly");
  assert.deepEqual(await visible(page), ["Jellyfin", "Search Library for “jelly”"]);
  assert.equal(await page.locator(".total").innerText(), "1 app");
  await page.fill("#find", "127.0.0.1");
  assert.equal((await visible(page)).length, 21);
  await page.fill("#find", "WHAT it is for");
  assert.equal((await visible(page)).length, 21);
  await page.fill("#find", "");
  assert.deepEqual(await visible(page), ["Gitea", "Grafana", "Home Assistant"]);
  page.assertQuiet();
});

test("Enter opens what is chosen, and nothing where nothing is", async () => {
  const { page } = await furnished();
  const opened = [];
  page.context().on("page", (other) => opened.push(other));
  await page.focus("#find");
  await page.keyboard.press("Enter");
  await page.goto(`${url}/?all=1`);
  await page.fill("#find", "no such thing");
  assert.equal(await page.getAttribute("#web", "href"), "https://library.example/?q=no%20such%20thing");
  await page.fill("#find", "lib cats & dogs");
  assert.deepEqual(await visible(page), ["Search Library for “cats & dogs”"]);
  assert.equal(await page.locator(".tile.chosen").getAttribute("id"), "web");
  assert.equal(opened.length, 0);
  assert.equal(page.url(), `${url}/?all=1`);
  page.assertQuiet();
});

test("what the server cannot look for now does not stop a search of the web", async () => {
  const { page, search } = await furnished();
  assert.equal((await search(false)).status(), 200);
  await page.goto(url);
  const refusal = { status: 503, contentType: "text/html", body: "<p>busy</p>" };
  for (const part of ["others", "destinations"]) await page.route(`**/${part}?*`, (route) => route.fulfill(refusal));
  await page.route("https://library.example/**", (route) => route.fulfill({ contentType: "text/html", body: "found" }));
  await page.fill("#find", "no such thing");
  for (const part of ["others", "destinations"]) await page.locator(`div#${part}`).waitFor({ state: "detached" });
  await Promise.all([page.waitForURL("https://library.example/?q=no%20such%20thing"), page.keyboard.press("Enter")]);
});

test("what the server found for an earlier text is not chosen while it searches again", async () => {
  const { page } = await furnished();
  // As with more apps than one page has.
  const held = [];
  let requests = 0;
  await page.route("**/others?*", (route) => {
    const typed = new URL(route.request().url()).searchParams.get("q");
    const tile = `<li><a class="tile" href="${url}/api/health/live"><span class="name">Found for ${typed}</span></a></li>`;
    const body = `<section id="others" class="others" data-found hx-get="/others?more" hx-include="#find"
      hx-trigger="input from:#find" hx-swap="outerHTML" hx-push-url="false" hidden><ul class="tiles">${tile}</ul></section>`;
    const answer = () => route.fulfill({ contentType: "text/html", body });
    return ++requests === 1 ? answer() : held.push(answer);
  });
  await page.fill("#find", "zz");
  await page.getByText("Found for zz").waitFor();
  assert.equal(await page.locator(".tile.chosen .name").innerText(), "Found for zz");
  const asked = page.waitForRequest(/others\?more/);
  await page.fill("#find", "zzz");
  await asked;
  assert.deepEqual(await visible(page), ["Search Library for “zzz”"]);
  // Enter waits for what is on its way.
  const opened = [];
  page.context().on("page", (other) => opened.push(other));
  await page.keyboard.press("Enter");
  while (held.length === 0) await page.evaluate(() => new Promise(requestAnimationFrame));
  held.shift()();
  await page.getByText("Found for zzz").waitFor();
  assert.equal(await page.locator(".tile.chosen .name").innerText(), "Found for zzz");
  assert.equal(opened.length, 0);
  page.assertQuiet();
});

test("an answer for an earlier text is not chosen, and the server is asked for the later one", async () => {
  const { page } = await furnished();
  // As with more apps than one page has.
  const held = [];
  await page.route("**/others?*", (route) => {
    const typed = new URL(route.request().url()).searchParams.get("q");
    const tile = `<li><a class="tile" href="${url}/api/health/live"><span class="name">Found for ${typed}</span></a></li>`;
    const body = `<section id="others" class="others" data-found hx-get="/others?more" hx-include="#find"
      hx-trigger="input from:#find delay:200ms" hx-swap="outerHTML" hx-push-url="false" hx-sync="this:replace"
      hidden><ul class="tiles">${tile}</ul></section>`;
    // A later request may have replaced it.
    held.push({ typed, answer: () => route.fulfill({ contentType: "text/html", body }).catch(() => {}) });
  });
  const request = async () => {
    while (held.length === 0) await page.evaluate(() => new Promise(requestAnimationFrame));
    return held.shift();
  };
  const chosen = (name) => page.locator(".tile.chosen .name", { hasText: name }).waitFor();
  // At first a div asks once; from then on the section does, a moment after the last key.
  for (const [earlier, later] of [["z", "zebra"], ["zoo", "zoom"]]) {
    await page.fill("#find", earlier);
    const first = await request();
    assert.equal(first.typed, earlier);
    await page.fill("#find", later);
    await first.answer();
    const second = await request();
    assert.equal(second.typed, later);
    assert.deepEqual(await visible(page), [`Search Library for “${later}”`]);
    await second.answer();
    await chosen(`Found for ${later}`);
  }
  assert.equal(held.length, 0);
  page.assertQuiet();
});

test("one preference says whether Enter and a click open a new tab", async () => {
  const { page, search } = await furnished();
  const tile = page.locator("a.tile", { hasText: "Grafana" });
  const enter = async () => {
    await page.fill("#find", "grafa");
    await page.keyboard.press("Enter");
  };
  for (const press of [() => tile.click(), enter]) {
    const [other] = await Promise.all([page.context().waitForEvent("page"), press()]);
    await other.waitForURL(`${url}/api/health/live`);
    await other.close();
    await page.goto(url);
  }
  assert.equal((await search(false)).status(), 200);
  for (const press of [() => tile.click(), enter]) {
    await page.goto(url);
    await Promise.all([page.waitForURL(`${url}/api/health/live`), press()]);
  }
});

test("a link without a scheme is completed before it is saved", async () => {
  const page = await open(browser);
  await signIn(page);
  await page.goto(`${url}/apps/new`);
  await page.getByText("Fill in everything by hand").click();
  await page.fill("#name", "Storage");
  await page.locator("#href").pressSequentially("nas.home.lan:5000");
  await page.getByText("Becomes http://nas.home.lan:5000 when you save.").waitFor();
  await page.getByRole("button", { name: "Create", exact: true }).click();
  await page.getByText("Created.").waitFor();
  await page.locator('a[href="http://nas.home.lan:5000"]').waitFor();
  page.assertQuiet();
});

test("many apps are looked at, made, and deleted again", async () => {
  const page = await open(browser);
  await signIn(page);
  await page.goto(`${url}/apps/many`);
  await page.fill("#list", 'title,url,time_added\n"Worse is better\nby R. G.",w.example/y,1728576752\nZeta,https://z.example,1');
  await page.getByRole("button", { name: "Look at it first" }).click();
  await page.getByText("Columns that are not read: time_added").waitFor();
  await page.getByText("https://w.example/y").first().waitFor();
  await page.getByRole("button", { name: "Add all" }).click();
  await page.getByText("Created.").waitFor();
  await page.getByLabel("Select Worse is better by R. G.").check();
  await page.getByLabel("Select Zeta").check();
  await page.getByRole("button", { name: "Delete selected" }).click();
  await page.getByRole("heading", { name: "Delete 2 apps?" }).waitFor();
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await page.getByText("Deleted.").waitFor();
  assert.equal(await page.getByText("Zeta").count(), 0);
  page.assertQuiet();
});
