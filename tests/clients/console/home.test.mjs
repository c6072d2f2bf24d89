// The first page: tiles, the search box, the keyboard, colours.

import assert from "node:assert/strict";
import http from "node:http";
import { after, before, test } from "node:test";
import { launch, open, shifts, signIn, url, watchShifts } from "./browser.mjs";

let browser;
before(async () => (browser = await launch()));
after(() => browser?.close());

const visible = (page) => page.locator("#found a.tile:visible .name").allInnerTexts();

test("typing filters the tiles, the arrow keys choose one, and Enter opens it", async () => {
  const page = await open(browser);
  await signIn(page);
  await page.goto(`${url}/?all=1`);
  const all = await visible(page);
  assert.ok(all.length >= 3, all.join());
  await page.keyboard.press("/");
  assert.equal(await page.evaluate(() => document.activeElement.id), "find");
  // What else the server finds arrives while the keys choose.
  await page.evaluate(() => {
    window.settled = new Promise((resolve) => document.addEventListener("htmx:afterSettle", resolve, { once: true })).then(() => {});
  });
  await page.keyboard.type("CLOUD");
  assert.deepEqual(await visible(page), ["Nextcloud", "Own cloud"]);
  const chosen = page.locator(".tile.chosen .name");
  assert.equal(await chosen.innerText(), "Nextcloud");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowRight");
  assert.equal(await chosen.innerText(), "Own cloud");
  await page.evaluate(() => window.settled);
  assert.equal(await chosen.innerText(), "Own cloud");
  await page.keyboard.press("Escape");
  assert.deepEqual(await visible(page), all);
  await page.keyboard.type("nothing has this name");
  await page.getByText("No app fits.").waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.type("own cl");
  // A new user's links open in a new tab.
  const [opened] = await Promise.all([page.context().waitForEvent("page"), page.keyboard.press("Enter")]);
  await opened.waitForURL(`${url}/api/health/live`);
  page.assertQuiet();
});

test("the first page with 20 apps is below 60 kB without its icons, and nothing on it moves", async () => {
  for (const width of [1280, 390]) {
    const page = await open(browser, { viewport: { width, height: 800 } });
    await signIn(page);
    const context = await page.context().newCDPSession(page);
    await context.send("Network.enable");
    await context.send("Network.setCacheDisabled", { cacheDisabled: true });
    const addresses = new Map();
    const sizes = new Map();
    context.on("Network.requestWillBeSent", ({ requestId, request }) => addresses.set(requestId, new URL(request.url).pathname));
    context.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => sizes.set(requestId, encodedDataLength));
    await watchShifts(page);
    await page.goto(`${url}/?all=1`);
    assert.equal(await page.locator("#found .tiles a.tile").count(), 20);
    const weighed = [...sizes].map(([id, size]) => [addresses.get(id), size]).filter(([path]) => path && !path.startsWith("/icons/"));
    const weight = weighed.reduce((sum, [, size]) => sum + size, 0);
    assert.ok(weighed.length >= 4, JSON.stringify(weighed));
    console.log(`${width} wide: ${weight} bytes`);
    assert.ok(weight < 60_000, `${weight} bytes: ${JSON.stringify(weighed)}`);
    assert.deepEqual(await shifts(page), []);
    page.assertQuiet();
  }
});

test("a page is not shown before its end has arrived", async (context) => {
  const page = await open(browser);
  let end;
  const ended = new Promise((resolve) => (end = resolve));
  const proxy = http.createServer((asked, answer) => {
    http.get(new URL(asked.url, url), { headers: { ...asked.headers, "accept-encoding": "identity" } }, async (whole) => {
      if (asked.url !== "/sign-in") {
        answer.writeHead(whole.statusCode, whole.headers);
        whole.pipe(answer);
        return;
      }
      const { "content-length": _, ...headers } = whole.headers;
      const text = (await whole.toArray()).join("");
      const cut = text.indexOf(">", text.indexOf("<footer")) + 1;
      answer.writeHead(200, headers).write(text.slice(0, cut));
      await ended;
      answer.end(text.slice(cut));
    });
  });
  await new Promise((listening) => proxy.listen(0, "127.0.0.1", listening));
  context.after(() => proxy.close());
  const home = `http://127.0.0.1:${proxy.address().port}`;
  const painted = () => page.evaluate(() => performance.getEntriesByType("paint").length);

  await page.goto(`${home}/sign-in`, { waitUntil: "commit" });
  await page.locator("footer").waitFor({ state: "attached" });
  await page.waitForFunction(() => document.styleSheets.length > 0, null, { polling: 50 });
  // Long enough for a browser that paints too early.
  await new Promise((later) => setTimeout(later, 300));
  assert.equal(await painted(), 0);
  end();
  await page.waitForFunction(() => performance.getEntriesByType("paint").length > 0);
  page.assertQuiet({ home });
});

