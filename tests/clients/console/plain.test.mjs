// Without JavaScript, over plain http, at a name that is not the machine's own: browsers then send neither
// Sec-Fetch-Site nor anything else that only secure pages get.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { launch, open, password, url } from "./browser.mjs";

const port = new URL(url).port;
const home = `http://dashboard.test:${port}`;

let browser;
before(async () => (browser = await launch(["--host-resolver-rules=MAP dashboard.test 127.0.0.1"])));
after(() => browser?.close());

test("a person signs in, changes something and signs out", async () => {
  const page = await open(browser, { javaScriptEnabled: false });
  await page.goto(home);
  assert.equal(new URL(page.url()).pathname, "/sign-in");
  // A name of its own: the next attempt at one name has to wait for a second.
  await page.fill("#username", "stranger");
  await page.fill("#password", "not the password");
  await page.click("main button");
  await page.getByText("Wrong username or password").waitFor();
  assert.equal(await page.inputValue("#username"), "stranger");
  await page.fill("#username", "root");
  await page.fill("#password", password);
  await page.click("main button");
  await page.waitForURL(`${home}/`);
  await page.locator("details.account summary").click();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByText("You are signed out.").waitFor();
});
