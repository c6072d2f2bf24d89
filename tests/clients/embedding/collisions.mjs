// Storage of examples/node-dashboard that answers `retry`: so many times by `begin`, then by `commit`. Portico tries
// again, after waits, from the second time on in a thread.
//
//     node collisions.mjs       (the example is installed and built)

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const example = new URL("../../../examples/node-dashboard/src/", import.meta.url);
const { createTables, Database } = await import(new URL("database.js", example).href);
const { Transaction } = await import(new URL("storage.js", example).href);
const { Portico } = await import(new URL("../node_modules/@portico/dashboard/lib/index.js", example).href);

const folder = mkdtempSync(join(tmpdir(), "collisions-"));
createTables(join(folder, "dashboard.db"));
const database = new Database(join(folder, "dashboard.db"));
const messages = [];
const portico = await Portico.open({
  storage: { begin: (access, caller) => new Transaction(database, access, caller) },
  log: (level, message) => messages.push(`${level}: ${message}`),
  // A tenth of each bound.
  random: () => 0.1,
});
const admin = { user: { id: "a", permissions: ["admin"] } };

/** Creates an app while storage refuses so often, and measures how long that takes, in milliseconds. */
async function create(name, { begins = 0, commits = 0 }) {
  // Whether a transaction that writes is open: then `begin` answers `retry`.
  Object.defineProperty(database, "writing", { get: () => begins-- > 0, set() {}, configurable: true });
  const { writer } = database;
  database.writer = {
    ...Object.fromEntries(["first", "all"].map((read) => [read, (...all) => writer[read](...all)])),
    run(sql, ...values) {
      if (sql === "COMMIT" && commits-- > 0) throw Object.assign(new Error("busy"), { code: "SQLITE_BUSY" });
      return writer.run(sql, ...values);
    },
  };
  const began = performance.now();
  try {
    await portico.apps.create(admin, { name, iconUrl: "/icon.svg" });
    return performance.now() - began;
  } finally {
    database.writer = writer;
  }
}

const names = () => database.writer.all("SELECT title FROM tiles ORDER BY title").map(({ title }) => title);

await create("warm", {});
const begins = await create("begins", { begins: 5 });
assert.ok(begins >= 95, `2.5 + 7.5 + 22.5 + 67.5 ms after the first, and it took ${begins}`);
const commits = await create("commits", { commits: 3 });
assert.ok(commits >= 9, `2.5 + 7.5 ms after the first, and it took ${commits}`);
assert.deepEqual(messages, []);
await assert.rejects(create("never", { begins: Infinity }), { code: "unavailable" });
assert.deepEqual(messages, ["warn: gave up: a transaction collided with others in each of 6 tries"]);
assert.deepEqual(names(), ["begins", "commits", "warm"]);
await portico.close();
rmSync(folder, { recursive: true });
