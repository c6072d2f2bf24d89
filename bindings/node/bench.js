// What `app.byId` costs in process, over the bare statement: with a storage of one's own over better-sqlite3, and with the
// ready storage over the same driver. Processor time of one call, the median of the rounds. Then what memory does over
// 10,000 calls that each leave their instance broken, so that the next one gets a fresh one.
//
//     node bench.js [CALLS] [ROUNDS]

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { Portico } from "./lib/index.js";

const [, , CALLS = 2_000, ROUNDS = 9] = process.argv.map(Number);
const APP = { name: "Jellyfin", iconUrl: "/j.svg", description: "Films", href: "https://jellyfin.example/" };
const ADMIN = { user: { id: "ada", permissions: ["admin"] } };

/** A storage that finds apps by id, with one statement. */
function oneApp(file) {
  const db = new Database(file);
  db.exec("CREATE TABLE app (id TEXT PRIMARY KEY, name TEXT, description TEXT, iconUrl TEXT, href TEXT, pingUrl TEXT)");
  const [find, add] = ["SELECT * FROM app WHERE id = ?", "INSERT INTO app VALUES (?, ?, ?, ?, ?, ?)"].map((sql) => db.prepare(sql));
  const present = ([, value]) => value !== null;
  return {
    // By this call the library learns that the storage is synchronous.
    hasUsers: () => true,
    getApp(id) {
      const row = find.get(id);
      return row && Object.fromEntries(Object.entries(row).filter(present));
    },
    insertApps(apps) {
      for (const { app } of apps) add.run(app.id, app.name, app.description, app.iconUrl, app.href, app.pingUrl);
    },
    commit() {},
    rollback() {},
    close: () => db.close(),
  };
}

/** Microseconds of processor time of one call of `work`. */
async function measure(work) {
  const rounds = [];
  for (let round = 0; round <= ROUNDS; round++) {
    const before = process.cpuUsage();
    for (let call = 0; call < CALLS; call++) await work();
    const { user, system } = process.cpuUsage(before);
    // In the first round code is compiled.
    if (round > 0) rounds.push((user + system) / CALLS);
  }
  return rounds.sort((one, other) => one - other)[Math.floor(rounds.length / 2)];
}

function report(name, bare, whole) {
  const columns = [`${whole.toFixed(0)} us cpu`, `the statement ${bare.toFixed(0)}`, `over it ${(whole - bare).toFixed(0)}`];
  console.log(`app.byId in process  ${name.padEnd(30)}${columns.map((text) => text.padStart(18)).join("")}`);
}

const folder = mkdtempSync(join(tmpdir(), "portico-bench-"));
try {
  const storage = oneApp(join(folder, "own.db"));
  const own = await Portico.open({ storage: { begin: () => storage } });
  const { id } = await own.apps.create(ADMIN, APP);
  report("storage of one's own", await measure(() => storage.getApp(id)), await measure(() => own.apps.byId({}, id)));

  const failing = { ...storage, getApp: () => { throw new Error("broken"); } };
  const broken = await Portico.open({ storage: { begin: () => failing }, log: () => {} });
  const resident = async (calls) => {
    for (let call = 0; call < calls; call++) await broken.apps.byId({}, id).catch(() => {});
    return Math.round(process.memoryUsage().rss / 2 ** 20);
  };
  console.log(`memory after 1,000 fresh instances ${await resident(1_000)} MiB, after 10,000 more ${await resident(10_000)} MiB`);
  await broken.close();
  await own.close();
  storage.close();

  const database = new Database(join(folder, "ready.db"));
  const ready = await Portico.open({ database });
  const ada = await ready.users.initUser({}, { username: "ada", password: "correct horse" });
  const app = await ready.apps.create({ user: { id: ada, permissions: ["admin"] } }, APP);
  const statement = database.prepare("SELECT * FROM portico_app WHERE id = ?");
  report("better-sqlite3, ready storage", await measure(() => statement.get(app.id)), await measure(() => ready.apps.byId({}, app.id)));
  await ready.close();
  database.close();
} finally {
  rmSync(folder, { recursive: true });
}
