// Passkeys with Chromium's own virtual authenticator, at localhost, where browsers make them without TLS.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { faults, launch, open, password, url } from "./browser.mjs";

let browser;
before(async () => (browser = await launch()));
after(() => browser?.close());

/** A window with an authenticator, which verifies people by their finger. */
async function withAuthenticator(more = {}) {
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
    ...more,
  };
  const { authenticatorId } = await devtools.send("WebAuthn.addVirtualAuthenticator", { options });
  const credentials = async () =>
    (await devtools.send("WebAuthn.getCredentials", { authenticatorId })).credentials;
  return { page, devtools, authenticatorId, credentials };
}
