// The first evening as the console guides it, by mouse, keyboard, touch and without JavaScript: each in an empty service of
// its own, at PORTICO_URLS.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { faults, launch, open, password } from "./browser.mjs";

const homes = JSON.parse(process.env.PORTICO_URLS);
const phone = { viewport: { width: 390, height: 800 }, hasTouch: true, isMobile: true };

let browser;
before(async () => (browser = await launch()));
after(() => browser?.close());

/** Presses Tab until the focus is in an element that fits. */
async function tabTo(page, selector) {
  // A new page is seen before htmx has settled it, which puts the focus into it last of all.
  await page.waitForFunction(() => !document.querySelector(".htmx-settling"));
  for (let step = 0; step < 200; step++) {
    if (await page.evaluate((wanted) => document.activeElement.matches(wanted), selector)) return;
    await page.keyboard.press("Tab");
  }
  assert.fail(`Tab does not reach ${selector}`);
}

/** The rest of the evening, where no test goes by mouse: many apps at once, a board, an invite, sharing and the audit log. */
async function goOn(page, home, other, { press, type, check }) {
  await page.goto(`${home}/apps/many`);
  await type(page, "#list", "Router | http://router.lan");
  await press(page, 'button[name="do"][value="look"]');
  await page.getByText("Nothing is made yet.").waitFor();
  await press(page, 'button[name="do"][value="add"]');
  await page.getByText("Created.").waitFor();

  await page.goto(`${home}/manage/boards/new`);
  await type(page, "#name", "Evening");
  await press(page, "main form button.main");
  await page.getByRole("heading", { name: "Edit board" }).waitFor();
  const board = page.url().split("/").at(-2);
  await check(page, '#apps-found input[name="pick"]');
  await press(page, '#apps-found button[value="add"]');
  await page.getByRole("button", { name: "Move Immich one place back", exact: true }).waitFor();
  await press(page, '.editor-bar button[value="save"]');
  await page.getByText("Saved.").waitFor();
  // Without scripts the note is there before the tiles.
  await page.waitForLoadState();
  assert.deepEqual(await page.locator(".board .tile .name").allInnerTexts(), ["Immich"]);

  await page.goto(`${home}/invites`);
  await press(page, "main form .row button.main");
  await other.goto(await page.locator("#invite-link").inputValue());
  await type(other, "#username", "grace");
  await type(other, "#email", "grace@example.com");
  await type(other, "#password", password);
  await press(other, "main form button.main");
  await other.waitForURL(`${home}/`);

  await page.goto(`${home}/manage/boards/${board}/share?q=grace`);
  await press(page, 'button[aria-label="Add grace"]');
  await page.getByText("Saved.").waitFor();
  await other.goto(`${home}/boards/${board}`);
  assert.deepEqual(await other.locator(".board .tile .name").allInnerTexts(), ["Immich"]);
  await page.goto(`${home}/audit`);
  await page.getByRole("link", { name: "Share a board" }).first().waitFor();
  other.assertQuiet({ home });
}

const ways = {
  mouse: {
    press: (page, selector) => page.click(selector),
    type: (page, selector, text) => page.fill(selector, text),
  },
  keyboard: {
    press: async (page, selector) => {
      await tabTo(page, selector);
      await page.keyboard.press("Enter");
    },
    type: async (page, selector, text) => {
      await tabTo(page, selector);
      await page.keyboard.press("Control+A");
      await page.keyboard.type(text);
    },
    check: async (page, selector) => {
      await tabTo(page, selector);
      await page.keyboard.press("Space");
    },
  },
  touch: {
    options: phone,
    press: (page, selector) => page.tap(selector),
    type: async (page, selector, text) => {
      await page.tap(selector);
      await page.fill(selector, text);
    },
  },
  "a browser without JavaScript": {
    options: { javaScriptEnabled: false },
    press: (page, selector) => page.click(selector),
    type: (page, selector, text) => page.fill(selector, text),
    check: (page, selector) => page.locator(selector).first().check(),
  },
};

for (const [at, [name, way]] of Object.entries(ways).entries()) {
  const { options, press, type, check } = way;
  test(`the first evening by ${name}`, async () => {
    const home = homes[at];
    const page = await open(browser, options);
    const hasScripts = options?.javaScriptEnabled !== false;
    await page.goto(home);
    await page.getByRole("heading", { name: "Welcome to Portico" }).waitFor();
    await type(page, "#username", "ada");
    await type(page, "#password", password);
    await press(page, "main form button");
    await page.getByRole("heading", { name: "Portico is ready" }).waitFor();
    if (hasScripts) assert.deepEqual(await faults(page), []);

    await type(page, "#host", "nas.lan");
    for (const service of ["jellyfin", "mealie"]) {
      await press(page, `button#add-${service}`);
      await page.locator(`a#add-${service}`).waitFor();
      // Who uses the keyboard goes on from here.
      if (hasScripts) await page.waitForFunction((id) => document.activeElement.id === id, `add-${service}`);
    }
    await type(page, "#host", "two words");
    await press(page, "button#add-immich");
    await page.locator("#host-problem").waitFor();
    if (hasScripts) await page.waitForFunction(() => document.activeElement.id === "host");
    await type(page, "#host", "nas.lan");
    await press(page, "button#add-immich");
    await page.locator("a#add-immich").waitFor();

    await press(page, 'a[href="/apps/new"]');
    await page.getByRole("heading", { name: "New app" }).waitFor();
    await type(page, "#address", "127.0.0.1:8123");
    await press(page, "main form .beside button");
    await page.locator("#preview").waitFor();
    assert.equal(await page.inputValue("#name"), "Home Assistant");
    assert.equal(await page.inputValue("#href"), "http://127.0.0.1:8123");
    await type(page, "#name", "The house");
    if (hasScripts) assert.equal(await page.locator("#preview .name").innerText(), "The house");
    await press(page, "main form .row button.main");
    await page.getByText("Created.").waitFor();

    // The focus goes there last of all.
    if (hasScripts) await page.waitForFunction(() => document.activeElement.id === "main");
    await press(page, "a.brand");
    await page.waitForURL(`${home}/`);
    const tiles = await page.locator(".tile .name").allInnerTexts();
    assert.deepEqual(tiles, ["Immich", "Jellyfin", "Mealie", "The house"]);
    assert.equal(await page.locator("a.tile", { hasText: "Jellyfin" }).getAttribute("href"), "http://nas.lan:8096");
    if (check) await goOn(page, home, await open(browser, options), way);
    page.assertQuiet({ home });
  });
}
