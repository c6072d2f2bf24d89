// Looks in the browser: fitted pictures, accent colours, tiles and columns without shift, and colours in the menu.

import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { after, before, test } from "node:test";
import { faults, launch, noise, open, settled, shifts, signIn, url, watchShifts } from "./browser.mjs";

const { SCREENSHOTS } = process.env;

let browser;
before(async () => (browser = await launch()));
after(() => browser?.close());

const ground = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
const columns = (page) =>
  page.evaluate(() => getComputedStyle(document.querySelector("#found .tiles")).gridTemplateColumns.split(" ").length);

async function picture(page, name) {
  if (!SCREENSHOTS) return;
  mkdirSync(SCREENSHOTS, { recursive: true });
  await page.screenshot({ path: `${SCREENSHOTS}/looks-${name}.png` });
}

test("colours are chosen in the menu of the account, and are there at once", async () => {
  const page = await open(browser, { colorScheme: "light" });
  await signIn(page, "grace");
  for (const [name, color] of [["Light", "rgb(245, 246, 248)"], ["Dark", "rgb(16, 19, 23)"], ["As the device", "rgb(245, 246, 248)"]]) {
    await page.locator("details.account summary").click();
    // The page of the answer closes the menu.
    await settled(page, () => page.locator(".menu").getByRole("button", { name, exact: true }).click());
    assert.equal(await ground(page), color, name);
    await page.waitForURL(`${url}/`);
  }
  page.assertQuiet();
});

test("pictures of any size are fitted, and looks are tried before they are saved", async () => {
  const page = await open(browser, { colorScheme: "light" });
  await signIn(page);
  await page.context().request.post(`${url}/api/trpc/user.changeColorScheme`, {
    data: { colorScheme: "auto" },
    headers: { origin: url },
  });
  await page.goto(`${url}/manage/looks`);
  const wallpaper = await noise(page, 800, 600);
  assert.ok(wallpaper.buffer.length > 1 << 20, "it is too large as it is");
  await page.fill("#name", "Casa");
  await page.locator("#wallpaper-file").setInputFiles(wallpaper);
  await page.waitForFunction(() => document.querySelector("#wallpaper-file").files[0].size <= 1 << 20);
  await page.getByLabel("A colour of our own").check();
  await page.locator("#accentColor").fill("#ffdd00");
  await page.getByLabel("Icons with names").check();
  await page.locator("#columns").selectOption("4");
  await page.getByRole("button", { name: "Try it" }).click();
  await page.getByText("This is how it would look.").waitFor();
  assert.deepEqual(await faults(page), []);
  await picture(page, "tried");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved.").waitFor();
  await page.goto(`${url}/?all=1`);
  assert.match(await page.title(), /Casa$/);
  assert.equal(await columns(page), 4);
  assert.match(await page.evaluate(() => getComputedStyle(document.body).backgroundImage), /api\/pictures/);
  page.assertQuiet();
});

for (const colorScheme of ["light", "dark"]) {
  for (const width of [2400, 1280, 390]) {
    test(`tiles of every density fit and are accessible, ${colorScheme}, ${width} wide`, async () => {
      const page = await open(browser, { colorScheme, viewport: { width, height: 800 } });
      await signIn(page);
      await watchShifts(page);
      for (const density of ["icons", "compact", "comfortable"]) {
        const changed = await page.context().request.post(`${url}/api/trpc/site.update`, {
          data: { density, columns: null },
          headers: { origin: url },
        });
        assert.equal(changed.status(), 200);
        await page.goto(`${url}/?all=1`);
        assert.deepEqual(await shifts(page), [], density);
        assert.deepEqual(await faults(page), [], density);
        const beyond = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(beyond <= 0, `${density} is ${beyond} px too wide`);
        const used = await page.evaluate(() => document.querySelector("#found .tiles").offsetWidth);
        assert.ok(used > width - 100, `${density} uses ${used} of ${width} px`);
        await picture(page, `${density}-${colorScheme}-${width}`);
      }
      page.assertQuiet();
    });
  }
}

test("a theme that was chosen meanwhile is worn with the next page, and taken off again", async () => {
  const page = await open(browser, { colorScheme: "light" });
  await signIn(page);
  const update = async (data) => {
    const answer = await page.context().request.post(`${url}/api/trpc/site.update`, { data, headers: { origin: url } });
    assert.equal(answer.status(), 200);
  };
  const accent = () => page.evaluate(() => getComputedStyle(document.documentElement).getPropertyValue("--accent"));
  await update({ accentColor: "#a01080", wallpaper: null });
  await page.getByRole("link", { name: "Kitchen" }).click();
  await page.waitForURL(/boards/);
  await page.waitForFunction(() => document.querySelector("#theme")?.sheet?.href.includes("a01080"));
  assert.match(await accent(), /#a01080/);
  await update({ accentColor: null, name: null });
  await page.getByRole("link", { name: "Home", exact: true }).click();
  await page.waitForURL(`${url}/`);
  await page.waitForFunction(() => !document.querySelector("#theme"));
  assert.match(await accent(), /#3451c6/);
  page.assertQuiet();
});
