// The router over node:http, Express, Fastify and fetch, by the unmodified client; the origin rule and the bounds.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test } from "node:test";
import { createTRPCClient, httpBatchLink, httpLink } from "@trpc/client";
import express from "express";
import Fastify from "fastify";
import { Portico, PorticoError } from "../lib/index.js";
import { memory } from "./storage.js";

const storage = memory();
const log = [];
const portico = await Portico.open({ storage, log: (level, text) => log.push(`${level}: ${text}`) });
const authenticate = (request) => {
  const token = request.headers.authorization ?? request.headers.get?.("authorization");
  return token === "Bearer admin" ? { user: { id: "a", permissions: ["admin"] } } : undefined;
};
const handle = portico.trpc({ authenticate, maxBodySize: 100_000, maxBatchSize: 3 });

const listen = (server) => new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(`http://127.0.0.1:${server.address().port}`)));

/** Each starts a server, and gives its address and what ends it. */
const SERVERS = {
  "node:http": async () => {
    const server = createServer((request, response) => void handle(request, response));
    return { url: await listen(server), close: () => server.close() };
  },
  Express: async () => {
    const app = express();
    app.use("/api/trpc", handle);
    const server = createServer(app);
    return { url: await listen(server), close: () => server.close() };
  },
  "Express with parsed bodies": async () => {
    const app = express();
    app.use(express.json());
    app.use("/api/trpc", handle);
    const server = createServer(app);
    return { url: await listen(server), close: () => server.close(), isParsed: true };
  },
  Fastify: async () => {
    const app = Fastify();
    app.all("/api/trpc/*", handle);
    const url = await app.listen({ port: 0, host: "127.0.0.1" });
    return { url, close: () => app.close(), isParsed: true };
  },
  fetch: async () => ({ url: "http://dashboard.example", fetch: (url, options) => handle(new Request(url, options)), close: () => {} }),
};

for (const [name, start] of Object.entries(SERVERS)) {
  test(`over ${name}`, async () => {
    const { url, close, fetch: own = fetch, isParsed = false } = await start();
    try {
      for (const link of [httpLink, httpBatchLink]) {
        const clientFor = (headers) => createTRPCClient({ links: [link({ url: `${url}/api/trpc`, headers, fetch: own })] });
        const [admin, anyone] = [clientFor({ authorization: "Bearer admin" }), clientFor({})];
        const app = await admin.app.create.mutate({ name: "Jellyfin", iconUrl: "/j.svg" });
        assert.equal(app.appId, app.id);
        const [found, all] = await Promise.all([anyone.app.byId.query({ id: app.id }), admin.app.all.query()]);
        assert.deepEqual([found.name, all.length > 0], ["Jellyfin", true]);
        const code = (call) => call.then(assert.fail, ({ data }) => data.code);
        assert.equal(await code(anyone.app.all.query()), "UNAUTHORIZED");
        assert.equal(await code(anyone.app.byId.query({ id: "none" })), "NOT_FOUND");
        assert.equal(await code(admin.app.nothing.query()), "NOT_FOUND");
        const broken = await admin.app.create.mutate({ name: "", iconUrl: "/j.svg" }).catch(({ data }) => data);
        assert.deepEqual([broken.code, Object.keys(broken.zodError.fieldErrors)], ["BAD_REQUEST", ["name"]]);
      }

      const post = (headers, body = "{}") =>
        own(`${url}/api/trpc/user.initUser`, { method: "POST", headers: { "content-type": "application/json", ...headers }, body });
      const host = new URL(url).host;
      const status = async (...request) => (await post(...request)).status;
      const [theirs, ours] = ["https://evil.example", `http://${host}`];
      assert.equal(await status({ origin: theirs }), 403);
      assert.equal(await status({ origin: theirs, "sec-fetch-site": "cross-site" }), 403);
      assert.equal(await status({ "sec-fetch-site": "same-site" }), 403);
      assert.equal(await status({ origin: "null" }), 403);
      // What is let through is refused for its input.
      if (own === fetch) assert.equal(await status({ origin: ours }), 400);
      assert.equal(await status({ "sec-fetch-site": "same-origin" }), 400);
      assert.equal(await status({}), 400);
      // A framework that has read the body has bounded it.
      if (!isParsed) assert.equal(await status({}, JSON.stringify({ username: "x".repeat(100_000) })), 413);
      const inputs = JSON.stringify(Object.fromEntries([0, 1, 2, 3].map((number) => [number, []])));
      const batch = (count) => own(`${url}/api/trpc/${Array(count).fill("app.byIds").join()}?batch=1&input=${inputs}`);
      assert.deepEqual([(await batch(3)).status, (await batch(4)).status], [200, 400]);
    } finally {
      await close();
    }
  });
}

