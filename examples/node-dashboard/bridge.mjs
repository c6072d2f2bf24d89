// What the storage kit's bridges to ./src/storage.js and ./postgresql/storage.js share: it reads requests
// in JSON lines from standard input and answers on standard output. storage-kit/README.md in the repository
// describes the protocol.

import { createInterface } from "node:readline";
import { StorageError } from "@portico/dashboard";
import { colorScheme } from "./src/records.js";

/**
 * What runs the bridge's own statements, which have `?` for values. Synchronous or not.
 * @typedef {{
 *   first: (sql: string, ...values: any[]) => any,
 *   all: (sql: string, ...values: any[]) => any,
 *   run: (sql: string, ...values: any[]) => any,
 * }} Statements
 *
 * @typedef {{
 *   name: string,
 *   db: Statements,
 *   hash: (secret: string) => Buffer,
 *   open: (access: any, session: string | undefined) => any,
 *   commit: (transaction: any) => any,
 *   rollback: (transaction: any) => any,
 *   beginSession: (account: string, token: string, version: number) => any,
 * }} Implementation what opens and ends a transaction of the contract, and begins a session
 */

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

/**
 * Answers requests until standard input ends.
 * @param {Implementation} implementation
 */
export async function serve({ name, db, hash, open, commit, rollback, beginSession }) {
  /** @type {Map<string, any>} */
  const transactions = new Map();
  /** The version of the user's password when a sign-in began. @type {Map<string, number>} */
  const signIns = new Map();

  /**
   * A call of the contract.
   * @param {string} name of the transaction
   * @param {string} call
   * @param {any} parameters
   */
  async function inTransaction(name, call, parameters) {
    if (call === "begin") {
      transactions.set(name, await open(parameters.access, parameters.session ?? undefined));
      return null;
    }
    const transaction = transactions.get(name);
    if (!transaction) throw new Error(`there is no transaction ${name}`);
    if (call === "commit" || call === "drop") {
      transactions.delete(name);
      return call === "commit" ? commit(transaction) : rollback(transaction);
    }
    const inOrder = Object.entries(parameters).sort(([one], [other]) => place(one) - place(other));
    const values = inOrder.map(([key, value]) => fromKit(value, camel(key)));
    return transaction[camel(call)](...values);
  }

  /**
   * The number of a row.
   * @param {string} table
   * @param {string | null} uid
   * @returns {Promise<number | null>}
   */
  const numberOf = async (table, uid) => (await db.first(`SELECT number FROM ${table} WHERE uid = ?`, uid))?.number ?? null;

  /** The only column of all rows. @param {string} sql @param {any} value */
  const column = async (sql, value) => (await db.all(sql, value)).map((/** @type {object} */ row) => Object.values(row)[0]);

  /** Runs a statement that answers nothing. @param {string} sql @param {any[]} values */
  const run = async (sql, ...values) => {
    await db.run(sql, ...values);
  };

  /** What is outside the contract. @type {Record<string, (parameters: any) => unknown>} */
  const own = {
    hello: () => ({ name, "apps-by-board": false }),

    "put-group": async ({ id, name, permissions, members }) => {
      await run("INSERT INTO teams (uid, name) VALUES (?, ?) ON CONFLICT (uid) DO UPDATE SET name = excluded.name", id, name);
      const team = await numberOf("teams", id);
      await run("DELETE FROM team_rights WHERE team = ?", team);
      await run("DELETE FROM team_members WHERE team = ?", team);
      for (const may of permissions) await run("INSERT INTO team_rights (team, may) VALUES (?, ?)", team, may);
      for (const member of members) {
        await run("INSERT INTO team_members (account, team) VALUES (?, ?)", await numberOf("accounts", member), team);
      }
    },
    "get-group": async ({ id }) => {
      const team = await numberOf("teams", id);
      if (team === null) return null;
      return {
        permissions: await column("SELECT may FROM team_rights WHERE team = ? ORDER BY may", team),
        members: await column(
          "SELECT uid FROM accounts JOIN team_members ON account = number WHERE team = ? ORDER BY uid",
          team,
        ),
      };
    },
    "delete-group": ({ id }) => run("DELETE FROM teams WHERE uid = ?", id),
    "get-permissions": ({ user }) => {
      const sql = `
        SELECT DISTINCT may FROM team_rights JOIN team_members USING (team) JOIN accounts ON number = account
        WHERE uid = ? ORDER BY may`;
      return column(sql, user);
    },

    "put-invite": async (parameters) => {
      const { id, token, creator } = parameters;
      const sql = "INSERT INTO invitations (uid, token_hash, ends_at, made_by) VALUES (?, ?, ?, ?)";
      await run(sql, id, hash(token), parameters["expires-at"], await numberOf("accounts", creator));
    },
    "delete-invite": ({ id }) => run("DELETE FROM invitations WHERE uid = ?", id),

    "put-board": async (parameters) => {
      const { id, name, creator, users, groups, apps } = parameters;
      const sql = `
        INSERT INTO panels (uid, title, open, owner) VALUES (?, ?, ?, ?)
        ON CONFLICT (uid) DO UPDATE SET title = excluded.title, open = excluded.open, owner = excluded.owner`;
      await run(sql, id, name, Number(parameters.public), await numberOf("accounts", creator));
      const panel = await numberOf("panels", id);
      for (const table of ["panel_accounts", "panel_teams", "panel_tiles"]) {
        await run(`DELETE FROM ${table} WHERE panel = ?`, panel);
      }
      for (const user of users) {
        await run("INSERT INTO panel_accounts (panel, account) VALUES (?, ?)", panel, await numberOf("accounts", user));
      }
      for (const group of groups) {
        await run("INSERT INTO panel_teams (panel, team) VALUES (?, ?)", panel, await numberOf("teams", group));
      }
      for (const [position, app] of apps.entries()) {
        const sql = "INSERT INTO panel_tiles (panel, position, tile) VALUES (?, ?, ?)";
        await run(sql, panel, position, await numberOf("tiles", app));
      }
    },
    "get-board": async ({ id }) => {
      const sql = "SELECT number, (SELECT uid FROM accounts WHERE number = owner) AS creator FROM panels WHERE uid = ?";
      const row = await db.first(sql, id);
      if (!row) return null;
      const uids = (/** @type {string} */ from) => column(`SELECT uid FROM ${from}`, row.number);
      return {
        creator: row.creator,
        users: await uids("accounts JOIN panel_accounts ON account = number WHERE panel = ? ORDER BY uid"),
        groups: await uids("teams JOIN panel_teams ON team = number WHERE panel = ? ORDER BY uid"),
        apps: await uids("tiles JOIN panel_tiles ON tile = number WHERE panel = ? ORDER BY position"),
      };
    },
    "delete-board": ({ id }) => run("DELETE FROM panels WHERE uid = ?", id),

    "put-search-engine": ({ id, name }) =>
      run("INSERT INTO engines (uid, name, url) VALUES (?, ?, ?)", id, name, "https://search.example/?q=%s"),
    "delete-search-engine": ({ id }) => run("DELETE FROM engines WHERE uid = ?", id),

    "put-session": async ({ id, user }) => {
      const sql = "INSERT INTO logins (uid, token_hash, account, ends_at) VALUES (?, ?, ?, ?)";
      await run(sql, id, hash(id), await numberOf("accounts", user), Date.now() + 3_600_000);
    },
    "get-sessions": ({ user }) => {
      const sql = "SELECT logins.uid FROM logins JOIN accounts ON number = account WHERE accounts.uid = ? ORDER BY logins.uid";
      return column(sql, user);
    },

    "begin-sign-in": async ({ id, user }) => {
      const row = await db.first("SELECT secret_version FROM accounts WHERE uid = ?", user);
      signIns.set(id, Number(row?.secret_version ?? 0));
    },
    "end-sign-in": ({ id, user }) => beginSession(user, id, signIns.get(id) ?? 0),

    "get-color-scheme": async ({ user }) => {
      const row = await db.first("SELECT theme FROM accounts WHERE uid = ?", user);
      return row ? colorScheme(row.theme) : null;
    },
  };

  /** @param {{ transaction?: string, call: string, arguments: any }} request */
  async function answer({ transaction, call, arguments: parameters }) {
    try {
      if (transaction !== undefined) return { ok: toKit(await inTransaction(transaction, call, parameters)) };
      if (!own[call]) return { error: { unsupported: `${call}: there is no such thing in this dashboard` } };
      return { ok: toKit(await own[call](parameters)) };
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      return { error: variant(error.payload) };
    }
  }

  const answers = [];
  for await (const line of createInterface({ input: process.stdin })) {
    const request = JSON.parse(line);
    // Not awaited here: while one transaction waits for another, the kit sends more requests.
    const answered = answer(request).then((answer) => process.stdout.write(`${JSON.stringify({ id: request.id, ...answer })}\n`));
    answers.push(answered);
  }
  await Promise.all(answers);
}
