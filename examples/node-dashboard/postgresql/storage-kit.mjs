// The storage kit's bridge to ./storage.js, on the database that the environment names. It runs in Node 24.
//
//     cargo run -p portico-storage-kit -- run -- npm --prefix examples/node-dashboard/postgresql run --silent bridge

import { serve } from "../bridge.mjs";
import { Database, hash } from "./database.js";
import { begin } from "./sessions.js";
import { Transaction } from "./storage.js";

const database = new Database();
await database.createTables();

/** A statement of the bridge in PostgreSQL's form: `?` is `$1`, `$2` and so on. @param {string} sql */
function numbered(sql) {
  let number = 0;
  return sql.replaceAll("?", () => `$${++number}`);
}

await serve({
  name: "node-dashboard over PostgreSQL",
  db: {
    first: (sql, ...values) => database.first(numbered(sql), ...values),
    all: (sql, ...values) => database.all(numbered(sql), ...values),
    run: (sql, ...values) => database.run(numbered(sql), ...values),
  },
  hash,
  open: (access, session) => new Transaction(database, access, { session }),
  commit: (transaction) => transaction.commit(),
  rollback: (transaction) => transaction.rollback(),
  beginSession: (account, token, version) => begin(database, account, token, version),
});
await database.close();
