// The ready storage over each driver: `Portico.open({ database })`, and the router with sign-in. better-sqlite3 and libsql on
// Node 20, node:sqlite on Node 24, and PostgreSQL where PGHOST is set.

import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { createServer } from "node:net";
import { test } from "node:test";
import { createTRPCClient, httpBatchStreamLink, httpLink } from "@trpc/client";
import { databaseOf } from "../lib/databases.js";
import { Portico, PorticoError } from "../lib/index.js";

const isNew = Number(process.versions.node.split(".")[0]) >= 24;
const ACCOUNT = { username: "ada", password: "correct horse" };
const JELLYFIN = { name: "Jellyfin", iconUrl: "/j.svg" };

/** What opens an empty database of each kind, and ends it. @type {Record<string, () => Promise<{ database: any, end: () => any }>>} */
const DATABASES = {};
if (isNew) {
  DATABASES["node:sqlite"] = async () => {
    const { DatabaseSync } = await import("node:sqlite");
    const database = new DatabaseSync(":memory:");
    return { database, end: () => database.close() };
  };
} else {
  for (const driver of ["better-sqlite3", "libsql"]) {
    DATABASES[driver] = async () => {
      const { default: Database } = await import(driver);
      const database = new Database(":memory:");
      return { database, end: () => database.close() };
    };
  }
}
if (process.env.PGHOST) {
  DATABASES.pg = async () => {
    const { default: pg } = await import("pg");
    const database = new pg.Pool({ max: 8, options: "-c search_path=portico_node_test" });
    database.on("error", () => {});
    await database.query("DROP SCHEMA IF EXISTS portico_node_test CASCADE; CREATE SCHEMA portico_node_test");
    return { database, end: () => database.end() };
  };
}

/** Each request of its client goes straight to the handler, with the cookie that the last one set. */
function browser(handle, link = httpLink) {
  let cookie = "";
  const headers = {};
  const fetch = async (url, options) => {
    const response = await handle(new Request(url, { ...options, headers: { ...Object.fromEntries(new Headers(options.headers)), ...headers, cookie } }));
    const [set] = response.headers.getSetCookie();
    if (set) cookie = set.split(";")[0];
    return response;
  };
  const client = createTRPCClient({ links: [link({ url: "http://dashboard.example/api/trpc", fetch })] });
  return { client, headers, cookie: () => cookie, set: (value) => (cookie = value) };
}
const code = (call) => call.then(assert.fail, ({ data, message }) => data?.code ?? message);

