// Runs the shared cases (tests/embedding/cases.json) over a dashboard, through the unmodified tRPC
// client.
//
//     node cases.mjs ADAPTER URL
//
// ADAPTER is the file beside this one that knows what is the dashboard's own: it exports `path` (of
// the procedures) and `steps`, a function for each `do` of the cases. Each gets `own(method, path, body)`,
// which asks the dashboard and answers status, body and the cookie that was set, and the step.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createTRPCUntypedClient, httpBatchLink, httpLink, TRPCClientError } from "@trpc/client";

const [, , adapterFile, url] = process.argv;
const { path: at, steps } = await import(`./${adapterFile}`);
const { cases } = JSON.parse(readFileSync(new URL("../../embedding/cases.json", import.meta.url), "utf8"));

const QUERIES = /\.(get[A-Z]\w*|search|selectable|all|byIds?)$/;
const NUMBERS = { BAD_REQUEST: -32600, UNAUTHORIZED: -32001, FORBIDDEN: -32003, NOT_FOUND: -32004, CONFLICT: -32009 };

/** What the names in the cases stand for. */
const names = new Map();
/** The cookie of each session. */
const sessions = new Map();

/** An input with every name replaced. */
function filled(value) {
  if (typeof value === "string" && /^<.*>$/.test(value)) {
    assert.ok(names.has(value), `${value} has not been answered yet`);
    return names.get(value);
  }
  if (Array.isArray(value)) return value.map(filled);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, filled(item)]));
}

/** An expected answer with every name replaced; one that is new becomes what stands there. */
function met(expected, answer) {
  if (typeof expected === "string" && /^<.*>$/.test(expected) && !names.has(expected)) {
    assert.ok(typeof answer === "string" && answer !== "", `${expected} is ${JSON.stringify(answer)}`);
    names.set(expected, answer);
  }
  if (Array.isArray(expected)) return expected.map((item, index) => met(item, answer?.[index]));
  if (expected === null || typeof expected !== "object") return filled(expected);
  return Object.fromEntries(Object.entries(expected).map(([key, item]) => [key, met(item, answer?.[key])]));
}

const headers = (as) => (as === undefined ? {} : { cookie: sessions.get(as) ?? assert.fail(`${as} is not signed in`) });

/** Follows cookies as browsers do: a changed password may give the session another token. */
async function following(request, options) {
  const response = await fetch(request, options);
  const sent = new Headers(options?.headers).get("cookie");
  const set = response.headers.getSetCookie().map((cookie) => cookie.split(";")[0]).join("; ");
  for (const [as, cookie] of sessions) if (set && cookie === sent) sessions.set(as, set);
  return response;
}

const clients = [httpLink, httpBatchLink].map((link) =>
  createTRPCUntypedClient({ links: [link({ url: url + at, fetch: following, headers: ({ op, opList }) => headers((op ?? opList[0]).context.as) })] }),
);

/** Calls a procedure: each of the links has its turn. */
let turn = 0;
function call(path, input, as) {
  const client = clients[turn++ % clients.length];
  const options = { context: { as } };
  return QUERIES.test(path) ? client.query(path, input, options) : client.mutation(path, input, options);
}

async function own(method, path, body, as) {
  const response = await fetch(url + path, {
    method,
    headers: { "content-type": "application/json", ...headers(as) },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await response.text();
  const cookie = response.headers.getSetCookie().map((cookie) => cookie.split(";")[0]).join("; ");
  return { status: response.status, body: text === "" ? undefined : JSON.parse(text), cookie };
}

async function run(step) {
  const { as } = step;
  const asked = (method, path, body) => own(method, path, body, as);
  if (step.do === "sign-in") {
    const { status, cookie } = await steps["sign-in"](own, step);
    if (step.refused) return assert.equal(status, 401);
    assert.equal(status, 200);
    sessions.set(as, cookie);
  } else if (step.do === "get-board") {
    assert.deepEqual(await steps["get-board"](asked, filled(step)), filled(step.apps));
  } else if (step.do) {
    const { id, token, ...rest } = step;
    const answer = await steps[step.do](asked, filled(rest));
    met({ id, ...(token && { token }) }, answer);
  } else if (step.error) {
    const error = await call(step.call, filled(step.input), as).then(
      (answer) => assert.fail(`it succeeded: ${JSON.stringify(answer)}`),
      (error) => error,
    );
    assert.ok(error instanceof TRPCClientError && error.data, `not an error of the service: ${error}`);
    assert.equal(error.data.code, step.error, error.message);
    assert.equal(error.shape.code, NUMBERS[step.error]);
    assert.equal(error.data.path, step.call);
    assert.ok(!("stack" in error.data), "the stack is not disclosed");
    if (step.fields) assert.deepEqual(Object.keys(error.data.zodError.fieldErrors), step.fields);
  } else {
    const answer = (await call(step.call, filled(step.input), as)) ?? null;
    assert.deepEqual(answer, met(step.answer, answer));
  }
}

for (const [number, step] of cases.entries()) {
  try {
    await run(step);
  } catch (error) {
    const { answer, ...brief } = step;
    console.error(`case ${number + 1} of ${cases.length}: ${JSON.stringify(brief)}\n${error.stack}`);
    process.exit(1);
  }
}

// Calls of one moment, together in one request: each has its own answer.
const [, batching] = clients;
const together = ["nothing", names.get("<jellyfin>"), "nothing"].map((id) => batching.query("app.byId", { id }));
const [first, second, third] = await Promise.allSettled(together);
assert.deepEqual([first.reason.data.code, second.value.name, third.reason.data.code], ["NOT_FOUND", "Jelly", "NOT_FOUND"]);

console.log(`${cases.length} cases`);
