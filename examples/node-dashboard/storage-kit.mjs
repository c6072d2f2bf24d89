// The storage kit's bridge to ./src/portico/storage.js: reads requests in JSON lines from standard input
// and answers on standard output. storage-kit/README.md in the repository describes the protocol.
//
//     cargo run -p portico-storage-kit -- run -- node examples/node-dashboard/storage-kit.mjs

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { createTables, Database, hash } from "./src/database.js";
import { colorScheme } from "./src/portico/records.js";
import { Refusal } from "./src/portico/refusals.js";
import { Transaction } from "./src/portico/storage.js";
import { begin } from "./src/sessions.js";

const folder = mkdtempSync(join(tmpdir(), "node-dashboard-"));
const file = join(folder, "dashboard.db");
createTables(file);
const database = new Database(file);
const db = database.writer;

/** `email-verified` as jco writes it: `emailVerified`. @param {string} name */
const camel = (name) => name.replace(/-([a-z])/g, (_, letter) => letter.toUpperCase());
/** @param {string} name */
const kebab = (name) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** The u64 fields of the contract, which are BigInt in JavaScript. */
const U64 = new Set(["emailVerified", "now"]);
/** The parameters that come first, and those that come last; the others are between them. */
const FIRST = ["id", "ids", "user-id", "filter"];
const LAST = ["now", "new", "with-images"];
/** @param {string} name of a parameter */
const place = (name) => Number(LAST.includes(name)) - Number(FIRST.includes(name));
/** The fields and parameters that are variants. */
const VARIANTS = new Set(["key", "viewer"]);

/**
 * Converts a value from the kit's form to jco's.
 * @param {any} value
 * @param {string} [name] of the field or parameter
 * @returns {any}
 */
function fromKit(value, name = "") {
  if (value === null) return undefined;
  if (U64.has(name)) return BigInt(value);
  if (Array.isArray(value)) return value.map((item) => fromKit(item));
  if (typeof value !== "object") return value;
  if (VARIANTS.has(name)) {
    const [[tag, val]] = Object.entries(value);
    return { tag, val: fromKit(val) };
  }
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [camel(key), fromKit(item, camel(key))]));
}

/** A value as storage answers it, as the kit reads it. @param {any} value @returns {any} */
function toKit(value) {
  if (value === undefined || value === null) return null;
  if (typeof value === "bigint") return Number(value);
  if (Array.isArray(value)) return value.map(toKit);
  if (typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [kebab(key), toKit(item)]));
}

/** A variant as the kit reads it. @param {any} value @returns {any} */
const variant = ({ tag, val = null }) => ({ [tag]: typeof val?.tag === "string" ? variant(val) : val });

/** @type {Map<string, Transaction>} */
const transactions = new Map();

/**
 * A call of the contract.
 * @param {string} name of the transaction
 * @param {string} call
 * @param {any} parameters
 */
function inTransaction(name, call, parameters) {
  if (call === "begin") {
    transactions.set(name, new Transaction(database, parameters.access, parameters.session ?? undefined));
    return null;
  }
  const transaction = transactions.get(name);
  if (!transaction) throw new Error(`there is no transaction ${name}`);
  if (call === "commit" || call === "drop") {
    transactions.delete(name);
    return call === "commit" ? Transaction.commit(transaction) : transaction[Symbol.dispose]();
  }
  const inOrder = Object.entries(parameters).sort(([one], [other]) => place(one) - place(other));
  const values = inOrder.map(([key, value]) => fromKit(value, camel(key)));
  return /** @type {any} */ (transaction)[camel(call)](...values);
}

/**
 * The number of a row.
 * @param {string} table
 * @param {string | null} uid
 * @returns {number | null}
 */
const numberOf = (table, uid) => db.first(`SELECT number FROM ${table} WHERE uid = ?`, uid)?.number ?? null;

/** @param {string} sql @param {string} id */
const uids = (sql, id) => db.all(sql, id).map((row) => row.uid);

/** The version of the user's password when a sign-in began. @type {Map<string, bigint>} */
const signIns = new Map();

