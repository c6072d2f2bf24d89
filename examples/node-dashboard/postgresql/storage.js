// The contract's interface `storage` over the dashboard's own tables in PostgreSQL. wit/storage.wit says what
// each function must do. The functions are asynchronous: the call is suspended meanwhile.
//
// A transaction begins at its first function. A lookup is one statement and has no transaction. PostgreSQL
// itself refuses every statement after one that failed.
//
// Everyone sees all apps here, so no function looks at the viewer.

import { randomUUID, timingSafeEqual } from "node:crypto";
import { StorageError } from "@portico/dashboard";
import pg from "pg";
import * as records from "../src/records.js";
import { ADMINS, LARGEST_ANSWER, momentOrNull, orNull, REALMS, THEMES, tile } from "../src/records.js";
import { hash } from "./database.js";

/**
 * @import { contract, types } from "@portico/dashboard"
 * @import { Connection, Database, OpenTransaction, Value } from "./database.js"
 * @import { Who } from "./sessions.js"
 */

/** Which rule a constraint or a unique index holds. @type {Record<string, Parameters<typeof StorageError.constraint>[0]>} */
const RULES = {
  accounts_realm_login_key_key: "user-name",
  accounts_uid_key: "id",
  tiles_uid_key: "id",
  subjects_pkey: "identity",
  subjects_account_realm_key: "identity",
};

/**
 * What an error means to the component. An error that is not the database's is a fault of this program, and
 * stays as it is.
 * @param {any} error
 */
function refusal(error) {
  if (error instanceof StorageError) return error;
  if (!(error instanceof pg.DatabaseError)) {
    const isConnection = error.syscall || /^(Connection terminated|timeout expired|timeout exceeded)/.test(error.message);
    return isConnection ? StorageError.unavailable(String(error)) : error;
  }
  const { code, constraint = "", message } = error;
  switch (code) {
    case "23505": // unique_violation
      return constraint in RULES ? StorageError.constraint(RULES[constraint]) : StorageError.unavailable(message);
    case "23503": // foreign_key_violation
      return StorageError.constraint("reference");
    case "54000": // program_limit_exceeded: the id is longer than a row of an index
      return StorageError.constraint("id");
    case "40001": // serialization_failure
    case "40P01": // deadlock_detected
      return StorageError.retry();
  }
  return StorageError.unavailable(`${code} ${message}`);
}

const USER = `
  SELECT uid, login, mail, mail_checked_at, avatar, realm, week_begins_on, shows_state, searches_in_new_tab,
    (SELECT uid FROM panels WHERE number = start_panel) AS panel,
    (SELECT uid FROM panels WHERE number = start_panel_small) AS panel_small,
    (SELECT uid FROM engines WHERE number = engine) AS engine
  FROM accounts`;
const ACCOUNT = "SELECT uid, login, accounts.realm, blocked, secret, secret_version FROM accounts";
const TILE = "SELECT uid, title, title_key AS key, note, icon, link, probe FROM tiles";

/** Selects the accounts of a filter: $1 to $4 are the values of `filtered`. */
const MATCHING = `
  FROM accounts WHERE ($1::text IS NULL OR realm = $1) AND strpos(login_key, $2) > 0
    AND ($3::text IS NULL OR mail = $3) AND ($4::boolean IS NULL OR blocked = $4)`;

/** @param {contract.UserFilter} filter @returns {Value[]} */
const filtered = ({ provider, nameContains = "", email, disabled }) => [
  provider ? REALMS[provider] : null,
  nameContains,
  orNull(email),
  disabled ?? null,
];

/**
 * Selects rows by name, unless they have too much text: then it selects one row, which has only `bytes`.
 * @param {string} select
 * @param {string[]} texts the columns with text
 */
const bounded = (select, texts) => `
  WITH chosen AS MATERIALIZED (${select}),
    total AS (SELECT sum(${texts.map((column) => `coalesce(octet_length(${column}), 0)`).join(" + ")}) AS bytes FROM chosen)
  SELECT * FROM total JOIN chosen ON bytes <= ${LARGEST_ANSWER}
  UNION ALL SELECT total.*, nothing.* FROM total LEFT JOIN chosen AS nothing ON FALSE WHERE bytes > ${LARGEST_ANSWER}
  ORDER BY key, uid`;

