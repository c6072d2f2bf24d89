// The page on which a board is changed: by mouse, by keyboard, by touch and without JavaScript.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { enriched, faults, launch, open, signIn, url } from "./browser.mjs";

const edit = `${url}/boards/${process.env.PORTICO_BOARD}/edit`;
const board = `${url}/boards/${process.env.PORTICO_BOARD}`;

let browser;
before(async () => (browser = await launch()));
after(() => browser?.close());

async function editor(options) {
  const page = await open(browser, options);
  await signIn(page);
  await page.goto(edit);
  if (options?.javaScriptEnabled !== false) await enriched(page);
  return page;
}

const titles = (page, section = 0) =>
  page.locator("[data-section]").nth(section).locator("[data-item] > .tile [data-title]").allInnerTexts();
const button = (page, name) => page.getByRole("main").getByRole("button", { name, exact: true });

async function save(page) {
  await button(page, "Save").click();
  await page.getByText("Saved.").waitFor();
  assert.equal(new URL(page.url()).pathname, new URL(board).pathname);
}

/** The middle of the tile of an item. */
async function middle(page, title) {
  const tile = page.locator("[data-item] > .tile", { hasText: title }).first();
  await tile.scrollIntoViewIfNeeded();
  const { x, y, width, height } = await tile.boundingBox();
  return { x: x + width / 2, y: y + height / 2 };
}

test("a tile is dragged within its section and into another one, and Escape puts it back", async () => {
  const page = await editor();
  await button(page, "Section").click();
  await page.locator("[data-section]").nth(1).waitFor();
  const before = await titles(page);
  assert.deepEqual(before.slice(1), ["Bookmarks 1", "Note", "Clock"]);
  const drag = async (title, to, last) => {
    const from = await middle(page, title);
    await page.mouse.move(from.x, from.y);
    await page.mouse.down();
    await page.mouse.move(from.x + 8, from.y + 8, { steps: 2 });
    await page.mouse.move(to.x, to.y, { steps: 8 });
    await last?.();
    await page.mouse.up();
  };
  await save(page);
  await page.goto(edit);
  await enriched(page);
  // A tile that is put back, or dropped where it was, leaves nothing that has to be saved.
  let asked = 0;
  page.on("dialog", (dialog) => {
    asked++;
    return dialog.accept();
  });
  await drag("Clock", await middle(page, "Bookmarks 1"), () => page.keyboard.press("Escape"));
  await drag("Clock", await middle(page, "Clock"));
  assert.deepEqual(await titles(page), before);
  await page.getByRole("link", { name: "Cancel" }).click();
  await page.waitForURL(board);
  assert.equal(asked, 0);
  await page.goto(edit);
  await enriched(page);
  await drag(before[0], await middle(page, "Note"));
  assert.deepEqual(await titles(page), ["Bookmarks 1", "Note", before[0], "Clock"]);
  await drag("Clock", await middle(page, "Bookmarks 1"), () => page.keyboard.press("Escape"));
  assert.deepEqual(await titles(page), ["Bookmarks 1", "Note", before[0], "Clock"]);
  const second = page.locator("[data-section]").nth(1);
  await second.scrollIntoViewIfNeeded();
  const list = await second.locator("[data-list]").boundingBox();
  await drag("Clock", { x: list.x + 40, y: list.y + list.height / 2 });
  assert.deepEqual(await titles(page, 1), ["Clock"]);
  assert.match(await page.locator("#moved").innerText(), /Clock is now at place 1 of 1/);
  await save(page);
  const stored = await page.locator(".board .tiles").count();
  assert.equal(stored, 2);
  page.assertQuiet();
});

test("the same by keyboard: places, sizes, sections, and saving", async () => {
  const page = await editor();
  const [first, second] = await titles(page);
  await button(page, `Move ${first} one place on`).focus();
  await page.keyboard.press("ArrowRight");
  assert.deepEqual((await titles(page)).slice(0, 2), [second, first]);
  await page.keyboard.press("ArrowLeft");
  assert.deepEqual((await titles(page)).slice(0, 2), [first, second]);
  await button(page, `Change the size of ${first}`).focus();
  await page.keyboard.press("Enter");
  assert.match(await page.locator("#moved").innerText(), /has the size 2x1/);
  await button(page, `Move ${first} to the next section`).focus();
  await page.keyboard.press("Enter");
  assert.deepEqual((await titles(page, 1)).at(-1), first);
  const focused = () => page.evaluate(() => document.activeElement.getAttribute("aria-label"));
  assert.equal(await focused(), `Move ${first} to the next section`);
  // Over the end of a section an item goes into the one before.
  await button(page, `Move ${first} one place back`).focus();
  for (let step = 0; step < 2; step++) await page.keyboard.press("Enter");
  assert.deepEqual((await titles(page)).at(-1), first);
  await page.locator('input[name="section-0"]').fill("Top");
  await button(page, "Move Section 1 down").focus();
  await page.keyboard.press("Enter");
  assert.match(await page.locator("#moved").innerText(), /^Top is now at place 2 of/);
  await page.keyboard.press("ArrowUp");
  await button(page, "Save").focus();
  await page.keyboard.press("Enter");
  await page.getByText("Saved.").waitFor();
  await page.getByRole("heading", { name: "Top" }).waitFor();
  assert.ok(await page.locator("li.bookmarks.size-2x1").isVisible());
  page.assertQuiet();
});

