// Passkeys with Chromium's own virtual authenticator, at localhost, where browsers make them without TLS.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { code, enriched, faults, launch, open, password, url } from "./browser.mjs";

let browser;
before(async () => (browser = await launch()));
after(() => browser?.close());

/** A window with an authenticator, which verifies people by their finger. */
async function withAuthenticator() {
  const page = await open(browser);
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("WebAuthn.enable");
  const options = {
    protocol: "ctap2",
    transport: "internal",
    hasResidentKey: true,
    hasUserVerification: true,
    isUserVerified: true,
    automaticPresenceSimulation: true,
  };
  const { authenticatorId } = await devtools.send("WebAuthn.addVirtualAuthenticator", { options });
  const credentials = async () =>
    (await devtools.send("WebAuthn.getCredentials", { authenticatorId })).credentials;
  return { page, credentials };
}

const button = (page, name) => page.getByRole("main").getByRole("button", { name, exact: true });

async function signOut(page) {
  await page.click("details.account summary");
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.waitForURL(/\/sign-in/);
}

test("a passkey is added, asked for after the password, and signs its user in alone", async () => {
  const { page, credentials } = await withAuthenticator();
  await page.goto(`${url}/sign-in`);
  await page.fill("#username", "root");
  await page.fill("#password", password);
  await page.click("main button");
  await page.waitForURL(`${url}/`);

  await page.goto(`${url}/profile/second-factor`);
  await page.fill("#name", "Laptop");
  assert.deepEqual(await faults(page), []);
  await button(page, "Add a passkey").click();
  await page.getByRole("heading", { name: "Your recovery codes" }).waitFor();
  assert.equal((await page.locator(".codes code").allInnerTexts()).length, 10);
  await page.getByText("Passkey: Laptop").waitFor();
  assert.equal((await credentials())[0].isResidentCredential, true);
  // The authenticator makes no second one.
  await enriched(page);
  await page.fill("#name", "Laptop again");
  await button(page, "Add a passkey").click();
  await page.locator("#told", { hasText: "This device already keeps a passkey of yours." }).waitFor();
  // What the service refuses is not the browser's matter.
  for (const [status, told] of [[403, "You signed in more than ten minutes ago."], [429, "There were too many tries."]]) {
    await page.route("**/passkeys/options", (route) => route.fulfill({ status, json: {} }), { times: 1 });
    await button(page, "Add a passkey").click();
    await page.locator("#told", { hasText: told }).waitFor();
  }

  await page.getByRole("link", { name: "Rename: Passkey: Laptop" }).click();
  assert.deepEqual(await faults(page), []);
  await page.fill("#name", "Old laptop");
  await button(page, "Save").click();
  await page.getByText("Passkey: Old laptop").waitFor();
  await signOut(page);

  await page.fill("#username", "root");
  await page.fill("#password", password);
  await page.click("main button");
  await page.getByRole("heading", { name: "Second step" }).waitFor();
  assert.deepEqual(await faults(page), []);
  await button(page, "Use a passkey").click();
  await page.waitForURL(`${url}/`);
  assert.equal(await page.locator(".who").innerText(), "root");
  await signOut(page);

  await page.goto(`${url}/sign-in?next=%2Fprofile`);
  assert.deepEqual(await faults(page), []);
  await button(page, "Sign in with a passkey").click();
  await page.waitForURL(`${url}/profile`);
  assert.equal(await page.locator(".who").innerText(), "root");
  await signOut(page);

  await page.goto(`${url}/sign-in`);
  await enriched(page);
  await button(page, "Sign in with a passkey").click();
  await page.waitForURL(`${url}/`);
  await page.goto(`${url}/profile/second-factor`);
  await page.getByRole("link", { name: "Remove: Passkey: Old laptop" }).click();
  assert.deepEqual(await faults(page), []);
  await page.locator("form.passkey button").click();
  await page.waitForURL(/note=|second-factor$/);
  await page.getByText("Passkey: Old laptop").waitFor({ state: "detached" });
  page.assertQuiet({ expected: /a status of 4(03|29)/ });
});

test("without JavaScript such a form says that it has no passkey, and the password is still good for the first step", async () => {
  // Browsers themselves hide the form then; the switch of these tests does not.
  const page = await open(browser, { javaScriptEnabled: false });
  await page.goto(`${url}/sign-in`);
  await button(page, "Sign in with a passkey").click();
  await page.locator(".problems").waitFor();
  await page.fill("#username", "grace");
  await page.fill("#password", password);
  await page.click("main button");
  await page.waitForURL(`${url}/`);
  // Someone who has codes of an app alone is not asked for a passkey to remove them.
  await page.goto(`${url}/profile/second-factor/new`);
  await page.fill("#code", code((await page.locator("#secret").innerText()).replaceAll(" ", "")));
  await button(page, "Confirm").click();
  await page.getByRole("link", { name: "Remove: Authenticator app" }).click();
  await button(page, "Remove").waitFor();
  assert.equal(await page.locator("form.passkey").count(), 0);
  page.assertQuiet();
});
