// The page at /api/docs. PORTICO_KEY is an API key of root; `tests/api/openapi/docs.rs` sets it.

import assert from "node:assert/strict";
import http from "node:http";
import { after, afterEach, before, beforeEach, test } from "node:test";
import { launch, open as openWindow, password, url } from "./browser.mjs";

const { PORTICO_KEY } = process.env;

let browser;
let page;

before(async () => (browser = await launch()));
after(() => browser?.close());
beforeEach(async () => (page = await openWindow(browser)));
afterEach(() => page.context().close());

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
  await page.goto(`${url}/api/docs`);
  await page.locator("h3[data-tag]").first().waitFor();
  const tags = await page.locator("h3[data-tag]").evaluateAll((all) => all.map((tag) => tag.dataset.tag));
  assert.deepEqual(tags.slice(0, 2), ["users", "apps"]);
  assert.ok(tags.includes("calls of user"), tags.join());
  assert.ok(tags.indexOf("auth") < tags.indexOf("calls of user"), "REST stands first");
  page.assertQuiet();
});

test("an operation is tried out with an API key", async () => {
  await page.goto(`${url}/api/docs`);
  await authorise(PORTICO_KEY);
  const answer = await execute("users", "userGetAll");
  assert.equal(answer.status, "200");
  assert.match(answer.body, /"root"/);
  page.assertQuiet();
});

test("without credentials it answers that one has to sign in", async () => {
  await page.goto(`${url}/api/docs`);
  const answer = await execute("users", "userGetAll");
  assert.equal(answer.status, "401");
  // The browser's console notes every answer that is a refusal.
  page.assertQuiet({ expected: /401/ });
});

test("signing in on the page is enough for a change: the browser sends the cookie", async () => {
  await page.goto(`${url}/api/docs`);
  const account = JSON.stringify({ username: "root", password: password });
  const signedIn = await execute("auth", "signIn", (operation) => operation.locator("textarea").first().fill(account));
  assert.equal(signedIn.status, "200");
  const created = await execute("apps", "appCreate", (operation) =>
    operation.locator("textarea").first().fill(JSON.stringify({ name: "by cookie", iconUrl: "/icon.svg" })),
  );
  assert.equal(created.status, "200", created.body);
  assert.match(created.body, /by cookie/);
  page.assertQuiet();
});

test("it works behind a proxy that puts something before its paths", async (context) => {
  const prefix = "/dashboard";
  const proxy = http.createServer((request, response) => {
    if (!request.url.startsWith(`${prefix}/`)) {
      response.writeHead(404).end();
      return;
    }
    const target = new URL(request.url.slice(prefix.length), url);
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
  page.assertQuiet({ home });
});
