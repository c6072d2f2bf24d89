// Marks on tiles that say whether apps can be reached, and the search that opens on every page.

import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { after, before, test } from "node:test";
import { faults, launch, open, shifts, signIn, url, watchShifts } from "./browser.mjs";

const { SCREENSHOTS } = process.env;

let browser;
before(async () => (browser = await launch()));
after(() => browser?.close());

const visible = (page) => page.locator("#found .tile:visible .name").allInnerTexts();

// It begins the checks, so it is the first test of this file.
test("the page of all apps renews itself, with reasons and the sentence above them", async () => {
  const page = await open(browser);
  // Her first page shows no marks, and so begins no checks.
  await signIn(page, "grace");
  const opened = await page.goto(`${url}/status`);
  assert.match(await opened.text(), />3 apps are not checked yet</);
  await page.locator("td .mark.is-up").waitFor();
  await page.locator("td .mark.is-down").waitFor();
  await page.locator(".mark.is-not-allowed").waitFor();
  await page.getByText("No connection could be made.").waitFor();
  assert.equal(await page.locator(".summary.is-down").innerText(), "1 app cannot be reached");
  await page.waitForFunction(() => document.querySelectorAll("td.brief time").length === 3);
  page.assertQuiet();
});

test("marks appear without a reload, are words and not colours alone, and move nothing", async () => {
  for (const [colorScheme, width] of [["light", 1280], ["dark", 390]]) {
    const page = await open(browser, { colorScheme, viewport: { width, height: 800 } });
    await watchShifts(page);
    await signIn(page);
    await page.goto(`${url}/?all=1`);
    await page.locator(".mark.is-up").first().waitFor();
    await page.locator(".mark.is-down").first().waitFor();
    assert.match(await page.locator(".mark.is-up").first().innerText(), /^Up, \d+ ms$/);
    assert.match(await page.locator(".mark.is-down").first().innerText(), /^Down since .*\d/);
    assert.equal(await page.locator(".mark.is-not-allowed").first().innerText(), "May not be checked");
    assert.deepEqual(await shifts(page), []);
    assert.deepEqual(await faults(page), []);
    if (SCREENSHOTS) {
      mkdirSync(SCREENSHOTS, { recursive: true });
      await page.screenshot({ path: `${SCREENSHOTS}/status-tiles-${colorScheme}-${width}.png` });
    }
    await page.goto(`${url}/status`);
    assert.deepEqual(await faults(page), []);
    if (SCREENSHOTS) await page.screenshot({ path: `${SCREENSHOTS}/status-${colorScheme}-${width}.png` });
    page.assertQuiet();
  }
});

test("marks are renewed while the page is seen, and not while it is hidden", async () => {
  const page = await open(browser);
  await signIn(page);
  await page.clock.install();
  await page.goto(`${url}/?all=1`);
  const asks = (request) => request.url().includes("/status/tiles");
  await Promise.all([page.waitForRequest(asks), page.clock.runFor(3_000)]);
  await Promise.all([page.waitForRequest(asks), page.clock.runFor(35_000)]);
  const becomes = (state) =>
    page.evaluate((state) => {
      Object.defineProperty(document, "visibilityState", { value: state, configurable: true });
      document.dispatchEvent(new Event("visibilitychange"));
    }, state);
  await becomes("hidden");
  let asked = 0;
  page.on("request", (request) => (asked += asks(request)));
  await page.clock.runFor(300_000);
  await Promise.all([page.waitForRequest(asks), becomes("visible")]);
  assert.equal(asked, 1);
});

test("Ctrl-K and / open the search on every page, and it finds apps, boards, pages and the web", async () => {
  const page = await open(browser);
  await signIn(page);
  await page.goto(`${url}/profile`);
  await page.keyboard.press("Control+k");
  await page.keyboard.type("jelly");
  await page.locator("#quick #found").waitFor();
  assert.deepEqual(await visible(page), ["Jellyfin"]);
  assert.equal(await page.locator(".tile.chosen .name").innerText(), "Jellyfin");
  assert.deepEqual(await faults(page), []);
  if (SCREENSHOTS) await page.screenshot({ path: `${SCREENSHOTS}/quick.png` });
  await page.keyboard.press("Escape");
  assert.equal(await page.inputValue("#find"), "");
  await page.keyboard.press("Escape");
  await page.locator("#quick").waitFor({ state: "detached" });
  await page.keyboard.press("/");
  await page.locator("#quick #found").waitFor();
  await page.fill("#find", "kitchen");
  await page.locator("section#destinations:visible").waitFor();
  assert.deepEqual(await visible(page), ["Kitchen"]);
  await page.fill("#find", "lib cats");
  assert.deepEqual(await visible(page), ["Search Library for “cats”"]);
  await page.fill("#find", "Audit");
  assert.deepEqual(await visible(page), ["Audit log"]);
  await page.keyboard.press("Enter");
  await page.waitForURL(`${url}/audit`);
  await page.locator("#quick").waitFor({ state: "detached" });
  // A button, for those without a keyboard.
  await page.getByRole("link", { name: "Search", exact: true }).click();
  await page.locator("#quick #found").waitFor();
  await page.keyboard.press("Escape");
  await page.locator("#quick").waitFor({ state: "detached" });
  // Closed before it is there, it stays closed.
  let release;
  const held = new Promise((resolve) => (release = resolve));
  await page.route(/\?all=1$/, (route) => held.then(() => route.continue()));
  const asked = page.waitForRequest(/\?all=1$/);
  await page.keyboard.press("/");
  await page.locator("#quick").waitFor();
  await page.keyboard.press("Escape");
  await page.locator("#quick").waitFor({ state: "detached" });
  release();
  await (await (await asked).response()).finished();
  await page.unroute(/\?all=1$/);
  // A field takes the slash; on the first page its own box has the focus.
  await page.goto(`${url}/apps`);
  await page.locator("main input[type=search]").first().focus();
  await page.keyboard.press("/");
  assert.equal(await page.locator("#quick").count(), 0);
  await page.goto(url);
  await page.keyboard.press("Control+k");
  assert.equal(await page.evaluate(() => document.activeElement.id), "find");
  assert.equal(await page.locator("#quick").count(), 0);
  page.assertQuiet();
});

test("the browser finds the site fit to be installed", async () => {
  const page = await open(browser);
  await page.goto(`${url}/sign-in`);
  const session = await page.context().newCDPSession(page);
  const { errors, data } = await session.send("Page.getAppManifest");
  assert.deepEqual(errors, []);
  assert.equal(JSON.parse(data).display, "standalone");
  const { installabilityErrors } = await session.send("Page.getInstallabilityErrors");
  // Windows of tests are private.
  const others = installabilityErrors.filter(({ errorId }) => errorId !== "in-incognito");
  assert.deepEqual(others, []);
});