test("leaving with unsaved edits warns, and staying keeps them", async () => {
  const page = await editor();
  await page.locator('input[name="section-0"]').fill("Unsaved");
  let asked = 0;
  page.on("dialog", (dialog) => {
    asked++;
    return asked < 2 ? dialog.dismiss() : dialog.accept();
  });
  // The search is put into this page, and leaves nothing.
  await page.keyboard.press("Control+k");
  await page.locator("#quick #found").waitFor();
  await page.keyboard.type("kitchen");
  await page.locator("#quick section#destinations:visible").waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
  await page.locator("#quick").waitFor({ state: "detached" });
  assert.equal(asked, 0);
  await page.getByRole("link", { name: "Cancel" }).click();
  assert.equal(page.url(), edit);
  assert.equal(await page.inputValue('input[name="section-0"]'), "Unsaved");
  await page.getByRole("link", { name: "Cancel" }).click();
  await page.waitForURL(board);
  assert.equal(asked, 2);
});

test("a refused save and a host that fails leave every edit in the form", async () => {
  const page = await editor();
  const before = await titles(page);
  // While a part is on its way, nothing can be done that would be lost.
  let release;
  const held = new Promise((resolve) => (release = resolve));
  await page.route(edit, (route) => held.then(() => route.continue()));
  await button(page, "Note").click();
  await page.locator("#items[inert]").waitFor();
  release();
  await page.locator("#items:not([inert]) textarea").nth(1).fill("Do not lose this");
  await page.unroute(edit);
  // An app that is ticked while others are searched for stays ticked.
  let answer;
  const asked = new Promise((resolve) => (answer = resolve));
  await page.route(edit, (route) => asked.then(() => route.continue()));
  const searched = page.waitForRequest((request) => request.method() === "POST");
  await page.locator("#app-query").fill("jellyfin");
  await searched;
  await page.locator("#apps-found").getByLabel("Grafana").check();
  answer();
  await page.locator('#apps-found input[type="hidden"][name="pick"]').waitFor({ state: "attached" });
  await page.unroute(edit);
  await page.locator("#app-query").fill("grafana");
  await page.locator("#apps-found").getByLabel("Grafana").waitFor();
  assert.ok(await page.locator("#apps-found").getByLabel("Grafana").isChecked());
  await page.locator("#apps-found").getByLabel("Grafana").uncheck();
  // A name that is missing is asked for, also in settings that are closed.
  const name = await page.inputValue("#name");
  await page.locator(".settings summary").click();
  await page.fill("#name", "");
  await page.locator(".settings summary").click();
  await button(page, "Save").click();
  await page.locator(".settings[open]").waitFor();
  await page.fill("#name", name);
  await page.fill("#slug", "No Slug");
  await button(page, "Save").click();
  await page.locator("#slug-problem").waitFor();
  assert.equal(await page.inputValue("#slug"), "No Slug");
  await page.route(edit, (route) =>
    route.request().method() === "POST"
      ? route.fulfill({ status: 503, contentType: "text/html", body: "<main><h1>Busy</h1><p class=lead>Later</p></main>" })
      : route.continue(),
  );
  await page.fill("#slug", "kitchen");
  await button(page, "Save").click();
  await page.getByText("Busy: Later").waitFor();
  await page.unroute(edit);
  assert.deepEqual((await titles(page)).slice(0, before.length), before);
  const texts = await page.locator("textarea").evaluateAll((all) => all.map((one) => one.value));
  assert.ok(texts.includes("Do not lose this"), texts.join());
  await save(page);
  await page.getByText("Do not lose this").waitFor();
});

test("by touch: a tile is dragged by its grip, and the page still scrolls", async () => {
  const page = await editor({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
  const client = await page.context().newCDPSession(page);
  const [first, second] = await titles(page);
  const at = async (title) => {
    const { x, y, width, height } = await page.locator("[data-item]", { hasText: title }).first().locator("[data-grip]").boundingBox();
    return { x: x + width / 2, y: y + height / 2 };
  };
  await page.locator("[data-item]").first().scrollIntoViewIfNeeded();
  const [from, to] = [await at(first), await at(second)];
  const touch = (type, points) => client.send("Input.dispatchTouchEvent", { type, touchPoints: points });
  await touch("touchStart", [from]);
  for (let step = 1; step <= 8; step++) {
    const part = step / 8;
    await touch("touchMove", [{ x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part }]);
  }
  await touch("touchEnd", []);
  assert.deepEqual((await titles(page)).slice(0, 2), [second, first]);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(wide <= 390, `the page is ${wide} wide`);
  await save(page);
  page.assertQuiet();
});

test("without JavaScript the buttons do it, and saving is always in reach", async () => {
  const page = await editor({ javaScriptEnabled: false });
  // Each press is a page.
  const press = (name) => Promise.all([page.waitForEvent("load"), button(page, name).click()]);
  const [first, second] = await titles(page);
  await press(`Move ${first} one place on`);
  assert.deepEqual((await titles(page)).slice(0, 2), [second, first]);
  await press(`Change the size of ${first}`);
  await page.locator("#apps-found").getByLabel("Grafana").check();
  await press("Add the selected apps");
  assert.equal(await page.locator('[data-kind="app"]', { hasText: "Grafana" }).count(), 1);
  const saves = button(page, "Save");
  assert.ok(await saves.evaluate((one) => one.getBoundingClientRect().top >= 0));
  await saves.click();
  await page.getByText("Saved.").waitFor();
  await button(page, "Make this my home").click();
  await page.getByText("This board is your home now.").waitFor();
  await button(page, "Duplicate").waitFor({ state: "hidden" });
  page.assertQuiet();
});

test("the editor is accessible in both colours and on a phone", async () => {
  for (const viewport of [{ width: 1280, height: 800 }, { width: 390, height: 844 }]) {
    for (const colorScheme of ["light", "dark"]) {
      const page = await editor({ viewport, colorScheme });
      await page.locator(".settings summary").click();
      assert.deepEqual(await faults(page), []);
      await page.context().close();
    }
  }
});
