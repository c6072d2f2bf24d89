// The contract's interface `storage` over the dashboard's own tables. wit/storage.wit says what each
// function must do. An embedder writes this file, and `records.js`.
//
// Everything here is synchronous, so each transaction of Portico runs from begin to end without another
// one in between. If a second write transaction begins while one is open (the storage kit does that;
// Portico does not), it gets `retry` at once, because it would wait for its own thread. SQLite waits for
// writers in other processes.
//
// Everyone sees all apps here, so no function looks at the viewer.

import { randomUUID, timingSafeEqual } from "node:crypto";
import { StorageError } from "@portico/dashboard";
import { hash } from "./database.js";
import * as records from "./records.js";
import { ADMINS, LARGEST_ANSWER, momentOrNull, orNull, REALMS, THEMES, tile } from "./records.js";

/**
 * @import { contract, types } from "@portico/dashboard"
 * @import { Connection, Database } from "./database.js"
 * @import { Who } from "./sessions.js"
 */

/** What an error of the database means to the component. @param {any} error */
function refusal(error) {
  if (error instanceof StorageError) return error;
  const { code = "", message } = error;
  if (code.startsWith("SQLITE_BUSY")) return StorageError.retry();
  if (code === "SQLITE_CONSTRAINT_FOREIGNKEY") return StorageError.constraint("reference");
  if (message.startsWith("UNIQUE constraint failed: ")) {
    const columns = message.slice("UNIQUE constraint failed: ".length);
    if (columns === "accounts.realm, accounts.login_key") return StorageError.constraint("user-name");
    if (columns === "accounts.uid" || columns === "tiles.uid") return StorageError.constraint("id");
    if (columns.startsWith("subjects.")) return StorageError.constraint("identity");
  }
  return StorageError.unavailable(`${code} ${message}`);
}

/** To SQLite, -1 is no limit. @param {contract.Slice} slice @returns {[number, number]} */
const limitAndOffset = ({ limit = -1, offset }) => [limit, offset];

const USER = `
  SELECT uid, login, mail, mail_checked_at, avatar, realm, week_begins_on, shows_state, searches_in_new_tab,
    (SELECT uid FROM panels WHERE number = start_panel) AS panel,
    (SELECT uid FROM panels WHERE number = start_panel_small) AS panel_small,
    (SELECT uid FROM engines WHERE number = engine) AS engine
  FROM accounts`;
const ACCOUNT = "SELECT uid, login, accounts.realm, blocked, secret, secret_version FROM accounts";
const TILE = "SELECT uid, title, note, icon, link, probe FROM tiles";

/** Selects the accounts of a filter: ?1 to ?4 are the values of `filtered`. */
const MATCHING = `
  FROM accounts WHERE (?1 IS NULL OR realm = ?1) AND instr(login_key, ?2) > 0 AND (?3 IS NULL OR mail = ?3)
    AND (?4 IS NULL OR blocked = ?4)`;

/** @param {contract.UserFilter} filter */
const filtered = ({ provider, nameContains = "", email, disabled }) => [
  provider ? REALMS[provider] : null,
  nameContains,
  orNull(email),
  disabled === undefined ? null : Number(disabled),
];

/**
 * Rows as records, unless they have too much text.
 * @template T
 * @param {Iterable<any>} rows
 * @param {(row: any) => T} record
 */
function within(rows, record) {
  let bytes = 0;
  const found = [];
  for (const row of rows) {
    for (const value of Object.values(row)) if (typeof value === "string") bytes += Buffer.byteLength(value);
    if (bytes > LARGEST_ANSWER) throw StorageError.tooLarge();
    found.push(record(row));
  }
  return found;
}

