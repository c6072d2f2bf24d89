// Signing in by an identity provider: OIDC_LABEL names an issuer's button, LDAP_PASSWORD is ada's in a directory.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { launch, open, url } from "./browser.mjs";

const { OIDC_LABEL, LDAP_PASSWORD } = process.env;

let browser;
before(async () => (browser = await launch()));
after(() => browser?.close());

test("with an issuer: the button leads there and back to the page that was asked for", { skip: !OIDC_LABEL }, async () => {
  const page = await open(browser);
  await page.goto(`${url}/search?q=x`);
  await page.getByRole("link", { name: OIDC_LABEL }).click();
  await page.fill('input[name="login"]', "1");
  await page.fill('input[name="password"]', "any");
  await page.click('button[type="submit"]');
  await page.locator('input[name="login"]').waitFor({ state: "detached" });
  await page.click('button[type="submit"]');
  await page.waitForURL(`${url}/?q=x`);
  assert.equal(await page.locator(".who").innerText(), "ada");
});

test("who gives up at the issuer finds words and a way back", { skip: !OIDC_LABEL }, async () => {
  const page = await open(browser);
  await page.goto(`${url}/sign-in`);
  await page.getByRole("link", { name: OIDC_LABEL }).click();
  await page.getByText("Cancel").click();
  await page.getByRole("heading", { name: "Sign-in did not succeed" }).waitFor();
  await page.getByRole("link", { name: "Go to the first page" }).click();
  await page.waitForURL(`${url}/sign-in`);
});

test("with a directory: its accounts are one of two kinds", { skip: !LDAP_PASSWORD }, async () => {
  const page = await open(browser);
  await page.goto(`${url}/sign-in`);
  await page.fill("#username", "ada");
  await page.fill("#password", LDAP_PASSWORD);
  await page.selectOption("#provider", "ldap");
  await page.click("main button");
  await page.waitForURL(`${url}/`);
  assert.equal(await page.locator(".who").innerText(), "ada");
  page.assertQuiet();
});
