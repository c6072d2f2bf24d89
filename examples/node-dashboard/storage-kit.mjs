// The storage kit's bridge to ./src/storage.js.
//
//     cargo run -p portico-storage-kit -- run -- node examples/node-dashboard/storage-kit.mjs

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { StorageError } from "@portico/dashboard";
import { serve } from "./bridge.mjs";
import { createTables, Database, hash } from "./src/database.js";
import { begin } from "./src/sessions.js";
import { Transaction } from "./src/storage.js";

const folder = mkdtempSync(join(tmpdir(), "node-dashboard-"));
const file = join(folder, "dashboard.db");
createTables(file);
const database = new Database(file);

await serve({
  name: "node-dashboard",
  db: database.writer,
  hash,
  open: (access, session) => new Transaction(database, access, { session }),
  commit: (transaction) => transaction.commit(),
  rollback: (transaction) => transaction.rollback(),
  beginSession: (account, token, version) => {
    // It has the connection of the writer that is open, and cannot wait for its end.
    if (database.writing) throw StorageError.retry();
    return begin(database, account, token, version);
  },
});
rmSync(folder, { recursive: true });