/** What is outside the contract. @type {Record<string, (parameters: any) => unknown>} */
const own = {
  hello: () => ({ name: "node-dashboard" }),

  "put-group": ({ id, name, permissions, members }) => {
    db.run("INSERT INTO teams (uid, name) VALUES (?, ?) ON CONFLICT (uid) DO UPDATE SET name = excluded.name", id, name);
    const team = numberOf("teams", id);
    db.run("DELETE FROM team_rights WHERE team = ?", team);
    db.run("DELETE FROM team_members WHERE team = ?", team);
    for (const may of permissions) db.run("INSERT INTO team_rights (team, may) VALUES (?, ?)", team, may);
    for (const member of members) {
      db.run("INSERT INTO team_members (account, team) VALUES (?, ?)", numberOf("accounts", member), team);
    }
  },
  "get-group": ({ id }) => {
    const team = numberOf("teams", id);
    if (team === null) return null;
    return {
      permissions: db.all("SELECT may FROM team_rights WHERE team = ? ORDER BY may", team).map((row) => row.may),
      members: db
        .all("SELECT uid FROM accounts JOIN team_members ON account = number WHERE team = ? ORDER BY uid", team)
        .map((row) => row.uid),
    };
  },
  "delete-group": ({ id }) => void db.run("DELETE FROM teams WHERE uid = ?", id),
  "get-permissions": ({ user }) => {
    const sql = `
      SELECT DISTINCT may FROM team_rights JOIN team_members USING (team) JOIN accounts ON number = account
      WHERE uid = ? ORDER BY may`;
    return db.all(sql, user).map((row) => row.may);
  },

  "put-invite": (parameters) => {
    const { id, token, creator } = parameters;
    const sql = "INSERT INTO invitations (uid, token_hash, ends_at, made_by) VALUES (?, ?, ?, ?)";
    db.run(sql, id, hash(token), parameters["expires-at"], numberOf("accounts", creator));
  },
  "delete-invite": ({ id }) => void db.run("DELETE FROM invitations WHERE uid = ?", id),

  "put-board": (parameters) => {
    const { id, name, creator, users, groups, apps } = parameters;
    const sql = `
      INSERT INTO panels (uid, title, open, owner) VALUES (?, ?, ?, ?)
      ON CONFLICT (uid) DO UPDATE SET title = excluded.title, open = excluded.open, owner = excluded.owner`;
    db.run(sql, id, name, Number(parameters.public), numberOf("accounts", creator));
    const panel = numberOf("panels", id);
    for (const table of ["panel_accounts", "panel_teams", "panel_tiles"]) {
      db.run(`DELETE FROM ${table} WHERE panel = ?`, panel);
    }
    for (const user of users) {
      db.run("INSERT INTO panel_accounts (panel, account) VALUES (?, ?)", panel, numberOf("accounts", user));
    }
    for (const group of groups) {
      db.run("INSERT INTO panel_teams (panel, team) VALUES (?, ?)", panel, numberOf("teams", group));
    }
    apps.forEach((/** @type {string} */ app, /** @type {number} */ position) => {
      db.run("INSERT INTO panel_tiles (panel, position, tile) VALUES (?, ?, ?)", panel, position, numberOf("tiles", app));
    });
  },
  "get-board": ({ id }) => {
    const row = db.first("SELECT number, (SELECT uid FROM accounts WHERE number = owner) AS creator FROM panels WHERE uid = ?", id);
    if (!row) return null;
    return {
      creator: row.creator,
      users: uids("SELECT uid FROM accounts JOIN panel_accounts ON account = number WHERE panel = ? ORDER BY uid", row.number),
      groups: uids("SELECT uid FROM teams JOIN panel_teams ON team = number WHERE panel = ? ORDER BY uid", row.number),
      apps: uids("SELECT uid FROM tiles JOIN panel_tiles ON tile = number WHERE panel = ? ORDER BY position", row.number),
    };
  },
  "delete-board": ({ id }) => void db.run("DELETE FROM panels WHERE uid = ?", id),

  "put-search-engine": ({ id, name }) =>
    void db.run("INSERT INTO engines (uid, name, url) VALUES (?, ?, 'https://search.example/?q=%s')", id, name),
  "delete-search-engine": ({ id }) => void db.run("DELETE FROM engines WHERE uid = ?", id),

  "put-session": ({ id, user }) => {
    const sql = "INSERT INTO logins (uid, token_hash, account, ends_at) VALUES (?, ?, ?, ?)";
    db.run(sql, id, hash(id), numberOf("accounts", user), Date.now() + 3_600_000);
  },
  "get-sessions": ({ user }) => uids("SELECT logins.uid FROM logins JOIN accounts ON number = account WHERE accounts.uid = ? ORDER BY logins.uid", user),

  "begin-sign-in": ({ id, user }) =>
    void signIns.set(id, BigInt(db.first("SELECT secret_version FROM accounts WHERE uid = ?", user)?.secret_version ?? 0)),
  "end-sign-in": ({ id, user }) => begin(database, user, id, signIns.get(id) ?? 0n),

  "get-color-scheme": ({ user }) => {
    const row = db.first("SELECT theme FROM accounts WHERE uid = ?", user);
    return row ? colorScheme(row.theme) : null;
  },
};

/** @param {{ transaction?: string, call: string, arguments: any }} request */
function answer({ transaction, call, arguments: parameters }) {
  try {
    if (transaction !== undefined) return { ok: toKit(inTransaction(transaction, call, parameters)) };
    if (!own[call]) return { error: { unsupported: `${call}: there is no such thing in this dashboard` } };
    return { ok: toKit(own[call](parameters)) };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { error: variant(error.payload) };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  process.stdout.write(`${JSON.stringify({ id: request.id, ...answer(request) })}\n`);
}
rmSync(folder, { recursive: true });