for (const [driver, open] of Object.entries(DATABASES)) {
  const over = (what, work) =>
    test(`over ${driver}, ${what}`, async () => {
      const { database, end } = await open();
      const portico = await Portico.open({ database, prefix: "my_" });
      try {
        await work({ portico, database });
      } finally {
        await portico.close();
        await end();
      }
    });

  over("users and apps are kept, and migrating again changes nothing", async ({ portico, database }) => {
    const id = await portico.users.initUser({}, ACCOUNT);
    const admin = await portico.people.callerOf(id);
    assert.deepEqual(admin.user, { id, permissions: ["admin"] });
    const app = await portico.apps.create(admin, JELLYFIN);
    assert.deepEqual(await portico.apps.all(admin), [app]);
    await assert.rejects(portico.users.initUser({}, ACCOUNT), { code: "forbidden" });
    await assert.rejects(portico.users.create(admin, ACCOUNT, []), { code: "conflict" });
    const again = await Portico.open({ database, prefix: "my_" });
    assert.deepEqual(await again.apps.byId({}, app.id), app);
    await again.close();
    const many = Array.from({ length: 1000 }, (_, number) => ({ ...JELLYFIN, name: `app ${number}` }));
    assert.equal((await portico.apps.createMany(admin, many)).length, 1000);
    assert.equal((await portico.apps.all(admin)).length, 1001);
  });

  over("sessions, groups, invites and keys", async ({ portico }) => {
    const id = await portico.users.initUser({}, ACCOUNT);
    const { passwordVersion } = await portico.signIn.password({}, "ada", "correct horse");
    const session = await portico.people.beginSession(id, passwordVersion);
    assert.ok(session.endsAt > new Date());
    const { caller } = await portico.people.authenticate(session.token);
    const group = await portico.people.createGroup(null, "editors", ["app-create"]);
    const ben = await portico.users.create(caller, { username: "ben", password: "correct horse" }, [group]);
    assert.deepEqual(await portico.people.permissionsOf(ben), ["app-create"]);
    const invite = await portico.people.createInvite(id, new Date(Date.now() + 60_000));
    const registration = { account: { username: "cleo", password: "correct horse", email: "cleo@example.org" }, inviteId: invite.id, token: invite.token };
    await portico.users.register({}, registration);
    await assert.rejects(portico.users.register({}, registration), { code: "forbidden" });
    const { key } = await portico.people.createKey(ben, "of a program");
    assert.equal((await portico.people.authenticate(key)).caller.user.id, ben);
    await portico.users.setDisabled(caller, ben, true);
    assert.equal(await portico.people.authenticate(key), null);
  });

  over("the router signs in, by cookie, and out", async ({ portico }) => {
    const handle = portico.trpc();
    const { client, cookie, set, headers } = browser(handle);
    assert.equal(await code(client.user.initUser.mutate({ username: 5 })), "BAD_REQUEST");
    const { id } = await client.user.initUser.mutate(ACCOUNT);
    assert.equal(await code(client.user.initUser.mutate({ username: 5 })), "FORBIDDEN", "whatever the account is");
    assert.equal(await code(client.session.signIn.mutate({ ...ACCOUNT, password: "wrong horse" })), "UNAUTHORIZED");
    assert.equal(await client.session.get.query(), null);
    assert.deepEqual(await client.session.signIn.mutate(ACCOUNT), { id, name: "ada" });
    assert.deepEqual((await client.session.get.query()).permissions, ["admin"]);
    await client.app.create.mutate(JELLYFIN);

    // A page of another site does nothing with the cookie.
    headers.origin = "https://evil.example";
    assert.equal(await code(client.app.create.mutate(JELLYFIN)), "FORBIDDEN");
    delete headers.origin;

    // A changed password gives the session another token, and the old one is worth nothing.
    const before = cookie();
    await client.user.changePassword.mutate({ userId: id, previousPassword: ACCOUNT.password, password: "another horse" });
    assert.notEqual(cookie(), before);
    assert.equal((await client.session.get.query()).id, id);
    const after = cookie();
    set(before);
    assert.equal(await client.session.get.query(), null);
    set(after);
    await client.session.signOut.mutate();
    set(after);
    assert.equal(await client.session.get.query(), null);
    assert.equal(await code(client.app.all.query()), "UNAUTHORIZED");
  });

  over("guesses at a password are limited", async ({ portico }) => {
    const { client } = browser(portico.trpc());
    await client.user.initUser.mutate(ACCOUNT);
    const guesses = await Promise.all(Array.from({ length: 12 }, () => code(client.session.signIn.mutate({ ...ACCOUNT, password: "wrong horse" }))));
    assert.deepEqual(guesses.toSorted(), [...Array(2).fill("TOO_MANY_REQUESTS"), ...Array(10).fill("UNAUTHORIZED")]);
    assert.equal(await code(client.session.signIn.mutate(ACCOUNT)), "TOO_MANY_REQUESTS");
  });

  over("a dashboard that authenticates by itself says who calls, and has no sign-in of Portico's", async ({ portico }) => {
    const id = await portico.users.initUser({}, ACCOUNT);
    const { client } = browser(portico.trpc({ authenticate: () => portico.people.callerOf(id) }));
    assert.deepEqual(await client.app.all.query(), []);
    assert.equal(await code(client.session.signIn.mutate(ACCOUNT)), "NOT_FOUND");
  });

  over("sign-in is refused before it begins where it could not set the cookie", async ({ portico }) => {
    const id = await portico.users.initUser({}, ACCOUNT);
    // A router of the dashboard's own, whose context has the caller only.
    const caller = portico.router.createCaller({ caller: {} });
    await assert.rejects(caller.session.signIn(ACCOUNT), { code: "INTERNAL_SERVER_ERROR" });
    const { client } = browser(portico.trpc(), httpBatchStreamLink);
    assert.equal(await code(client.session.signIn.mutate(ACCOUNT)), "BAD_REQUEST");
    assert.deepEqual(await portico.people.listSessions(id), []);
    assert.equal(await client.session.get.query(), null);
  });

  over("the cookie is secure where the request came over TLS, or the dashboard is known to have it", async ({ portico }) => {
    await portico.users.initUser({}, ACCOUNT);
    const isSecure = async (origin, options) => {
      const body = JSON.stringify(ACCOUNT);
      const request = new Request(`${origin}/trpc/session.signIn`, { method: "POST", headers: { "content-type": "application/json" }, body });
      return /; Secure$/.test((await portico.trpc(options)(request)).headers.get("set-cookie"));
    };
    assert.equal(await isSecure("http://dashboard.example"), false);
    assert.equal(await isSecure("https://dashboard.example"), true);
    assert.equal(await isSecure("http://dashboard.example", { publicUrl: "https://dashboard.example" }), true);
  });

  over("a caller whose context is no text is refused", async ({ portico }) => {
    const user = { id: await portico.users.initUser({}, ACCOUNT), permissions: ["admin"] };
    await assert.rejects(portico.users.getAll({ user, context: () => 1 }), TypeError);
    assert.equal((await portico.users.getAll({ user })).length, 1);
  });

  over("calls that overlap do not fail", async ({ portico }) => {
    const admin = await portico.people.callerOf(await portico.users.initUser({}, ACCOUNT));
    const calls = Array.from({ length: 40 }, (_, number) =>
      number % 4 === 0
        ? portico.users.create(admin, { ...ACCOUNT, username: `user ${number}` }, [])
        : portico.apps.create(admin, { ...JELLYFIN, name: `app ${number}` }),
    );
    await Promise.all(calls);
    assert.equal((await portico.users.getAll(admin)).length, 11);
    assert.equal((await portico.apps.all(admin)).length, 30);
  });
}

