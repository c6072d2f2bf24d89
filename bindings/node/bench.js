// What `app.byId` costs in process, over the bare statement of better-sqlite3: with the ready storage, and with a storage of one's
// own. Processor time of one call, the median of the rounds. Then how much memory grows over fresh instances.
//
//     node --expose-gc bench.js [CALLS] [ROUNDS]

import Database from "better-sqlite3";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Portico } from "./lib/index.js";

const [calls = 2_000, rounds = 5] = process.argv.slice(2).map(Number);
const FRESH = 10_000;
const ADMIN = { user: { id: "a", permissions: ["admin"] } };
const APP = { name: "Jellyfin", iconUrl: "/j.svg", description: "Films", href: "https://jellyfin.example/" };

/** A storage that finds apps by id, with one statement. Where there is none it fails, and the call's instance is discarded. */
function oneApp(database) {
  database.exec("CREATE TABLE app (id TEXT PRIMARY KEY, name TEXT, description TEXT, iconUrl TEXT, href TEXT, pingUrl TEXT)");
  const find = database.prepare("SELECT * FROM app WHERE id = ?");
  const insert = database.prepare("INSERT INTO app VALUES (@id, @name, @description, @iconUrl, @href, @pingUrl)");
  const getApp = (id) => {
    const app = find.get(id);
    if (!app) throw new Error("no such app");
    return app;
  };
  const none = { description: null, href: null, pingUrl: null };
  const insertApps = (apps) => apps.forEach(({ app }) => insert.run({ ...none, ...app }));
  const transaction = { hasUsers: () => true, getApp, insertApps, commit() {}, rollback() {} };
  return { getApp, begin: () => transaction };
}

/** Microseconds of processor time of one call. */
async function measure(work) {
  await work();
  const found = [];
  for (let round = 0; round < rounds; round++) {
    const began = process.cpuUsage();
    for (let call = 0; call < calls; call++) await work();
    const { user, system } = process.cpuUsage(began);
    found.push((user + system) / calls);
  }
  return found.sort((one, other) => one - other)[rounds >> 1];
}

async function report(name, statement, call) {
  const [bare, whole] = [await measure(statement), await measure(call)].map(Math.round);
  console.log(`app.byId in process  ${name.padEnd(24)} ${whole} us cpu, the statement ${bare}, over it ${whole - bare}`);
}

/** Megabytes that are held after this many calls, each of which fails and so gives the next one a fresh instance. */
async function heldAfter(portico, count) {
  for (let call = 0; call < count; call++) await portico.apps.byId({}, "none").catch(() => {});
  gc();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 1e6;
}

const folder = mkdtempSync(join(tmpdir(), "portico-bench-"));
try {
  const storage = oneApp(new Database(join(folder, "own.db")));
  const own = await Portico.open({ storage, log() {} });
  const { id } = await own.apps.create(ADMIN, APP);
  await report("storage of one's own", () => storage.getApp(id), () => own.apps.byId({}, id));

  const database = new Database(join(folder, "ready.db"));
  const ready = await Portico.open({ database });
  const ada = await ready.users.initUser({}, { username: "ada", password: "correct horse" });
  const app = await ready.apps.create({ user: { id: ada, permissions: ["admin"] } }, APP);
  const select = database.prepare("SELECT * FROM portico_app WHERE id = ?");
  await report("better-sqlite3", () => select.get(app.id), () => ready.apps.byId({}, app.id));
  await ready.close();

  const before = await heldAfter(own, FRESH / 10);
  const after = await heldAfter(own, FRESH);
  console.log(`${FRESH} fresh instances  ${before.toFixed(1)} MB held before, ${after.toFixed(1)} MB after`);
  await own.close();
} finally {
  rmSync(folder, { recursive: true });
}