const PERSON_TEXTS = ["uid", "login", "mail", "avatar"];
const TILE_TEXTS = ["uid", "title", "note", "icon", "link", "probe"];

/**
 * @template T
 * @param {any[]} rows of a `bounded` statement
 * @param {(row: any) => T} record
 */
function within(rows, record) {
  if (rows.length === 1 && rows[0].uid === null) throw StorageError.tooLarge();
  return rows.map(record);
}

/** Selects whether an account may view a panel. $1 is the account's uid, $2 the panel's. */
export const VIEWABLE = `
  SELECT panels.number FROM panels LEFT JOIN accounts ON accounts.uid = $1
  WHERE panels.uid = $2 AND (
    open OR owner = accounts.number
    OR EXISTS (SELECT 1 FROM panel_accounts WHERE panel = panels.number AND account = accounts.number)
    OR EXISTS (
      SELECT 1 FROM panel_teams JOIN team_members USING (team)
      WHERE panel = panels.number AND account = accounts.number
    )
    OR EXISTS (
      SELECT 1 FROM team_members JOIN team_rights USING (team)
      WHERE account = accounts.number AND may IN ('admin', 'board-view-all', 'board-modify-all', 'board-full-all')
    )
  )`;

/** A transaction of Portico. */
export class Transaction {
  /** Whether an operation failed. Everything after it is refused, the commit too. */
  #failed = false;
  #open = true;
  #database;
  #access;
  #caller;
  /** The transaction of the database. @type {Promise<OpenTransaction> | undefined} */
  #begun;
  /** @type {Promise<void> | undefined} */
  #rolledBack;

  /**
   * @param {Database} database
   * @param {contract.Access} access
   * @param {Who} caller
   */
  constructor(database, access, caller) {
    this.#database = database;
    this.#access = access;
    this.#caller = caller;
  }

  async commit() {
    if (this.#failed) {
      await this.rollback();
      throw StorageError.unavailable("a call in this transaction failed before");
    }
    this.#open = false;
    try {
      await (await this.#begun)?.commit();
    } catch (error) {
      throw refusal(error);
    }
  }

  /** Rolls back, and is done when the database is. After a commit, this does nothing. */
  rollback() {
    this.#open = false;
    this.#rolledBack ??= Promise.resolve(this.#begun).then(
      (begun) => begun?.rollback(),
      () => {}, // It never began.
    );
    return this.#rolledBack;
  }

