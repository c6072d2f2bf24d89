// The judge of the procedure calls: the unmodified tRPC client, with each of its HTTP links, in
// plain JSON and with superjson, against a running service.
//
// From the environment: PORTICO_URL (without a path), PORTICO_KEY (an API key of an
// administrator) and PORTICO_USER_ID (that administrator).

import assert from "node:assert/strict";
import { describe, test } from "node:test";

import {
  createTRPCClient,
  httpBatchLink,
  httpBatchStreamLink,
  httpLink,
  TRPCClientError,
} from "@trpc/client";
import superjson from "superjson";

const url = `${variable("PORTICO_URL")}/api/trpc`;
const key = variable("PORTICO_KEY");
const userId = variable("PORTICO_USER_ID");

function variable(name) {
  const value = process.env[name];
  assert.ok(value, `${name} is not set`);
  return value;
}

const links = { httpLink, httpBatchLink, httpBatchStreamLink };
const transformers = { "plain JSON": undefined, superjson };
const bearer = { authorization: `Bearer ${key}` };

/** HTTP status and JSON-RPC number of each code. */
const codes = {
  BAD_REQUEST: [400, -32600],
  UNAUTHORIZED: [401, -32001],
  FORBIDDEN: [403, -32003],
  NOT_FOUND: [404, -32004],
  METHOD_NOT_SUPPORTED: [405, -32005],
  CONFLICT: [409, -32009],
};

/** An id that nothing has. */
const unknownId = "00000000-0000-7000-8000-000000000000";

/** A number that no other test run and no other test of this one uses. */
let last = Date.now();
const unique = () => (last += 1);

/** Waits for a call that must fail, and checks everything that a client can see of the failure. */
async function refused(call, code, path) {
  const error = await call.then(
    (value) => assert.fail(`${path} succeeded: ${JSON.stringify(value)}`),
    (error) => error,
  );
  assertRefusal(error, code, path);
  return error;
}

function assertRefusal(error, code, path) {
  assert.ok(error instanceof TRPCClientError, `not an error of the service: ${error}`);
  assert.ok(error.data, `no data, the client did not understand the answer: ${error}`);
  const [httpStatus, number] = codes[code];
  assert.equal(error.data.code, code, error.message);
  assert.equal(error.data.httpStatus, httpStatus);
  assert.equal(error.data.path, path);
  assert.equal(error.shape.code, number);
  assert.equal(error.shape.message, error.message);
  assert.ok(error.message.length > 0, "no message");
  if (code === "BAD_REQUEST") {
    assert.ok(Array.isArray(error.data.zodError?.formErrors), "no formErrors");
    assert.equal(typeof error.data.zodError.fieldErrors, "object");
  } else {
    assert.equal(error.data.zodError, null);
  }
}

/** The fields that a BAD_REQUEST names, each with at least one text. */
function fieldsOf(error) {
  const fields = error.data.zodError.fieldErrors;
  for (const [field, texts] of Object.entries(fields)) {
    assert.ok(texts.length > 0 && texts.every((text) => typeof text === "string"), field);
  }
  return Object.keys(fields).sort();
}

for (const [linkName, link] of Object.entries(links)) {
  for (const [mode, transformer] of Object.entries(transformers)) {
    describe(`${linkName}, ${mode}`, () => suite(link, transformer));
  }
}

