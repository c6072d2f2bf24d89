// examples/node-dashboard/postgresql under concurrency, and with faults of the host. It runs in Node 24.
//
//     node --expose-gc postgresql.mjs collisions       (the example is installed and built, the database empty)
//     node --expose-gc postgresql.mjs faults

import assert from "node:assert/strict";

const example = new URL("../../../examples/node-dashboard/", import.meta.url);
const load = (file) => import(new URL(file, example).href);
const { Database } = await load("postgresql/database.js");
const { Portico } = await load("node_modules/@portico/dashboard/lib/index.js");
const { begin } = await load("postgresql/sessions.js");
const { Transaction } = await load("postgresql/storage.js");

const database = new Database();
await database.createTables();
const messages = [];
const portico = await Portico.open({
  storage: { begin: async (access, caller) => new Transaction(database, access, caller) },
  log: (level, message) => messages.push(`${level}: ${message}`),
});

const USERS = 16;
const range = (length) => Array.from({ length }, (_, number) => number);
const account = (number, password = "correct horse") => ({ username: `user-${number}`, password });
const createApp = (call, name) => portico.apps.create(call, { name, iconUrl: "/icon.svg" });
const update = (call, id, name) => portico.apps.update(call, { id, name });
const signIn = (name, password) => portico.signIn.password({}, name, password);
const byId = (id) => portico.apps.byId({}, id);

const first = await portico.users.initUser({}, { username: "first", password: "correct horse" });
const admin = { user: { id: first, permissions: ["admin"] } };

/** Calls that overlap: none fails, and none needs to be tried again. */
async function collisions() {
  const creating = range(USERS).map((number) => portico.users.create(admin, account(number), []));
  const ids = await Promise.all(creating);

  // Everyone changes their password at once, in a session of their own; a second session of each ends.
  const sessions = ids.map((id) => ({ session: `own-${id}`, user: { id, permissions: [] } }));
  const insert = "INSERT INTO logins (uid, token_hash, account, ends_at) SELECT $1, $2, number, $3 FROM accounts WHERE uid = $4";
  for (const { session, user } of sessions) {
    for (const uid of [session, `other-${user.id}`]) await database.run(insert, uid, Buffer.from(uid), Date.now() + 60_000, user.id);
  }
  const checked = await signIn("user-0", "correct horse");
  const changing = sessions.map((call, number) =>
    portico.users.changePassword(call, { userId: call.user.id, previousPassword: "correct horse", password: `new horse ${number}` }),
  );
  await Promise.all(changing);
  const versions = await database.all("SELECT secret_version AS version FROM accounts WHERE uid <> $1", first);
  assert.deepEqual(versions.map(({ version }) => version), range(USERS).map(() => "1"));
  const left = await database.all("SELECT uid FROM logins ORDER BY uid");
  assert.deepEqual(left.map(({ uid }) => uid), sessions.map(({ session }) => session).sort());

  // The session rule: the old version begins none, the new one does, and none begins for a disabled user.
  assert.equal(await begin(database, checked.id, "late", checked.passwordVersion), false);
  const signedIn = await signIn("user-0", "new horse 0");
  assert.equal(await begin(database, signedIn.id, "in time", signedIn.passwordVersion), true);
  await portico.users.setDisabled(admin, signedIn.id, true);
  assert.equal(await begin(database, signedIn.id, "disabled", signedIn.passwordVersion), false);
  assert.equal(await database.first("SELECT 1 FROM logins JOIN accounts ON number = account WHERE blocked"), undefined);

  // Updates of one app and of several, and reads among them.
  const { id } = await createApp(admin, "one");
  await Promise.all(range(16).map((number) => update(admin, id, `one ${number}`)));
  const several = await Promise.all(range(16).map((number) => createApp(admin, `several ${number}`)));
  const reading = range(16).map(() => byId(id));
  await Promise.all([...several.map((app, number) => update(admin, app.id, `other ${number}`)), ...reading]);

  // Of calls that take one name, one has it.
  const taking = range(8).map(() => portico.users.create(admin, account(100), []));
  const taken = await Promise.allSettled(taking);
  const codes = taken.map(({ status, reason }) => (status === "fulfilled" ? "taken" : reason.code ?? String(reason)));
  assert.deepEqual(codes.sort(), [...range(7).map(() => "conflict"), "taken"]);
  assert.deepEqual(messages, []);
  console.log("none failed");
}

/** What this process holds, in MB, after everything that can go is gone. */
async function memory() {
  for (const _ of range(5)) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    globalThis.gc();
  }
  const { heapUsed, external, rss } = process.memoryUsage();
  return { held: (heapUsed + external) / 1e6, rss: rss / 1e6 };
}

/** A host function that throws in the middle of a write: the call fails, and nothing stays of it. */
async function faults() {
  const { id } = await createApp(admin, "whole");
  const { updateApp } = Transaction.prototype;
  let isBroken = true;
  Transaction.prototype.updateApp = async function (stored) {
    const answer = await updateApp.call(this, stored);
    if (isBroken) throw new Error("a fault of the host");
    return answer;
  };
  const name = async () => (await byId(id)).name;
  const fail = async (times) => {
    for (const _ of range(times)) await assert.rejects(update(admin, id, "half"), /a fault of the host/);
  };

  // Eight at once: each has the lock when it fails, and the next one gets it.
  await Promise.all(range(8).map(() => fail(1)));
  assert.equal(await name(), "whole");
  await fail(200);
  const before = await memory();
  await fail(2_000);
  const after = await memory();
  console.log(`before ${JSON.stringify(before)}, after ${JSON.stringify(after)}`);
  assert.ok(after.held - before.held < 10, `${after.held - before.held} MB more are held`);
  assert.ok(after.rss - before.rss < 100, `${after.rss - before.rss} MB more are resident`);

  const open = "SELECT count(*)::integer AS count FROM pg_stat_activity WHERE state LIKE 'idle in transaction%'";
  assert.equal((await database.first(open)).count, 0);
  const connections = "SELECT count(*)::integer AS count FROM pg_stat_activity WHERE usename = current_user";
  assert.ok((await database.first(connections)).count <= 13, "connections stayed open");
  assert.equal(await name(), "whole");
  isBroken = false;
  await update(admin, id, "changed");
  assert.equal(await name(), "changed");

  // Refusals keep the instance; the server ending connections is a refusal, too, and the next call works.
  await assert.rejects(update(admin, "nothing", "name"), { code: "not-found" });
  await database.all("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = current_user AND pid <> pg_backend_pid()");
  const outcomes = [];
  for (const _ of range(20)) {
    outcomes.push(await update(admin, id, "again").then(() => "done", (error) => error.code ?? String(error)));
  }
  assert.ok(outcomes.every((outcome) => ["done", "unavailable"].includes(outcome)), outcomes.join());
  assert.equal(outcomes.at(-1), "done");
  assert.equal(await name(), "again");
  console.log("nothing stayed");
}

const [, , part] = process.argv;
await { collisions, faults }[part]();
await portico.close();
await database.close();