test("an icon that cannot be had is replaced by the first letter", async () => {
  const page = await open(browser);
  await signIn(page);
  await page.goto(`${url}/?all=1`);
  await page.locator('.picture[data-initial="N"]').first().waitFor();
  page.assertQuiet();
});

test("links change the page without loading it anew, and the back button goes back", async () => {
  const page = await open(browser);
  await signIn(page);
  await page.goto(`${url}/?all=1`);
  await page.evaluate(() => (window.stays = true));
  await page.getByRole("link", { name: "Kitchen" }).click();
  await page.getByRole("heading", { name: "Kitchen" }).waitFor({ state: "attached" });
  assert.ok(page.url().includes("/boards/"));
  assert.equal(await page.evaluate(() => window.stays), true);
  assert.match(await page.title(), /^Kitchen/);
  await page.goBack();
  await page.locator(".total").waitFor();
  assert.ok(page.url().endsWith("/?all=1"));
  page.assertQuiet();
});

test("the colours are those of the user, or of the machine, from the first moment", async () => {
  for (const colorScheme of ["light", "dark"]) {
    const page = await open(browser, { colorScheme });
    await page.goto(`${url}/sign-in`);
    const ground = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    assert.equal(ground, colorScheme === "light" ? "rgb(245, 246, 248)" : "rgb(16, 19, 23)");
    page.assertQuiet();
  }
});

test("a tile opens its app as a page of its own, also on this host", async () => {
  const page = await open(browser);
  await signIn(page);
  await page.goto(`${url}/?all=1`);
  const [opened] = await Promise.all([page.context().waitForEvent("page"), page.locator("#found a.tile").first().click()]);
  await opened.waitForURL(`${url}/api/health/live`);
  assert.equal(await opened.evaluate(() => document.contentType), "application/json");
});

test("what is no page never becomes one", async () => {
  const page = await open(browser);
  await signIn(page);
  await page.evaluate(() => {
    const link = document.createElement("a");
    link.href = "/api/trpc/%3Cb%20id=injected%3Ex%3C%2Fb%3E";
    link.textContent = "not a page";
    document.querySelector("main").append(link);
    htmx.process(document.body);
  });
  await page.getByText("not a page").click();
  await page.waitForURL(/\/api\/trpc\//);
  assert.equal(await page.evaluate(() => document.contentType), "application/json");
  assert.equal(await page.locator("#injected").count(), 0);
});

test("what was typed stays where the session has ended, the form is too large or the host is gone", async () => {
  const page = await open(browser);
  await signIn(page);
  await page.goto(`${url}/apps/many`);
  await page.fill("main textarea", "one | https://one.example");
  await page.context().clearCookies();
  await page.getByRole("button", { name: "Look at it first" }).click();
  await page.getByRole("alert").waitFor();
  assert.equal(await page.inputValue("main textarea"), "one | https://one.example");
  // The refusal of a form that is too large, or too slow, takes no page's place, either.
  for (const status of [408, 413]) {
    const refusal = `<main><h1>This was refused</h1><p class="lead">Because of ${status}</p></main>`;
    await page.route("**/apps/many", (route) => route.fulfill({ status, contentType: "text/html", body: refusal }));
    await page.getByRole("button", { name: "Look at it first" }).click();
    await page.getByText(`This was refused: Because of ${status}`).waitFor();
    assert.equal(await page.inputValue("main textarea"), "one | https://one.example");
    await page.unroute("**/apps/many");
  }
  await page.route("**/*", (route) => route.abort());
  await page.getByRole("button", { name: "Look at it first" }).click();
  await page.getByText("Portico cannot be reached.").waitFor();
  assert.equal(await page.inputValue("main textarea"), "one | https://one.example");
});