function suite(link, transformer) {
  const batches = link !== httpLink;
  const streams = link === httpBatchStreamLink;

  /** A client, and the requests that it has sent. */
  function connect(headers = bearer, options = {}) {
    const requests = [];
    const recorded = async (input, init) => {
      const request = { method: init.method, url: String(input), headers: new Headers(init.headers) };
      requests.push(request);
      const response = await fetch(input, init);
      request.status = response.status;
      request.type = response.headers.get("content-type");
      return response;
    };
    const client = createTRPCClient({
      links: [link({ url, transformer, headers, fetch: recorded, ...options })],
    });
    return { client, requests };
  }

  /** Checks how many requests so many calls of one kind and tick took, and their status. */
  function assertRequests(requests, calls, method, batchStatus) {
    assert.equal(requests.length, batches ? 1 : calls);
    for (const request of requests) {
      assert.equal(request.method, method);
      assert.match(request.type, /^application\/json/);
      assert.equal(request.headers.get("trpc-accept"), streams ? "application/jsonl" : null);
    }
    if (batches) {
      assert.equal(requests[0].status, streams ? 200 : batchStatus);
    }
  }

  const { client } = connect();
  const newApp = (name = `App ${unique()}`) => client.app.create.mutate({ name, iconUrl: "/icon.svg" });

  test("a mutation with an output, and a query with an input", async () => {
    const input = {
      name: `Jellyfin ${unique()}`,
      description: "Films",
      iconUrl: "https://icons.example/jellyfin.svg",
      href: "https://jellyfin.example/",
      pingUrl: null,
    };
    const { appId, ...app } = await client.app.create.mutate(input);
    assert.equal(typeof appId, "string");
    assert.deepEqual(app, { id: appId, ...input });
    assert.deepEqual(await client.app.byId.query({ id: appId }), app);
  });

  test("a query without an input", async () => {
    const { appId } = await newApp();
    const apps = await client.app.all.query();
    assert.ok(apps.some((app) => app.id === appId));
    const users = await client.user.getAll.query();
    const user = users.find((user) => user.id === userId);
    assert.deepEqual(Object.keys(user).sort(), ["email", "emailVerified", "id", "image", "name"]);
  });

  test("a query whose input may be left out", async () => {
    for (const input of [undefined, {}, { excludeExternalProviders: undefined }, { excludeExternalProviders: true }]) {
      const users = await client.user.selectable.query(input);
      const user = users.find((user) => user.id === userId);
      assert.deepEqual(Object.keys(user).sort(), ["id", "image", "name"]);
    }
  });

  test("a query whose input is a list", async () => {
    const [first, second] = await Promise.all([newApp(), newApp()]);
    const apps = await client.app.byIds.query([second.appId, unknownId, first.appId]);
    assert.deepEqual(apps.map((app) => app.id), [second.appId, first.appId]);
    assert.deepEqual(await client.app.byIds.query([]), []);
  });

  test("a mutation whose input is a list", async () => {
    const names = [`Zeta ${unique()}`, `Alpha ${unique()}`];
    const apps = await client.app.createMany.mutate(names.map((name) => ({ name, iconUrl: null })));
    assert.deepEqual(apps.map((app) => app.name), names);
    assert.ok(apps.every((app) => app.appId === app.id && app.iconUrl.length > 0));
  });

  test("mutations without an output answer undefined", async () => {
    for (const firstDayOfWeek of [6, 1]) {
      const answer = await client.user.changeFirstDayOfWeek.mutate({ id: userId, firstDayOfWeek });
      assert.equal(answer, undefined);
      const user = await client.user.getById.query({ userId });
      assert.equal(user.firstDayOfWeek, firstDayOfWeek);
    }
    const { client: fresh, requests } = connect();
    const nothings = await Promise.all([
      fresh.user.changeColorScheme.mutate({ colorScheme: "light" }),
      fresh.user.changePingIconsEnabled.mutate({ id: userId, pingIconsEnabled: false }),
      fresh.app.delete.mutate({ id: unknownId }),
    ]);
    assert.deepEqual(nothings, [undefined, undefined, undefined]);
    assertRequests(requests, 3, "POST", 200);
  });

  test("a key that is undefined is absent, and one that is null is not", async () => {
    const { appId: id } = await client.app.create.mutate({
      name: `App ${unique()}`,
      iconUrl: "/icon.svg",
      description: "stays",
      href: "https://goes.example/",
      pingUrl: undefined,
    });
    await client.app.update.mutate({ id, name: undefined, description: undefined, href: null });
    const app = await client.app.byId.query({ id });
    assert.equal(app.description, "stays");
    assert.equal(app.href, null);
    assert.equal(app.pingUrl, null);
  });

  test("null and dates arrive as they are", async () => {
    const user = await client.user.getById.query({ userId });
    assert.equal(user.emailVerified, null);

    const expirationDate = new Date("2999-12-31T23:59:59.123Z");
    const invite = await client.invite.createInvite.mutate({ expirationDate });
    assert.deepEqual(Object.keys(invite).sort(), ["id", "token"]);

    // Behind other calls of a batch, and twice, so that the place of a date matters.
    const [, once, again] = await Promise.all([
      client.app.byIds.query([]),
      client.invite.getAll.query(),
      client.invite.getAll.query(),
    ]);
    for (const invites of [once, again]) {
      const found = invites.find((other) => other.id === invite.id);
      const expected = transformer ? expirationDate : "2999-12-31T23:59:59.123Z";
      assert.deepEqual(found.expirationDate, expected);
      assert.equal(found.creator.id, userId);
    }
    assert.equal(await client.invite.deleteInvite.mutate({ id: invite.id }), undefined);
  });

  test("unicode goes in and comes out as it is", async () => {
    const name = `日本語 🚀 Ünïcödé "“\\” %2C+&=#,. ${unique()}`;
    const description = "línea\n\tвкладка \u2028 👩‍👩‍👧 <script>";
    const { appId: id } = await client.app.create.mutate({ name, description, iconUrl: "/ícone+%41.svg" });
    const app = await client.app.byId.query({ id });
    assert.deepEqual([app.name, app.description, app.iconUrl], [name, description, "/ícone+%41.svg"]);
    const found = await client.app.search.query({ query: name.slice(2).toUpperCase(), limit: 1 });
    assert.deepEqual(found, [app]);
  });

  test("NOT_FOUND: an app, and a procedure", async () => {
    await refused(client.app.byId.query({ id: unknownId }), "NOT_FOUND", "app.byId");
    await refused(client.app.update.mutate({ id: unknownId, name: "x" }), "NOT_FOUND", "app.update");
    for (const call of [() => client.app.nope.query(), () => client.app.nope.mutate({ id: unknownId })]) {
      const error = await refused(call(), "NOT_FOUND", "app.nope");
      assert.match(error.message, /app\.nope/);
    }
  });

  test("BAD_REQUEST names the fields", async () => {
    const bad = { name: " ", iconUrl: "", href: "java\tscript:alert(1)" };
    const mutation = await refused(client.app.create.mutate(bad), "BAD_REQUEST", "app.create");
    assert.deepEqual(fieldsOf(mutation), ["href", "iconUrl", "name"]);
    const query = await refused(client.user.search.query({ query: "a", limit: 2.5 }), "BAD_REQUEST", "user.search");
    assert.deepEqual(fieldsOf(query), ["limit"]);
    const type = client.user.changeFirstDayOfWeek.mutate({ id: userId, firstDayOfWeek: "5" });
    assert.deepEqual(fieldsOf(await refused(type, "BAD_REQUEST", "user.changeFirstDayOfWeek")), ["firstDayOfWeek"]);
    const missing = await refused(client.app.byId.query({}), "BAD_REQUEST", "app.byId");
    assert.deepEqual(fieldsOf(missing), ["id"]);
  });

  test("BAD_REQUEST where the whole input is missing or of another kind", async () => {
    await refused(client.app.byId.query(), "BAD_REQUEST", "app.byId");
    await refused(client.app.create.mutate(), "BAD_REQUEST", "app.create");
    await refused(client.app.byId.query(null), "BAD_REQUEST", "app.byId");
    await refused(client.app.byIds.query({ id: unknownId }), "BAD_REQUEST", "app.byIds");
  });

  test("FORBIDDEN and CONFLICT", async () => {
    const first = { username: "second", password: "long enough", email: "a@b.example" };
    await refused(client.user.initUser.mutate(first), "FORBIDDEN", "user.initUser");
    const group = { name: `Group ${unique()}` };
    const { id } = await client.group.createGroup.mutate(group);
    await refused(client.group.createGroup.mutate(group), "CONFLICT", "group.createGroup");
    assert.equal(await client.group.deleteGroup.mutate({ id }), undefined);
  });

  test("without a key, public procedures answer and the others say UNAUTHORIZED", async () => {
    const { appId: id } = await newApp();
    for (const headers of [{}, { authorization: "Bearer no.key" }]) {
      const { client, requests } = connect(headers);
      const [open, closed] = await Promise.allSettled([client.app.byId.query({ id }), client.app.all.query()]);
      assert.equal(open.value?.id, id);
      assertRefusal(closed.reason, "UNAUTHORIZED", "app.all");
      assertRequests(requests, 2, "GET", 207);
      // A caller without access does not learn what is wrong with the input.
      await refused(client.app.create.mutate({ name: 7 }), "UNAUTHORIZED", "app.create");
    }
  });

  test("the header ApiKey carries a key as well", async () => {
    const { client } = connect({ ApiKey: key });
    assert.equal((await client.user.getById.query({ userId })).id, userId);
  });

  test("queries of one tick that differ in outcome", async () => {
    const { appId: id } = await newApp();
    const { client, requests } = connect();
    const [good, unknown, bad, nope, all] = await Promise.allSettled([
      client.app.byId.query({ id }),
      client.app.byId.query({ id: unknownId }),
      client.app.search.query({ query: "a", limit: 101 }),
      client.app.nope.query(),
      client.app.all.query(),
    ]);
    assert.equal(good.value?.id, id);
    assertRefusal(unknown.reason, "NOT_FOUND", "app.byId");
    assertRefusal(bad.reason, "BAD_REQUEST", "app.search");
    assert.deepEqual(fieldsOf(bad.reason), ["limit"]);
    assertRefusal(nope.reason, "NOT_FOUND", "app.nope");
    assert.ok(all.value?.some((app) => app.id === id));
    assertRequests(requests, 5, "GET", 207);
  });

  test("mutations of one tick that differ in outcome", async () => {
    const { appId: id } = await newApp();
    const { client, requests } = connect();
    const [update, unknown, create] = await Promise.allSettled([
      client.app.update.mutate({ id, description: "new" }),
      client.app.update.mutate({ id: unknownId, description: "new" }),
      client.app.create.mutate({ name: `App ${unique()}`, iconUrl: "/icon.svg" }),
    ]);
    assert.deepEqual(update, { status: "fulfilled", value: undefined });
    assertRefusal(unknown.reason, "NOT_FOUND", "app.update");
    assert.equal(typeof create.value?.appId, "string");
    assertRequests(requests, 3, "POST", 207);
    assert.equal((await client.app.byId.query({ id })).description, "new");
  });

  test("calls of one tick that all fail alike", async () => {
    const { client, requests } = connect();
    const calls = [1, 2, 3].map(() => client.app.byId.query({ id: unknownId }));
    for (const call of await Promise.allSettled(calls)) {
      assertRefusal(call.reason, "NOT_FOUND", "app.byId");
    }
    assertRequests(requests, 3, "GET", 404);
  });

  test("queries and mutations of one tick", async () => {
    const { client, requests } = connect();
    const [app, user] = await Promise.all([
      client.app.create.mutate({ name: `App ${unique()}`, iconUrl: "/icon.svg" }),
      client.user.getById.query({ userId }),
    ]);
    assert.equal(typeof app.appId, "string");
    assert.equal(user.id, userId);
    assert.deepEqual(requests.map((request) => request.method).sort(), ["GET", "POST"]);
  });

  test("fifty calls of one tick, each with its own answer", async () => {
    const apps = await client.app.createMany.mutate(
      Array.from({ length: 50 }, () => ({ name: `App ${unique()}`, iconUrl: "/icon.svg" })),
    );
    const { client: fresh, requests } = connect();
    const found = await Promise.all(apps.map((app) => fresh.app.byId.query({ id: app.id })));
    assert.deepEqual(found.map((app) => [app.id, app.name]), apps.map((app) => [app.id, app.name]));
    assertRequests(requests, 50, "GET", 200);

    const deleted = await Promise.all(apps.map((app) => fresh.app.delete.mutate({ id: app.id })));
    assert.deepEqual(deleted, apps.map(() => undefined));
    assertRequests(requests.slice(batches ? 1 : 50), 50, "POST", 200);
    assert.deepEqual(await fresh.app.byIds.query(apps.map((app) => app.id)), []);
  });

  if (batches) {
    test("a batch that the client splits because of its URL's length", async () => {
      const { client, requests } = connect(bearer, { maxURLLength: 2083 });
      const users = await Promise.all(Array.from({ length: 50 }, () => client.user.getById.query({ userId })));
      assert.ok(users.every((user) => user.id === userId));
      assert.ok(requests.length > 1, "it was not split");
    });
  }

  test("a query by POST is METHOD_NOT_SUPPORTED", async () => {
    const { appId: id } = await newApp();
    const { client, requests } = connect(bearer, { methodOverride: "POST" });
    const calls = await Promise.allSettled([
      client.app.byId.query({ id }),
      client.app.byId.query({ id: unknownId }),
      client.app.all.query(),
    ]);
    for (const [at, path] of ["app.byId", "app.byId", "app.all"].entries()) {
      assertRefusal(calls[at].reason, "METHOD_NOT_SUPPORTED", path);
    }
    assertRequests(requests, 3, "POST", 405);
    const { appId } = await client.app.create.mutate({ name: `App ${unique()}`, iconUrl: "/icon.svg" });
    assert.equal(typeof appId, "string");
  });
}
