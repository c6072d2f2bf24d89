// The functions of the library over storages in memory, synchronous and with promises. On Node 20 the latter run in threads,
// on Node 24 with JSPI.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { Portico, PorticoError, StorageError } from "../lib/index.js";
import { memory } from "./storage.js";

const ADMIN = { user: { id: "a", permissions: ["admin"] } };
const JELLYFIN = { name: "Jellyfin", iconUrl: "/j.svg" };

/** A promise, and what settles it: `Promise.withResolvers` of Node 22. */
function withResolvers() {
  let resolve;
  const promise = new Promise((settle) => (resolve = settle));
  return { promise, resolve };
}

/** Lets this thread do what is due. */
async function turns(count) {
  for (let turn = 0; turn < count; turn++) await new Promise(setImmediate);
}

/** Runs a test over both kinds of storage. */
function both(name, options, work) {
  for (const isAsynchronous of [false, true]) {
    test(`${name} (${isAsynchronous ? "promises" : "synchronous"})`, async () => {
      const log = [];
      const { faults, ...rest } = options();
      const storage = memory({ isAsynchronous, faults });
      const portico = await Portico.open({ storage, log: (level, text) => log.push(`${level}: ${text}`), ...rest });
      try {
        await work({ portico, storage, log, isAsynchronous });
      } finally {
        await portico.close();
      }
    });
  }
}

both("an app is created, read, changed and deleted", () => ({}), async ({ portico, storage }) => {
  const app = await portico.apps.create(ADMIN, JELLYFIN);
  assert.deepEqual(app, { id: app.id, ...JELLYFIN, description: null, href: null, pingUrl: null });
  await portico.apps.update(ADMIN, { id: app.id, description: "Films", href: "https://films.example/" });
  await portico.apps.update(ADMIN, { id: app.id, href: null });
  const changed = { ...app, description: "Films" };
  assert.deepEqual(await portico.apps.byId({}, app.id), changed);
  assert.deepEqual(await portico.apps.byIds(null, [app.id, "none"]), [changed]);
  assert.deepEqual(await portico.apps.all(ADMIN), [changed]);
  await portico.apps.delete(ADMIN, app.id);
  assert.deepEqual(storage.names(), []);
  assert.equal(storage.seen.open, 0, "no transaction stays open");
});

both("storage gets the whole caller", () => ({}), async ({ portico, storage }) => {
  const caller = { ...ADMIN, session: Symbol("a session") };
  await portico.apps.byIds(caller, ["x"]);
  assert.equal(storage.seen.begun.at(-1).caller, caller, "in this thread");
  await portico.apps.all(caller);
  assert.equal(storage.seen.begun.at(-1).caller, caller, "for a call that runs in another thread");
});

both("errors have a code, the broken rules and a status", () => ({}), async ({ portico }) => {
  const refused = async (call) => {
    const error = await call.then(assert.fail, (error) => error);
    assert.ok(error instanceof PorticoError, error.stack);
    return { code: error.code, issues: error.issues.map(({ path }) => path), httpStatus: error.httpStatus };
  };
  assert.deepEqual(await refused(portico.apps.byId({}, "none")), { code: "not-found", issues: [], httpStatus: 404 });
  assert.deepEqual(await refused(portico.apps.all({})), { code: "unauthorized", issues: [], httpStatus: 401 });
  assert.deepEqual(await refused(portico.apps.create({ user: { id: "b", permissions: [] } }, JELLYFIN)), { code: "forbidden", issues: [], httpStatus: 403 });
  const broken = portico.apps.create(ADMIN, { ...JELLYFIN, name: "", href: "javascript:alert(1)" });
  assert.deepEqual(await refused(broken), { code: "bad-request", issues: [["name"], ["href"]], httpStatus: 400 });
  for (const wrong of [{ ...JELLYFIN, name: 1 }, { iconUrl: "/j.svg" }, { ...JELLYFIN, name: "\ud800" }]) {
    assert.deepEqual(await refused(portico.apps.create(ADMIN, wrong)), { code: "bad-request", issues: [["name"]], httpStatus: 400 });
  }
  assert.deepEqual(await refused(portico.apps.create(ADMIN)), { code: "bad-request", issues: [[]], httpStatus: 400 });
  assert.deepEqual(await refused(portico.apps.createMany(ADMIN, [{ name: "a" }, { name: 7 }])), { code: "bad-request", issues: [[1, "name"]], httpStatus: 400 });
  await assert.rejects(portico.apps.all({ user: { id: "a" } }), TypeError);
});

