// The page at /api/docs in a real browser. PORTICO_URL, PORTICO_KEY, PORTICO_PASSWORD (of the user
// root) and CHROMIUM say what to test with; `tests/api/openapi/docs.rs` sets them.

import assert from "node:assert/strict";
import http from "node:http";
import { after, afterEach, before, beforeEach, test } from "node:test";
import { chromium } from "playwright-core";

const { PORTICO_URL, PORTICO_KEY, PORTICO_PASSWORD, CHROMIUM } = process.env;
const origin = new URL(PORTICO_URL).origin;

let browser;
let page;
let complaints;
let requests;

before(async () => {
  browser = await chromium.launch({
    executablePath: CHROMIUM,
    headless: true,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
});

after(() => browser?.close());

beforeEach(async () => {
  page = await (await browser.newContext()).newPage();
  complaints = [];
  requests = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("requestfailed", (request) => complaints.push(`failed: ${request.url()}`));
  page.on("request", (request) => requests.push(request.url()));
  // Violations of the policy, also those that no console shows.
  await page.addInitScript(() => {
    document.addEventListener("securitypolicyviolation", (event) => {
      console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`);
    });
  });
});

afterEach(() => page.context().close());

/** Everything was asked of this origin, and the browser has nothing to complain about. */
function assertQuietAndAtHome(home = origin) {
  assert.deepEqual(complaints, []);
  const foreign = requests.filter((url) => !url.startsWith("data:") && new URL(url).origin !== home);
  assert.deepEqual(foreign, []);
  assert.ok(requests.length >= 5, "the page, its three parts and the document");
}

/** Opens one operation. */
async function open(id) {
  const operation = page.locator(`[id$="-${id}"]`);
  await operation.locator(".opblock-summary-control").click();
  await operation.locator(".opblock-body").waitFor();
  return operation;
}

/** Opens a group and one of its operations, fills in what is asked, and gives what came back. */
async function execute(tag, id, fill = async () => {}) {
  await page.locator(`h3[data-tag="${tag}"]`).click();
  const operation = await open(id);
  await operation.locator(".try-out__btn").click();
  await fill(operation);
  await operation.locator("button.execute").click();
  const answer = operation.locator(".live-responses-table .response");
  await answer.waitFor();
  return {
    status: (await answer.locator(".response-col_status").innerText()).trim().split(/\s/)[0],
    body: await answer.locator(".highlight-code").first().innerText().catch(() => ""),
    url: await operation.locator(".request-url").innerText(),
  };
}

async function authorise(key) {
  await page.locator("button.authorize").first().click();
  const form = page.locator(".auth-container", { hasText: "bearer" }).first();
  await form.locator("input").fill(key);
  await form.locator("button[type=submit]").click();
  await page.locator("button.btn-done").first().click();
}

test("the page shows every group of operations, REST first", async () => {
  await page.goto(`${PORTICO_URL}/api/docs`);
  await page.locator("h3[data-tag]").first().waitFor();
  const tags = await page.locator("h3[data-tag]").evaluateAll((all) => all.map((tag) => tag.dataset.tag));
  assert.deepEqual(tags.slice(0, 2), ["users", "apps"]);
  assert.ok(tags.includes("calls of user"), tags.join());
  assert.ok(tags.indexOf("auth") < tags.indexOf("calls of user"), "REST stands first");
  assertQuietAndAtHome();
});

test("an operation is tried out with an API key", async () => {
  await page.goto(`${PORTICO_URL}/api/docs`);
  await authorise(PORTICO_KEY);
  const answer = await execute("users", "userGetAll");
  assert.equal(answer.status, "200");
  assert.match(answer.body, /"root"/);
  assertQuietAndAtHome();
});

test("without credentials it answers that one has to sign in", async () => {
  await page.goto(`${PORTICO_URL}/api/docs`);
  const answer = await execute("users", "userGetAll");
  assert.equal(answer.status, "401");
  // The browser's console notes every answer that is a refusal.
  complaints = complaints.filter((complaint) => !complaint.includes("401"));
  assertQuietAndAtHome();
});

test("signing in on the page is enough for a change: the browser sends the cookie", async () => {
  await page.goto(`${PORTICO_URL}/api/docs`);
  const account = JSON.stringify({ username: "root", password: PORTICO_PASSWORD });
  const signedIn = await execute("auth", "signIn", (operation) => operation.locator("textarea").first().fill(account));
  assert.equal(signedIn.status, "200");
  const created = await execute("apps", "appCreate", (operation) =>
    operation.locator("textarea").first().fill(JSON.stringify({ name: "by cookie", iconUrl: "/icon.svg" })),
  );
  assert.equal(created.status, "200", created.body);
  assert.match(created.body, /by cookie/);
  assertQuietAndAtHome();
});

test("it works behind a proxy that puts something before its paths", async (context) => {
  const prefix = "/dashboard";
  const proxy = http.createServer((request, response) => {
    if (!request.url.startsWith(`${prefix}/`)) {
      response.writeHead(404).end();
      return;
    }
    const target = new URL(request.url.slice(prefix.length), PORTICO_URL);
    const options = { method: request.method, headers: request.headers };
    const forwarded = http.request(target, options, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    });
    request.pipe(forwarded);
  });
  await new Promise((listening) => proxy.listen(0, "127.0.0.1", listening));
  context.after(() => proxy.close());
  const home = `http://127.0.0.1:${proxy.address().port}`;

  await page.goto(`${home}${prefix}/api/docs`);
  await authorise(PORTICO_KEY);
  const answer = await execute("apps", "appAll");
  assert.equal(answer.status, "200");
  assert.ok(answer.url.endsWith(`${home}${prefix}/api/apps`), answer.url);
  assertQuietAndAtHome(home);
});