  /**
   * @template T
   * @param {(db: Connection) => Promise<T>} work
   * @returns {Promise<T>}
   */
  async #read(work) {
    if (!this.#open) throw StorageError.unavailable("this transaction is over");
    if (this.#failed) throw StorageError.unavailable("a call in this transaction failed before");
    try {
      if (this.#access === "lookup") return await work(this.#database);
      this.#begun ??= this.#access === "write" ? this.#database.beginWrite() : this.#database.beginRead();
      return await work(await this.#begun);
    } catch (error) {
      this.#failed = true;
      throw refusal(error);
    }
  }

  /**
   * @template T
   * @param {(db: Connection) => Promise<T>} work
   */
  async #write(work) {
    if (this.#access !== "write") throw StorageError.unavailable("a write in a read transaction");
    return this.#read(work);
  }

  hasUsers() {
    return this.#read(async (db) => (await db.first("SELECT 1 FROM accounts LIMIT 1")) !== undefined);
  }

  /** @param {string} id */
  getUser(id) {
    return this.#read(async (db) => {
      const row = await db.first(`${USER} WHERE uid = $1`, id);
      return row && records.user(row);
    });
  }

  /** @param {contract.AccountKey} key @returns {Promise<contract.Account | undefined>} */
  getAccount(key) {
    return this.#read(async (db) => {
      const row = await findAccount(db, key);
      return row && records.account(row);
    });
  }

  /** @param {contract.UserFilter} filter @param {contract.Slice} slice @param {boolean} withImages */
  listUsers(filter, { offset, limit }, withImages) {
    const select = `
      SELECT uid, login, login_key AS key, mail, mail_checked_at, realm, blocked,
        ${withImages ? "avatar" : "NULL::text AS avatar"}
      ${MATCHING} ORDER BY login_key, uid LIMIT $5 OFFSET $6`;
    return this.#read(async (db) => {
      const rows = await db.all(bounded(select, PERSON_TEXTS), ...filtered(filter), limit ?? null, offset);
      return within(rows, records.listedUser);
    });
  }

  /** @param {contract.UserFilter} filter @returns {Promise<number>} */
  countUsers(filter) {
    return this.#read(async (db) => (await db.first(`SELECT count(*)::integer AS count ${MATCHING}`, ...filtered(filter))).count);
  }

  /** @param {contract.NewUser} account */
  insertUser({ user, nameKey, colorScheme, passwordHash }) {
    const sql = `
      INSERT INTO accounts (uid, realm, login, login_key, mail, mail_checked_at, secret, theme, start_panel,
        start_panel_small, week_begins_on, shows_state, engine, searches_in_new_tab, avatar)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`;
    return this.#write(async (db) => {
      await db.run(
        sql,
        user.id,
        REALMS[user.provider],
        user.name,
        nameKey,
        orNull(user.email),
        momentOrNull(user.emailVerified),
        orNull(passwordHash),
        THEMES[colorScheme],
        await numberOf(db, "panels", user.homeBoardId),
        await numberOf(db, "panels", user.mobileHomeBoardId),
        user.firstDayOfWeek,
        user.pingIconsEnabled,
        await numberOf(db, "engines", user.defaultSearchEngineId),
        user.openSearchInNewTab,
        orNull(user.image),
      );
    });
  }

  /** @param {string} userId @param {contract.ProviderSubject} subject */
  insertIdentity(userId, { provider, subject }) {
    return this.#write(async (db) => {
      const account = await numberOf(db, "accounts", userId);
      const sql = "INSERT INTO subjects (realm, subject, account) VALUES ($1, $2, $3)";
      await db.run(sql, REALMS[provider], hash(subject), account);
    });
  }

  /**
   * Sets columns of an account: $1 is its uid. Returns whether there is one.
   * @param {string} id
   * @param {string} columns
   * @param {Value[]} values
   */
  #set(id, columns, ...values) {
    return this.#write(async (db) => (await db.run(`UPDATE accounts SET ${columns} WHERE uid = $1`, id, ...values)) > 0);
  }

  /** @param {string} id @param {contract.Profile} profile */
  setProfile(id, { name, nameKey, email, emailVerified }) {
    const columns = "login = $2, login_key = $3, mail = $4, mail_checked_at = $5";
    return this.#set(id, columns, name, nameKey, orNull(email), momentOrNull(emailVerified));
  }

  /** @param {string} id @param {string | undefined} image */
  setImage(id, image) {
    return this.#set(id, "avatar = $2", orNull(image));
  }

  /** @param {string} id @param {types.HomeBoards} boards */
  setHomeBoards(id, { homeBoardId, mobileHomeBoardId }) {
    return this.#write(async (db) => {
      const sql = "UPDATE accounts SET start_panel = $2, start_panel_small = $3 WHERE uid = $1";
      const panels = [await numberOf(db, "panels", homeBoardId), await numberOf(db, "panels", mobileHomeBoardId)];
      return (await db.run(sql, id, ...panels)) > 0;
    });
  }

  /** @param {string} id @param {types.SearchPreferences} preferences */
  setSearchPreferences(id, { defaultSearchEngineId, openInNewTab }) {
    return this.#write(async (db) => {
      const sql = "UPDATE accounts SET engine = $2, searches_in_new_tab = $3 WHERE uid = $1";
      return (await db.run(sql, id, await numberOf(db, "engines", defaultSearchEngineId), openInNewTab)) > 0;
    });
  }

  /** @param {string} id @param {types.ColorScheme} colorScheme */
  setColorScheme(id, colorScheme) {
    return this.#set(id, "theme = $2", THEMES[colorScheme]);
  }

  /** @param {string} id @param {boolean} enabled */
  setPingIconsEnabled(id, enabled) {
    return this.#set(id, "shows_state = $2", enabled);
  }

  /** @param {string} id @param {number} day */
  setFirstDayOfWeek(id, day) {
    return this.#set(id, "week_begins_on = $2", day);
  }

  /** @param {string} id @param {boolean} disabled */
  setDisabled(id, disabled) {
    return this.#write(async (db) => {
      const found = (await db.run("UPDATE accounts SET blocked = $2 WHERE uid = $1", id, disabled)) > 0;
      if (disabled) await db.run("DELETE FROM logins USING accounts WHERE account = number AND accounts.uid = $1", id);
      return found;
    });
  }

  /** @param {string} id @param {string | undefined} old @param {string} hash */
  setPasswordIf(id, old, hash) {
    return this.#write(async (db) => {
      const sql = `
        UPDATE accounts SET secret = $2, secret_version = secret_version + 1
        WHERE uid = $1 AND secret IS NOT DISTINCT FROM $3`;
      const replaced = (await db.run(sql, id, hash, orNull(old))) > 0;
      if (replaced) {
        const others = `
          DELETE FROM logins USING accounts
          WHERE account = number AND accounts.uid = $1 AND logins.uid IS DISTINCT FROM $2`;
        await db.run(others, id, orNull(this.#caller.session));
      }
      return replaced;
    });
  }

  /** @param {string} id @param {string} old @param {string} hash */
  rehashPasswordIf(id, old, hash) {
    return this.#write(
      async (db) => (await db.run("UPDATE accounts SET secret = $3 WHERE uid = $1 AND secret = $2", id, old, hash)) > 0,
    );
  }

  /** The schema's cascades take the rest with it. @param {string} id */
  deleteUser(id) {
    return this.#write(async (db) => (await db.run("DELETE FROM accounts WHERE uid = $1", id)) > 0);
  }

  /** @param {string} except */
  hasAnotherAdmin(except) {
    const sql = `
      SELECT 1 FROM team_rights JOIN team_members USING (team) JOIN accounts ON number = account
      WHERE may = 'admin' AND NOT blocked AND uid <> $1 LIMIT 1`;
    return this.#read(async (db) => (await db.first(sql, except)) !== undefined);
  }

  /** @param {string} id */
  grantAdmin(id) {
    return this.#write(async (db) => {
      const account = await numberOf(db, "accounts", id);
      await db.run("INSERT INTO teams (uid, name) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING", randomUUID(), ADMINS);
      const { number: team } = await db.first("SELECT number FROM teams WHERE name = $1", ADMINS);
      await db.run("INSERT INTO team_rights (team, may) VALUES ($1, 'admin') ON CONFLICT DO NOTHING", team);
      await db.run("INSERT INTO team_members (account, team) VALUES ($1, $2) ON CONFLICT DO NOTHING", account, team);
    });
  }

  /** @param {string} userId @param {string} groupId */
  addToGroup(userId, groupId) {
    return this.#write(async (db) => {
      const team = await db.first("SELECT number FROM teams WHERE uid = $1", groupId);
      if (!team) return false;
      const account = await numberOf(db, "accounts", userId);
      await db.run("INSERT INTO team_members (account, team) VALUES ($1, $2) ON CONFLICT DO NOTHING", account, team.number);
      return true;
    });
  }

  /** @param {string} id @param {string} token @param {bigint} now */
  hasInvite(id, token, now) {
    return this.#read(async (db) => {
      const row = await db.first("SELECT token_hash, ends_at FROM invitations WHERE uid = $1", id);
      return row !== undefined && timingSafeEqual(row.token_hash, hash(token)) && BigInt(row.ends_at) > now;
    });
  }

  /** @param {string} id @param {string} token @param {bigint} now */
  takeInvite(id, token, now) {
    return this.#write(
      async (db) =>
        (await this.hasInvite(id, token, now)) && (await db.run("DELETE FROM invitations WHERE uid = $1", id)) > 0,
    );
  }

  /** @param {string} userId @param {string} boardId */
  canViewBoard(userId, boardId) {
    return this.#read(async (db) => (await db.first(VIEWABLE, userId, boardId)) !== undefined);
  }

  /** @param {string} id */
  hasSearchEngine(id) {
    return this.#read(async (db) => (await db.first("SELECT 1 FROM engines WHERE uid = $1", id)) !== undefined);
  }

  /** @param {string} id */
  getApp(id) {
    return this.#read(async (db) => {
      const row = await db.first(`${TILE} WHERE uid = $1`, id);
      return row && records.app(row);
    });
  }

  /** @param {string[]} ids */
  getApps(ids) {
    const sql = bounded(`${TILE} WHERE uid = ANY ($1)`, TILE_TEXTS);
    return this.#read(async (db) => within(await db.all(sql, ids), records.app));
  }

  /** @param {contract.AppFilter} filter @param {contract.Slice} slice */
  listApps({ nameContains = "" }, { offset, limit }) {
    const select = `${TILE} WHERE strpos(title_key, $1) > 0 ORDER BY title_key, uid LIMIT $2 OFFSET $3`;
    const sql = bounded(select, TILE_TEXTS);
    return this.#read(async (db) => within(await db.all(sql, nameContains, limit ?? null, offset), records.app));
  }

  /** @param {contract.AppFilter} filter @returns {Promise<number>} */
  countApps({ nameContains = "" }) {
    const sql = "SELECT count(*)::integer AS count FROM tiles WHERE strpos(title_key, $1) > 0";
    return this.#read(async (db) => (await db.first(sql, nameContains)).count);
  }

  /** @param {contract.StoredApp[]} apps */
  insertApps(apps) {
    const columns = apps.map(tile);
    const values = [0, 1, 2, 3, 4, 5, 6].map((column) => columns.map((row) => row[column]));
    const types = values.map((_, index) => `$${index + 1}::text[]`).join(", ");
    const sql = `INSERT INTO tiles (title, title_key, note, icon, link, probe, uid) SELECT * FROM unnest(${types})`;
    return this.#write(async (db) => void (await db.run(sql, ...values)));
  }

  /** @param {contract.StoredApp} stored */
  updateApp(stored) {
    const sql = `
      UPDATE tiles SET title = $1, title_key = $2, note = $3, icon = $4, link = $5, probe = $6 WHERE uid = $7`;
    return this.#write(async (db) => (await db.run(sql, ...tile(stored))) > 0);
  }

  /** The schema's cascades take it off the panels. @param {string} id */
  deleteApp(id) {
    return this.#write(async (db) => (await db.run("DELETE FROM tiles WHERE uid = $1", id)) > 0);
  }
}

/** @param {Connection} db @param {contract.AccountKey} key @returns {Promise<any>} */
function findAccount(db, key) {
  switch (key.tag) {
    case "id":
      return db.first(`${ACCOUNT} WHERE uid = $1`, key.val);
    case "name":
      return db.first(`${ACCOUNT} WHERE realm = $1 AND login_key = $2`, REALMS[key.val.provider], key.val.nameKey);
    case "subject": {
      const join = "JOIN subjects ON account = number WHERE subjects.realm = $1 AND subject = $2";
      return db.first(`${ACCOUNT} ${join}`, REALMS[key.val.provider], hash(key.val.subject));
    }
  }
}

/**
 * The number of the row that a record refers to, or null.
 * @param {Connection} db
 * @param {"accounts" | "panels" | "engines"} table
 * @param {string | undefined} uid
 * @returns {Promise<number | null>}
 */
async function numberOf(db, table, uid) {
  if (uid === undefined) return null;
  const row = await db.first(`SELECT number FROM ${table} WHERE uid = $1`, uid);
  if (!row) throw StorageError.constraint("reference");
  return row.number;
}
