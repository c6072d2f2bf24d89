// Without JavaScript, over plain http, at a name that is not the machine's own: browsers then send neither
// Sec-Fetch-Site nor anything else that only secure pages get.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { launch, open, password, signIn, url } from "./browser.mjs";

const { PORTICO_PAGES } = process.env;

const port = new URL(url).port;
const home = `http://dashboard.test:${port}`;

let browser;
before(async () => (browser = await launch(["--host-resolver-rules=MAP dashboard.test 127.0.0.1"])));
after(() => browser?.close());

/** A window without JavaScript, in which root has signed in. */
async function signedIn() {
  const page = await open(browser, { javaScriptEnabled: false });
  await signIn(page, "root", { home });
  return page;
}

test("every page opens, and has its heading and one form token for each form", async () => {
  const page = await signedIn();
  for (const path of JSON.parse(PORTICO_PAGES)) {
    const answer = await page.goto(home + path);
    assert.equal(answer.status(), 200, path);
    assert.equal(await page.locator("h1").count(), 1, path);
    assert.notEqual((await page.locator("h1").innerText()).trim(), "", path);
    const [forms, tokens] = await Promise.all([
      page.locator('form[method="post"]').count(),
      page.locator('form[method="post"] input[name="form-token"]').count(),
    ]);
    assert.ok(forms > 0, `${path} has not even the form that signs out`);
    assert.equal(tokens, forms, path);
  }
  page.assertQuiet();
});

test("forms change things", async () => {
  const page = await signedIn();
  const button = (name) => page.getByRole("main").getByRole("button", { name, exact: true });
  await page.goto(`${home}/apps/new`);
  await page.getByText("Fill in everything by hand").click();
  await page.fill("#name", "Without scripts");
  // None of the collections can be reached.
  await page.fill("#icon-query", "plex");
  await button("Search").click();
  await page.getByText("No collection of icons can be reached now.").waitFor();
  await page.fill("#href", "no address");
  await button("Create").click();
  await page.locator("#href-problem").waitFor();
  assert.equal(await page.inputValue("#name"), "Without scripts");
  await page.fill("#href", "https://plain.example");
  await button("Create").click();
  await page.getByText("Created.").waitFor();
  // Without an icon and without a script, it has a tile with its letter.
  await page.goto(`${home}/?q=without`);
  const icon = await page.locator("a.tile", { hasText: "Without scripts" }).locator("img").getAttribute("src");
  const cookies = await page.context().cookies(home);
  const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join("; ");
  const letter = await page.request.get(url + icon, { headers: { cookie } });
  assert.equal(letter.status(), 200);
  assert.match(await letter.text(), />W</);

  await page.goto(`${home}/manage/boards`);
  await page.getByRole("link", { name: "Share Kitchen" }).click();
  await page.fill("#q", "grace");
  await button("Search").click();
  await button("Add grace").click();
  await page.getByText("Saved.").waitFor();
  await button("Remove grace").waitFor();

  await page.goto(`${home}/profile`);
  await page.selectOption("#firstDayOfWeek", { label: "Sunday" });
  await page.locator("form", { has: page.locator("#firstDayOfWeek") }).getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved.").waitFor();
  assert.equal(await page.inputValue("#firstDayOfWeek"), "0");
  page.assertQuiet();
});

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