both("passwords are hashed in a thread, and checked", () => ({}), async ({ portico }) => {
  let turns = 0;
  const timer = setInterval(() => turns++, 1);
  const id = await portico.users.initUser({}, { username: "ada", password: "correct horse" });
  clearInterval(timer);
  assert.ok(turns >= 1, `this thread went on: ${turns} turns`);
  assert.deepEqual(await portico.signIn.password({}, "ada", "correct horse"), { id, name: "ada", passwordVersion: 0 });
  await assert.rejects(portico.signIn.password({}, "ada", "wrong horse"), { code: "unauthorized" });
  await assert.rejects(portico.signIn.password({}, "ada"), { code: "bad-request" });
});

const FAULTS = {
  "throws": [() => { throw new TypeError("of the dashboard"); }, "internal", /^storage\.getApp threw: of the dashboard$/],
  "returns a wrong shape": [(_, go) => ({ ...go(), iconUrl: 5 }), "internal", /^storage\.getApp returned iconUrl: a number where the contract wants a text$/],
  "returns a text": [() => "an app", "internal", /^storage\.getApp returned a string where the contract wants a record$/],
  "is unavailable": [() => { throw StorageError.unavailable("a secret cause"); }, "unavailable", /^(?!.*secret)/],
};
for (const [what, [fault, code, message]] of Object.entries(FAULTS)) {
  let isBroken = false;
  both(`a function of storage that ${what} costs that call an error`, () => ({ faults: { getApp: (values, go) => (isBroken ? fault(values, go) : go()) } }), async ({ portico, storage }) => {
    const { id } = await portico.apps.create(ADMIN, JELLYFIN);
    isBroken = true;
    const error = await portico.apps.update(ADMIN, { id, name: "half" }).then(assert.fail, (error) => error);
    assert.equal(error.code, code, error.stack);
    assert.match(error.message, message);
    isBroken = false;
    assert.equal((await portico.apps.byId({}, id)).name, "Jellyfin");
    assert.equal(storage.seen.open, 0);
  });
}

test("a function of storage that never settles costs that call an error", async () => {
  const faults = {};
  const storage = memory({ isAsynchronous: true, faults });
  const portico = await Portico.open({ storage, operationMilliseconds: 1_000 });
  for (const call of [() => portico.apps.byId({}, "x"), () => portico.apps.all(ADMIN)]) {
    faults.getApp = faults.listApps = () => new Promise(() => {});
    await assert.rejects(call(), { code: "unavailable", message: /did not settle within 1000 ms/ });
  }
  delete faults.listApps;
  assert.deepEqual(await portico.apps.all(ADMIN), []);
  await portico.close();
});

test("a transaction that begins later than a call waits for it is rolled back, and the next call gets its lock", async () => {
  const faults = {};
  const storage = memory({ isAsynchronous: true, faults });
  const portico = await Portico.open({ storage, operationMilliseconds: 1_000 });
  const gate = withResolvers();
  faults.begin = ([access], go) => (access === "write" ? gate.promise.then(go) : go());
  const late = { code: "unavailable", message: /storage\.begin did not settle within 1000 ms/ };
  await assert.rejects(portico.apps.create(ADMIN, JELLYFIN), late);
  await assert.rejects(portico.users.initUser({}, { username: "ada", password: "correct horse" }), late);
  const { rolledBack } = storage.seen;
  gate.resolve();
  await turns(100);
  assert.deepEqual([storage.seen.open, storage.seen.rolledBack], [0, rolledBack + 2]);
  delete faults.begin;
  await portico.apps.create(ADMIN, JELLYFIN);
  await portico.close();
});