test("a thing that is no database is refused", async () => {
  await assert.rejects(Portico.open({ database: {} }), /takes a connection of better-sqlite3/);
});

test("surroundings that return promises over SQLite, or a wrong form, are refused by name", async () => {
  const { database, end } = await Object.values(DATABASES)[0]();
  const surroundings = { visibleAppsOf: async () => ({ tag: "all" }) };
  // Its functions are asked as they are now.
  const portico = await Portico.open({ database, surroundings: { visibleAppsOf: () => surroundings.visibleAppsOf() } });
  const admin = await portico.people.callerOf(await portico.users.initUser({}, ACCOUNT));
  const ben = await portico.people.callerOf(await portico.users.create(admin, { ...ACCOUNT, username: "ben" }, []));
  await assert.rejects(portico.apps.all(ben), { message: /surroundings\.visibleAppsOf returned a promise.*over SQLite/ });
  for (const [wrong, what] of [[["x"], "a list where the contract wants"], [{ tag: "only", val: [5] }, "val\\[0\\]: a number where the contract wants a text"]]) {
    surroundings.visibleAppsOf = () => wrong;
    await assert.rejects(portico.apps.all(ben), { message: new RegExp(`^surroundings\\.visibleAppsOf returned ${what}`) });
  }
  surroundings.visibleAppsOf = () => ({ tag: "only", val: [] });
  assert.deepEqual(await portico.apps.all(ben), []);
  await portico.close();
  await end();
});

