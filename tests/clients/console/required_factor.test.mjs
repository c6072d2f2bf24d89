// A second factor that must be set up before a session begins, in Chromium.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { code, faults, launch, open, password, url } from "./browser.mjs";

let browser;
before(async () => (browser = await launch()));
after(() => browser?.close());

test("people who must have one set it up before anything else", async () => {
  const page = await open(browser, { reducedMotion: "reduce", viewport: { width: 390, height: 800 } });
  const look = async () => {
    for (const colorScheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme });
      assert.deepEqual(await faults(page), [], colorScheme);
    }
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)) <= 0);
  };
  await page.goto(`${url}/sign-in`);
  await page.fill("#username", "grace");
  await page.fill("#password", password);
  await page.click("main button");
  await page.getByRole("heading", { name: "Set up a second factor now" }).waitFor();
  await look();
  // There is no session yet.
  assert.equal((await page.context().request.get(`${url}/api/auth/session`)).status(), 401);
  const secret = (await page.locator("#secret").innerText()).replaceAll(" ", "");
  await page.fill("#code", "abc");
  await page.getByRole("button", { name: "Confirm" }).click();
  await page.locator("#code-problem").waitFor();
  await look();
  await page.fill("#code", code(secret));
  await page.getByRole("button", { name: "Confirm" }).click();
  await page.getByRole("heading", { name: "Your recovery codes" }).waitFor();
  assert.equal(await page.locator(".codes code").count(), 10);
  await look();
  await page.getByRole("link", { name: "I have kept them, go on" }).click();
  await page.waitForURL(`${url}/`);
  assert.equal(await page.locator(".who").innerText(), "grace");
  page.assertQuiet();
});