test("a thread that is stopped while its transaction begins leaves none", async () => {
  const faults = {};
  const storage = memory({ isAsynchronous: true, faults });
  const portico = await Portico.open({ storage, callMilliseconds: 1_000, threads: 1 });
  // The thread has started, so that the call gets as far as its transaction.
  while (await portico.apps.all(ADMIN).then(() => false, () => true));
  const gate = withResolvers();
  faults.begin = (_, go) => gate.promise.then(go);
  await assert.rejects(portico.apps.all(ADMIN), { code: "internal", message: /stopped after 1000 ms/ });
  const { rolledBack } = storage.seen;
  gate.resolve();
  await turns(100);
  assert.deepEqual([storage.seen.open, storage.seen.rolledBack], [0, rolledBack + 1]);
  await portico.close();
});

test("after a collision, too, nothing comes between a thread's transaction of a synchronous storage", async () => {
  let collisions = 1;
  const seen = [];
  const faults = {};
  const storage = memory({ faults });
  const portico = await Portico.open({ storage, random: () => 0.1 });
  faults.begin = ([access], go) => {
    if (access === "write" && collisions-- > 0) throw StorageError.retry();
    if (access === "write") process.nextTick(() => seen.push(storage.seen.open));
    return go();
  };
  await portico.apps.createMany(ADMIN, [JELLYFIN]);
  assert.deepEqual(seen, [0], "what runs next in this thread sees no open transaction");
  await portico.close();
});

test("a value that no thread can get costs that call an error, and no later one", async () => {
  const portico = await Portico.open({ storage: memory(), threads: 1 });
  await assert.rejects(portico.names.keys([() => 1]), TypeError);
  assert.deepEqual(await portico.names.keys(["A"]), ["a"]);
  await portico.close();
});

test("a function that returns a promise where others return none costs that call an error", async () => {
  const storage = memory({ faults: { getApp: async (_, go) => go() } });
  const portico = await Portico.open({ storage });
  await assert.rejects(portico.apps.byId({}, "x"), { code: "internal", message: /storage\.getApp returned a promise/ });
  await portico.close();
});

both("a call that collided waits and tries again, without blocking this thread", () => ({ random: () => 0.1 }), async ({ portico, storage, log }) => {
  let collisions = 5;
  const begin = storage.begin;
  storage.begin = (access, caller) => {
    if (access === "write" && collisions-- > 0) throw StorageError.retry();
    return begin(access, caller);
  };
  let turns = 0;
  const timer = setInterval(() => turns++, 1);
  const began = performance.now();
  await portico.apps.create(ADMIN, JELLYFIN);
  clearInterval(timer);
  assert.ok(performance.now() - began >= 100, "2.5 + 7.5 + 22.5 + 67.5 + 100 ms, of which it may save one");
  assert.ok(turns >= 3, `${turns} turns`);
  collisions = Infinity;
  await assert.rejects(portico.apps.create(ADMIN, JELLYFIN), { code: "unavailable" });
  assert.match(log.join(), /warn: gave up/);
  assert.deepEqual(storage.names(), ["Jellyfin"]);
});

both("a commit that collided is tried again, and one that fails leaves nothing", () => ({ random: () => 0 }), async ({ portico, storage }) => {
  const begin = storage.begin;
  const failing = (fault, times) => (access, caller) => {
    const fail = (transaction) => (access === "write" && times-- > 0 ? { ...transaction, commit: () => { throw fault; } } : transaction);
    const begun = begin(access, caller);
    return begun.then ? begun.then(fail) : fail(begun);
  };
  storage.begin = failing(StorageError.retry(), 3);
  await portico.apps.create(ADMIN, JELLYFIN);
  storage.begin = failing(new Error("of the disk"), 1);
  await assert.rejects(portico.apps.create(ADMIN, { ...JELLYFIN, name: "half" }), { code: "internal", message: "storage.commit threw: of the disk" });
  assert.deepEqual(storage.names(), ["Jellyfin"]);
  assert.equal(storage.seen.open, 0);
});

