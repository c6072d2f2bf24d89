// The storage kit's bridge to ./src/portico/storage.js.
//
//     cargo run -p portico-storage-kit -- run -- node examples/node-dashboard/storage-kit.mjs

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serve } from "./bridge.mjs";
import { createTables, Database, hash } from "./src/database.js";
import { StorageError } from "./src/portico/refusals.js";
import { Transaction } from "./src/portico/storage.js";
import { begin } from "./src/sessions.js";

const folder = mkdtempSync(join(tmpdir(), "node-dashboard-"));
const file = join(folder, "dashboard.db");
createTables(file);
const database = new Database(file);

await serve({
  name: "node-dashboard",
  db: database.writer,
  hash,
  open: (access, session) => new Transaction(database, access, session),
  commit: Transaction.commit,
  rollback: (transaction) => transaction[Symbol.dispose](),
  beginSession: (account, token, version) => {
    // It has the connection of the writer that is open, and cannot wait for its end.
    if (database.writing) throw new StorageError({ tag: "retry" });
    return begin(database, account, token, version);
  },
});
rmSync(folder, { recursive: true });