test("a fault of storage is logged, and not shown", async () => {
  const broken = await Portico.open({
    storage: memory({ faults: { getApp: () => { throw new Error("a secret cause"); } } }),
    log: (level, text) => log.push(`${level}: ${text}`),
  });
  const answer = await broken.trpc({ authenticate })(new Request('http://d.example/trpc/app.byId?input={"id":"x"}'));
  assert.equal(answer.status, 500);
  assert.doesNotMatch(await answer.text(), /secret/);
  assert.match(log.at(-1), /error: app\.byId: storage\.getApp threw: a secret cause/);
  await broken.close();
});

test("a fault of the dashboard while it looks up who calls is logged, and not shown", async () => {
  const fails = async (options) => {
    const answer = await portico.trpc({ authenticate, ...options })(new Request('http://d.example/trpc/app.byId?input={"id":"x"}'));
    const { error } = await answer.json();
    return [answer.status, error.message, error.data.code];
  };
  const thrown = (error) => () => { throw error; };
  const lost = thrown(new Error("connect ECONNREFUSED 10.0.0.5:5432 user=dash"));
  const internal = [500, "Internal server error", "INTERNAL_SERVER_ERROR"];
  for (const options of [{ authenticate: lost }, { authenticate: async () => lost() }, { address: lost }]) {
    log.length = 0;
    assert.deepEqual(await fails(options), internal);
    assert.match(log.join(), /^error: who calls: connect ECONNREFUSED 10\.0\.0\.5:5432 user=dash \(/);
  }
  assert.deepEqual(await fails({ authenticate: thrown(undefined) }), internal);
  const away = thrown(new PorticoError("unavailable", "the database is away"));
  assert.deepEqual(await fails({ authenticate: away }), [503, "The dashboard cannot answer now: try again", "SERVICE_UNAVAILABLE"]);
  assert.deepEqual(await fails({ authenticate: thrown(new PorticoError("unauthorized", "Sign in")) }), [401, "Sign in", "UNAUTHORIZED"]);
});

test("with { publicUrl } a site whose name points here is another site", async () => {
  const status = async (options, origin, site) => {
    const headers = { "content-type": "application/json", origin, host: new URL(origin).host, ...(site && { "sec-fetch-site": site }) };
    const request = new Request(`${origin}/trpc/user.initUser`, { method: "POST", headers, body: "{}" });
    return (await portico.trpc({ authenticate, ...options })(request)).status;
  };
  const publicUrl = "https://dashboard.example/path";
  for (const site of [undefined, "same-origin", "none"]) {
    assert.equal(await status({ publicUrl }, "http://rebound.example", site), 403);
    // What is let through is refused for its input.
    assert.equal(await status({ publicUrl }, "https://dashboard.example", site), 400);
    assert.equal(await status({ publicUrl }, "https://dashboard.example:8443", site), 403);
  }
  assert.equal(await status({ publicUrl }, "https://dashboard.example", "same-site"), 403);
  const origins = ["https://other.example"];
  for (const site of [undefined, "cross-site"]) assert.equal(await status({ publicUrl, origins }, "https://other.example", site), 400);
});

test("without { authenticate } there is no router over HTTP", () => {
  assert.throws(() => portico.trpc(), /authenticate/);
});
