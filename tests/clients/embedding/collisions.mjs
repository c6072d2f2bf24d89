// Storage of examples/node-dashboard that answers `retry`: so many times by `begin`, then once by
// `commit`. The component tries again, after waits; the last number of refusals is one too many.
//
//     node collisions.mjs       (the example is installed and built)

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const example = new URL("../../../examples/node-dashboard/src/", import.meta.url);
const { createTables, Database } = await import(new URL("database.js", example).href);
const { Component } = await import(new URL("portico/component.js", example).href);

const folder = mkdtempSync(join(tmpdir(), "collisions-"));
createTables(join(folder, "dashboard.db"));
const database = new Database(join(folder, "dashboard.db"));
const messages = [];
const icons = { find: (names) => names.map(() => undefined), defaultIcon: () => "/icon.svg" };
const component = new Component({ database, icons, log: (level, message) => messages.push(`${level}: ${message}`) });
const admin = { user: { id: "a", permissions: ["admin"] } };

// A tenth of each bound.
Math.random = () => 0.1;

/** Creates an app while storage refuses so often, and measures how long that takes, in milliseconds. */
function create(name, { begins = 0, commits = 0 }) {
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
    component.run(admin, ({ apps }, caller) => apps.create(caller, { name, iconUrl: "/icon.svg" }));
    return performance.now() - began;
  } finally {
    database.writer = writer;
  }
}

const names = () => database.writer.all("SELECT title FROM tiles ORDER BY title").map(({ title }) => title);

create("warm", {});
const begins = create("begins", { begins: 5 });
assert.ok(begins >= 200, `2.5 + 7.5 + 22.5 + 67.5 + 100 ms, and it took ${begins}`);
const commits = create("commits", { commits: 3 });
assert.ok(commits >= 32, `2.5 + 7.5 + 22.5 ms, and it took ${commits}`);
assert.deepEqual(messages, []);
assert.throws(
  () => create("never", { begins: 6 }),
  (error) => error.payload.code.tag === "unavailable",
);
assert.deepEqual(messages, ["warn: gave up: a transaction collided with others in each of 6 tries"]);
assert.deepEqual(names(), ["begins", "commits", "warm"]);
rmSync(folder, { recursive: true });
