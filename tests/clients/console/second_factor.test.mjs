// The second factor in Chromium: set up in the profile, asked for when signing in.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { code, faults, launch, open, password, signIn, url } from "./browser.mjs";

let browser;
before(async () => (browser = await launch()));
after(() => browser?.close());

test("it is set up with a QR code, and then asked for", async () => {
  const page = await open(browser);
  await signIn(page);
  await page.goto(`${url}/profile`);
  await page.getByRole("link", { name: "Second factor" }).click();
  await page.getByRole("link", { name: "Set up an authenticator app" }).click();
  await page.getByRole("img", { name: "QR code of the secret" }).waitFor();
  const secret = (await page.locator("#secret").innerText()).replaceAll(" ", "");
  // What is typed wrong is said at the field, and the secret stays.
  await page.fill("#code", "abc");
  await page.getByRole("button", { name: "Confirm" }).click();
  await page.locator("#code-problem").waitFor();
  assert.equal((await page.locator("#secret").innerText()).replaceAll(" ", ""), secret);
  assert.deepEqual(await faults(page), []);
  await page.fill("#code", code(secret));
  await page.getByRole("button", { name: "Confirm" }).click();
  await page.getByRole("heading", { name: "Your recovery codes" }).waitFor();
  const codes = await page.locator(".codes code").allInnerTexts();
  assert.equal(codes.length, 10);
  assert.deepEqual(await faults(page), []);
  page.assertQuiet();

  const other = await open(browser);
  await other.goto(`${url}/sign-in`);
  await other.fill("#username", "root");
  await other.fill("#password", password);
  await other.click("main button");
  await other.getByRole("heading", { name: "Second step" }).waitFor();
  await other.waitForFunction(() => document.activeElement.id === "code");
  assert.deepEqual(await faults(other), []);
  await other.fill("#code", codes[0]);
  await other.click("main button");
  await other.waitForURL(`${url}/`);
  assert.equal(await other.locator(".who").innerText(), "root");
  other.assertQuiet();
});