test("upgrades and lists of groups and invites, which grow with the data, run in a thread", async () => {
  const { database, end } = await DATABASES[isNew ? "node:sqlite" : "better-sqlite3"]();
  const portico = await Portico.open({ database });
  let statements = 0;
  for (const name of ["prepare", "exec"]) {
    const original = database[name];
    database[name] = (...values) => (statements++, original.apply(database, values));
  }
  /** How many new statements a call runs before this thread does anything else. */
  const atOnce = (call) => {
    const before = statements;
    return [call(), statements - before];
  };
  const [person, ofPerson] = atOnce(() => portico.people.getPerson("x"));
  assert.notEqual(ofPerson, 0, "a call that costs little runs here");
  await person;
  for (const name of ["migrate", "listGroups", "listInvites"]) {
    const [listed, ofList] = atOnce(() => portico.people[name]());
    assert.equal(ofList, 0, name);
    await listed;
  }
  await portico.close();
  await end();
});

test("while the database is away a request with a cookie is told so, and the log why", async () => {
  const { database, end } = await Object.values(DATABASES)[0]();
  const log = [];
  const portico = await Portico.open({ database, log: (level, text) => log.push(`${level}: ${text}`) });
  portico.people.authenticate = async () => {
    throw new PorticoError("unavailable", "Storage is unavailable", { cause: new Error("connect ECONNREFUSED 10.0.0.5:5432") });
  };
  const { client, set } = browser(portico.trpc());
  assert.equal(await client.session.get.query(), null);
  set("portico_session=x");
  assert.equal(await code(client.session.get.query()), "SERVICE_UNAVAILABLE");
  assert.match(log.join(), /^error: who calls: Storage is unavailable \(Error: connect ECONNREFUSED/);
  await portico.close();
  await end();
});

test("connections whose server stops responding do not stay taken", { timeout: 60_000 }, async (t) => {
  const { default: pg } = await import("pg");
  const frame = (type, body) => Buffer.concat([Buffer.from(type), Buffer.from(Uint32Array.of(body.length + 4).buffer).swap32(), Buffer.from(body)]);
  const ready = frame("Z", "I");
  let refusesBegin = false;
  // It takes connections, runs what begins a transaction, and says nothing to anything else.
  const sockets = new Set();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.once("data", () => {
      socket.write(Buffer.concat([frame("R", [0, 0, 0, 0]), ready]));
      socket.on("data", (data) => {
        if (data.includes("BEGIN") && !refusesBegin) socket.write(Buffer.concat([frame("C", "BEGIN\0"), ready]));
      });
    });
  });
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const pool = new pg.Pool({ host: "127.0.0.1", port: server.address().port, user: "x", database: "x", max: 2 });
  pool.on("error", () => {});
  const unavailable = (call) => assert.rejects(call, (error) => error.payload.tag === "unavailable");
  const database = databaseOf(pool, 20);
  const begun = async () => {
    // Again where this process was too slow.
    for (;;) {
      const transaction = await database.begin("write", ["BEGIN"]).catch(() => undefined);
      if (transaction) return transaction;
    }
  };
  const transaction = await begun();
  const query = unavailable(transaction.query("SELECT 1", []));
  await transaction.rollback();
  assert.equal(pool.totalCount, 0, "after a statement that hangs");
  await query;
  const other = await begun();
  await unavailable(other.commit());
  assert.equal(pool.totalCount, 0, "after a commit that hangs");
  await unavailable(database.lookUp("SELECT 1", []));
  assert.equal(pool.totalCount, 0, "after a look-up that hangs");
  refusesBegin = true;
  await unavailable(database.begin("write", ["BEGIN"]));
  assert.equal(pool.totalCount, 0, "after a begin that hangs");
  await pool.end();
});

test("a connection that breaks while a transaction has it costs that call an error, and not the process", async () => {
  let isListening;
  class Client extends EventEmitter {
    async query(query) {
      isListening = this.listenerCount("error") === 1;
      // Throws if no one listens.
      this.emit("error", new Error("terminating connection"));
      throw Object.assign(new Error("terminating connection"), { code: "57P01" });
    }
    release(isBroken) {
      released.push({ isBroken, listeners: this.listenerCount("error") });
    }
  }
  const released = [];
  const pool = { connect: async () => new Client(), query: async () => ({ rows: [] }) };
  await assert.rejects(Portico.open({ database: pool, log: () => {} }), { code: "unavailable" });
  assert.ok(isListening);
  assert.deepEqual(released[0], { isBroken: true, listeners: 0 });
});