/** Selects whether an account may view a panel. ?1 is the account's uid, ?2 the panel's. */
export const VIEWABLE = `
  SELECT panels.number FROM panels LEFT JOIN accounts ON accounts.uid = ?1
  WHERE panels.uid = ?2 AND (
    open = 1 OR owner = accounts.number
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
  #connection;
  #access;
  #caller;

  /**
   * @param {Database} database
   * @param {contract.Access} access
   * @param {Who} caller
   */
  constructor(database, access, caller) {
    this.#access = access;
    if (this.#writes && database.writing) throw StorageError.retry();
    this.#database = database;
    this.#caller = caller;
    this.#connection = this.#writes ? database.writer : database.takeReader();
    try {
      // A lookup is one statement, which sees one state by itself.
      if (access !== "lookup") this.#connection.run(this.#writes ? "BEGIN IMMEDIATE" : "BEGIN");
    } catch (error) {
      if (!this.#writes) database.giveBack(this.#connection);
      throw refusal(error);
    }
    if (this.#writes) database.writing = true;
  }

  get #writes() {
    return this.#access === "write";
  }

  /** @param {"COMMIT" | "ROLLBACK"} how */
  #end(how) {
    if (!this.#open) return;
    this.#open = false;
    try {
      if (this.#access !== "lookup") this.#connection.run(how);
    } catch (error) {
      // A failed commit leaves the transaction open.
      if (how === "COMMIT") this.#connection.run("ROLLBACK");
      throw refusal(error);
    } finally {
      if (this.#writes) this.#database.writing = false;
      else this.#database.giveBack(this.#connection);
    }
  }

  commit() {
    if (this.#failed) {
      this.#end("ROLLBACK");
      throw StorageError.unavailable("a call in this transaction failed before");
    }
    this.#end("COMMIT");
  }

  /** After a commit, this does nothing. */
  rollback() {
    this.#end("ROLLBACK");
  }

  /**
   * @template T
   * @param {(db: Connection) => T} work
   */
  #read(work) {
    if (!this.#open) throw StorageError.unavailable("this transaction is over");
    if (this.#failed) throw StorageError.unavailable("a call in this transaction failed before");
    try {
      return work(this.#connection);
    } catch (error) {
      this.#failed = true;
      throw refusal(error);
    }
  }

  /**
   * @template T
   * @param {(db: Connection) => T} work
   */
  #write(work) {
    if (!this.#writes) throw StorageError.unavailable("a write in a read transaction");
    return this.#read(work);
  }

  hasUsers() {
    return this.#read((db) => db.first("SELECT 1 FROM accounts LIMIT 1") !== undefined);
  }

  /** @param {string} id @returns {types.User | undefined} */
  getUser(id) {
    return this.#read((db) => {
      const row = db.first(`${USER} WHERE uid = ?`, id);
      return row && records.user(row);
    });
  }

  /**
   * @param {contract.AccountKey} key
   * @returns {contract.Account | undefined}
   */
  getAccount(key) {
    const row = this.#read((db) => {
      switch (key.tag) {
        case "id":
          return db.first(`${ACCOUNT} WHERE uid = ?`, key.val);
        case "name":
          return db.first(`${ACCOUNT} WHERE realm = ? AND login_key = ?`, REALMS[key.val.provider], key.val.nameKey);
        case "subject": {
          const join = "JOIN subjects ON account = number WHERE subjects.realm = ? AND subject = ?";
          return db.first(`${ACCOUNT} ${join}`, REALMS[key.val.provider], key.val.subject);
        }
      }
    });
    return row && records.account(row);
  }

  /**
   * @param {contract.UserFilter} filter
   * @param {contract.Slice} slice
   * @param {boolean} withImages
   */
  listUsers(filter, slice, withImages) {
    const sql = `
      SELECT uid, login, mail, mail_checked_at, realm, blocked, ${withImages ? "avatar" : "NULL"} AS avatar
      ${MATCHING} ORDER BY login_key, uid LIMIT ?5 OFFSET ?6`;
    const values = [...filtered(filter), ...limitAndOffset(slice)];
    return this.#read((db) => within(db.iterate(sql, ...values), records.listedUser));
  }

  /** @param {contract.UserFilter} filter @returns {number} */
  countUsers(filter) {
    return this.#read((db) => db.first(`SELECT count(*) AS count ${MATCHING}`, ...filtered(filter)).count);
  }

  /** @param {contract.NewUser} account */
  insertUser({ user, nameKey, colorScheme, passwordHash }) {
    const sql = `
      INSERT INTO accounts (uid, realm, login, login_key, mail, mail_checked_at, secret, theme, start_panel,
        start_panel_small, week_begins_on, shows_state, engine, searches_in_new_tab, avatar)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
    this.#write((db) =>
      db.run(
        sql,
        user.id,
        REALMS[user.provider],
        user.name,
        nameKey,
        orNull(user.email),
        momentOrNull(user.emailVerified),
        orNull(passwordHash),
        THEMES[colorScheme],
        numberOf(db, "panels", user.homeBoardId),
        numberOf(db, "panels", user.mobileHomeBoardId),
        user.firstDayOfWeek,
        Number(user.pingIconsEnabled),
        numberOf(db, "engines", user.defaultSearchEngineId),
        Number(user.openSearchInNewTab),
        orNull(user.image),
      ),
    );
  }

  /**
   * @param {string} userId
   * @param {contract.ProviderSubject} subject
   */
  insertIdentity(userId, { provider, subject }) {
    this.#write((db) => {
      const account = numberOf(db, "accounts", userId);
      db.run("INSERT INTO subjects (realm, subject, account) VALUES (?, ?, ?)", REALMS[provider], subject, account);
    });
  }

  /**
   * Sets columns of an account. Returns whether there is one.
   * @param {string} id
   * @param {string} columns
   * @param {(db: Connection) => (string | number | null)[]} values
   */
  #set(id, columns, values) {
    return this.#write((db) => db.run(`UPDATE accounts SET ${columns} WHERE uid = ?`, ...values(db), id) > 0);
  }

  /** @param {string} id @param {contract.Profile} profile */
  setProfile(id, { name, nameKey, email, emailVerified }) {
    const values = [name, nameKey, orNull(email), momentOrNull(emailVerified)];
    return this.#set(id, "login = ?, login_key = ?, mail = ?, mail_checked_at = ?", () => values);
  }

  /** @param {string} id @param {string | undefined} image */
  setImage(id, image) {
    return this.#set(id, "avatar = ?", () => [orNull(image)]);
  }

  /** @param {string} id @param {types.HomeBoards} boards */
  setHomeBoards(id, { homeBoardId, mobileHomeBoardId }) {
    const panels = (/** @type {Connection} */ db) => [homeBoardId, mobileHomeBoardId].map((uid) => numberOf(db, "panels", uid));
    return this.#set(id, "start_panel = ?, start_panel_small = ?", panels);
  }

  /** @param {string} id @param {types.SearchPreferences} preferences */
  setSearchPreferences(id, { defaultSearchEngineId, openInNewTab }) {
    const values = (/** @type {Connection} */ db) => [numberOf(db, "engines", defaultSearchEngineId), Number(openInNewTab)];
    return this.#set(id, "engine = ?, searches_in_new_tab = ?", values);
  }

  /** @param {string} id @param {types.ColorScheme} colorScheme */
  setColorScheme(id, colorScheme) {
    return this.#set(id, "theme = ?", () => [THEMES[colorScheme]]);
  }

  /** @param {string} id @param {boolean} enabled */
  setPingIconsEnabled(id, enabled) {
    return this.#set(id, "shows_state = ?", () => [Number(enabled)]);
  }

  /** @param {string} id @param {number} day */
  setFirstDayOfWeek(id, day) {
    return this.#set(id, "week_begins_on = ?", () => [day]);
  }

  /** @param {string} id @param {boolean} disabled */
  setDisabled(id, disabled) {
    return this.#write((db) => {
      if (disabled) db.run(`DELETE FROM logins WHERE account = (SELECT number FROM accounts WHERE uid = ?)`, id);
      return db.run("UPDATE accounts SET blocked = ? WHERE uid = ?", Number(disabled), id) > 0;
    });
  }

  /**
   * @param {string} id
   * @param {string | undefined} old
   * @param {string} hash
   */
  setPasswordIf(id, old, hash) {
    return this.#write((db) => {
      // IS, because the value may be null.
      const sql = "UPDATE accounts SET secret = ?, secret_version = secret_version + 1 WHERE uid = ? AND secret IS ?";
      const replaced = db.run(sql, hash, id, orNull(old)) > 0;
      if (replaced) {
        const others = "DELETE FROM logins WHERE account = (SELECT number FROM accounts WHERE uid = ?) AND uid IS NOT ?";
        db.run(others, id, orNull(this.#caller.session));
      }
      return replaced;
    });
  }

  /**
   * @param {string} id
   * @param {string} old
   * @param {string} hash
   */
  rehashPasswordIf(id, old, hash) {
    return this.#write((db) => db.run("UPDATE accounts SET secret = ? WHERE uid = ? AND secret = ?", hash, id, old) > 0);
  }

  /** The schema's cascades take the rest with it. @param {string} id */
  deleteUser(id) {
    return this.#write((db) => db.run("DELETE FROM accounts WHERE uid = ?", id) > 0);
  }

  /** @param {string} except */
  hasAnotherAdmin(except) {
    const sql = `
      SELECT 1 FROM team_rights JOIN team_members USING (team) JOIN accounts ON number = account
      WHERE may = 'admin' AND blocked = 0 AND uid <> ?`;
    return this.#read((db) => db.first(sql, except) !== undefined);
  }

  /** @param {string} id */
  grantAdmin(id) {
    this.#write((db) => {
      const account = numberOf(db, "accounts", id);
      db.run("INSERT INTO teams (uid, name) VALUES (?, ?) ON CONFLICT (name) DO NOTHING", randomUUID(), ADMINS);
      const team = db.first("SELECT number FROM teams WHERE name = ?", ADMINS).number;
      db.run("INSERT INTO team_rights (team, may) VALUES (?, 'admin') ON CONFLICT DO NOTHING", team);
      db.run("INSERT INTO team_members (account, team) VALUES (?, ?) ON CONFLICT DO NOTHING", account, team);
    });
  }

  /**
   * @param {string} userId
   * @param {string} groupId
   */
  addToGroup(userId, groupId) {
    return this.#write((db) => {
      const team = db.first("SELECT number FROM teams WHERE uid = ?", groupId);
      if (!team) return false;
      const account = numberOf(db, "accounts", userId);
      db.run("INSERT INTO team_members (account, team) VALUES (?, ?) ON CONFLICT DO NOTHING", account, team.number);
      return true;
    });
  }

  /**
   * @param {string} id
   * @param {string} token
   * @param {bigint} now
   */
  hasInvite(id, token, now) {
    return this.#read((db) => {
      const row = db.first("SELECT token_hash, ends_at FROM invitations WHERE uid = ?", id);
      return row !== undefined && timingSafeEqual(row.token_hash, hash(token)) && BigInt(row.ends_at) > now;
    });
  }

  /**
   * @param {string} id
   * @param {string} token
   * @param {bigint} now
   */
  takeInvite(id, token, now) {
    return this.#write((db) => this.hasInvite(id, token, now) && db.run("DELETE FROM invitations WHERE uid = ?", id) > 0);
  }

  /**
   * @param {string} userId
   * @param {string} boardId
   */
  canViewBoard(userId, boardId) {
    return this.#read((db) => db.first(VIEWABLE, userId, boardId) !== undefined);
  }

  /** @param {string} id */
  hasSearchEngine(id) {
    return this.#read((db) => db.first("SELECT 1 FROM engines WHERE uid = ?", id) !== undefined);
  }

  /** @param {string} id @returns {types.App | undefined} */
  getApp(id) {
    return this.#read((db) => {
      const row = db.first(`${TILE} WHERE uid = ?`, id);
      return row && records.app(row);
    });
  }

  /** @param {string[]} ids */
  getApps(ids) {
    const sql = `${TILE} WHERE uid IN (SELECT value FROM json_each(?))`;
    return this.#read((db) => within(db.iterate(sql, JSON.stringify(ids)), records.app));
  }

  /** @param {contract.AppFilter} filter @param {contract.Slice} slice */
  listApps({ nameContains = "" }, slice) {
    const sql = `${TILE} WHERE instr(title_key, ?) > 0 ORDER BY title_key, uid LIMIT ? OFFSET ?`;
    return this.#read((db) => within(db.iterate(sql, nameContains, ...limitAndOffset(slice)), records.app));
  }

  /** @param {contract.AppFilter} filter @returns {number} */
  countApps({ nameContains = "" }) {
    const sql = "SELECT count(*) AS count FROM tiles WHERE instr(title_key, ?) > 0";
    return this.#read((db) => db.first(sql, nameContains).count);
  }

  /** @param {contract.StoredApp[]} apps */
  insertApps(apps) {
    const sql = "INSERT INTO tiles (title, title_key, note, icon, link, probe, uid) VALUES (?, ?, ?, ?, ?, ?, ?)";
    this.#write((db) => apps.forEach((stored) => db.run(sql, ...tile(stored))));
  }

  /** @param {contract.StoredApp} stored */
  updateApp(stored) {
    const sql = "UPDATE tiles SET title = ?, title_key = ?, note = ?, icon = ?, link = ?, probe = ? WHERE uid = ?";
    return this.#write((db) => db.run(sql, ...tile(stored)) > 0);
  }

  /** The schema's cascades take it off the panels. @param {string} id */
  deleteApp(id) {
    return this.#write((db) => db.run("DELETE FROM tiles WHERE uid = ?", id) > 0);
  }
}

/**
 * The number of the row that a record refers to, or null.
 * @param {Connection} db
 * @param {"accounts" | "panels" | "engines"} table
 * @param {string | undefined} uid
 */
function numberOf(db, table, uid) {
  if (uid === undefined) return null;
  const row = db.first(`SELECT number FROM ${table} WHERE uid = ?`, uid);
  if (!row) throw StorageError.constraint("reference");
  return /** @type {number} */ (row.number);
}