both("calls that overlap do not fail, and each has its answer", () => ({ instances: 4 }), async ({ portico }) => {
  const names = Array.from({ length: 50 }, (_, number) => `app ${number}`);
  const apps = [];
  for (const name of names) apps.push(await portico.apps.create(ADMIN, { ...JELLYFIN, name }));
  const found = await Promise.all(apps.map(({ id }) => portico.apps.byId({}, id)));
  assert.deepEqual(found.map(({ name }) => name), names);
});

test("a call of a function within storage gets an instance of its own", async () => {
  let inner;
  const faults = {};
  const storage = memory({ faults });
  const portico = await Portico.open({ storage });
  const { id } = await portico.apps.create(ADMIN, JELLYFIN);
  faults.getApp = (_, go) => {
    delete faults.getApp;
    inner = portico.apps.byId({}, id);
    return go();
  };
  assert.equal((await portico.apps.byId({}, id)).name, "Jellyfin");
  assert.equal((await inner).name, "Jellyfin");
  await portico.close();
});

both("apps are listed in a thread, so that many do not block this one", () => ({}), async ({ portico, storage, isAsynchronous }) => {
  const app = await portico.apps.create(ADMIN, JELLYFIN);
  /** How many transactions a call begins before this thread does anything else. */
  const atOnce = (call) => {
    const before = storage.seen.begun.length;
    return [call(), storage.seen.begun.length - before];
  };
  const [all, ofAll] = atOnce(() => portico.apps.all(ADMIN));
  assert.equal(ofAll, 0, "the thread has asked for none yet");
  assert.deepEqual(await all, [app]);
  const [one, ofOne] = atOnce(() => portico.apps.byId({}, app.id));
  if (!isAsynchronous) assert.equal(ofOne, 1, "a call that costs little runs here");
  assert.deepEqual(await one, app);
});

test("icons of a wrong form cost that call an error that names the function", async () => {
  const icons = { find: () => [5], defaultIcon: () => null };
  const portico = await Portico.open({ storage: memory(), icons });
  const create = () => portico.apps.createMany(ADMIN, [{ name: "Jellyfin" }]);
  await assert.rejects(create(), { code: "internal", message: "icons.find returned [0]: a number where the contract wants a text" });
  icons.find = () => [null];
  await assert.rejects(create(), { code: "internal", message: "icons.defaultIcon returned null where the contract wants a text" });
  await portico.close();
});

test("name-keys of existing records", async () => {
  const portico = await Portico.open({ storage: memory() });
  assert.deepEqual(await portico.names.keys(["Jellyfin", "ÄPFEL"]), ["jellyfin", "äpfel"]);
  await portico.close();
  await assert.rejects(portico.names.keys(["a"]), { code: "unavailable" });
});

test("options that it does not know are refused", async () => {
  await assert.rejects(Portico.open({ storage: memory(), stroage: 1 }), /knows no option stroage/);
  await assert.rejects(Portico.open({}), /needs \{ database \}, or \{ storage \}/);
});

test("the process ends when nothing is open", () => {
  const program = `
    import { Portico } from "./lib/index.js";
    import { memory } from "./test/storage.js";
    const portico = await Portico.open({ storage: memory() });
    await portico.users.initUser({}, { username: "ada", password: "correct horse" });
    await portico.apps.all({ user: { id: "a", permissions: [] } });
    console.log("done");`;
  const cwd = new URL("..", import.meta.url);
  const output = execFileSync(process.execPath, ["--input-type=module", "-e", program], { cwd, timeout: 60_000, encoding: "utf8" });
  assert.equal(output, "done\n");
});
