// The contract's interface `storage` over the dashboard's own tables. wit/storage.wit says what each
// function must do. An embedder writes this file, and can copy the rest of this folder unchanged.
//
// Everything here is synchronous, so each call of the component runs from begin to end without another
// one in between, and transactions of one thread never overlap. If a second write transaction begins
// while one is open (the storage kit does that; a component cannot), it gets `retry` at once, because it
// would wait for its own thread. SQLite waits for writers in other threads and processes.

import { randomUUID, timingSafeEqual } from "node:crypto";
import { hash } from "../database.js";

/**
 * @import { Connection, Database } from "../database.js"
 * @import * as contract from "../../generated/interfaces/portico-dashboard-storage.js"
 * @import { User, UserSummary, App, Provider, ColorScheme } from "../../generated/interfaces/portico-dashboard-types.js"
 */

/** A refusal in the contract's form: jco passes `payload` to the component. */
export class Refusal extends Error {
  /** @param {contract.Error} payload */
  constructor(payload) {
    super(JSON.stringify(payload));
    this.payload = payload;
  }
}

/** For the log only. @param {string} text */
export const unavailable = (text) => new Refusal({ tag: "unavailable", val: text });

/** @param {contract.Constraint} constraint */
const broken = (constraint) => new Refusal({ tag: "constraint", val: constraint });

/** Whether another transaction won, and this one may be tried again. @param {unknown} error */
export const isRetry = (error) => error instanceof Refusal && error.payload.tag === "retry";

/** What an error of the database means to the component. @param {any} error */
function refusal(error) {
  if (error instanceof Refusal) return error;
  const { code = "", message } = error;
  if (code.startsWith("SQLITE_BUSY")) return new Refusal({ tag: "retry" });
  if (code === "SQLITE_CONSTRAINT_FOREIGNKEY") return broken("reference");
  if (code === "SQLITE_CONSTRAINT_UNIQUE" && message.endsWith("accounts.realm, accounts.login_key")) {
    return broken("user-name");
  }
  if (code.startsWith("SQLITE_CONSTRAINT_") && message.startsWith("UNIQUE constraint failed: subjects.")) {
    return broken("identity");
  }
  return unavailable(`${code} ${message}`);
}

/** Names of the contract, and this dashboard's names for them. */
const REALMS = { credentials: "local", oidc: "sso", ldap: "directory" };
const THEMES = { light: "day", dark: "night", auto: "system" };

/**
 * @template {string} K
 * @param {Record<K, string>} words
 * @param {string} word
 */
const back = (words, word) => /** @type {K} */ (Object.keys(words).find((key) => words[/** @type {K} */ (key)] === word));

/** `undefined` is none in the contract, null in the database. @param {string | undefined} text */
const orNull = (text) => text ?? null;

/** No moment is beyond the year 9999. @param {bigint | undefined} moment */
const momentOrNull = (moment) => (moment === undefined ? null : Number(moment));

/** @param {number | null} moment */
const orNone = (moment) => (moment === null ? undefined : BigInt(moment));

/** To SQLite, -1 is no limit. @param {number | undefined} limit */
const orAll = (limit) => limit ?? -1;

const USER = `
  SELECT uid, login, mail, mail_checked_at, avatar, realm, week_begins_on, shows_state, searches_in_new_tab,
    (SELECT uid FROM panels WHERE number = start_panel) AS panel,
    (SELECT uid FROM panels WHERE number = start_panel_small) AS panel_small,
    (SELECT uid FROM engines WHERE number = engine) AS engine
  FROM accounts`;
const TILE = "SELECT uid, title, note, icon, link, probe FROM tiles";

/** @returns {UserSummary} */
const summary = (/** @type {any} */ row) => ({
  id: row.uid,
  name: row.login,
  email: row.mail ?? undefined,
  emailVerified: orNone(row.mail_checked_at),
  image: row.avatar ?? undefined,
});

/** @returns {User} */
const user = (/** @type {any} */ row) => ({
  ...summary(row),
  provider: back(REALMS, row.realm),
  homeBoardId: row.panel ?? undefined,
  mobileHomeBoardId: row.panel_small ?? undefined,
  firstDayOfWeek: row.week_begins_on,
  pingIconsEnabled: row.shows_state === 1,
  defaultSearchEngineId: row.engine ?? undefined,
  openSearchInNewTab: row.searches_in_new_tab === 1,
});

/** @returns {App} */
const app = (/** @type {any} */ row) => ({
  id: row.uid,
  name: row.title,
  description: row.note ?? undefined,
  iconUrl: row.icon,
  href: row.link ?? undefined,
  pingUrl: row.probe ?? undefined,
});

/** The team that `grantAdmin` makes accounts members of. */
const ADMINS = "admins";

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
      WHERE account = accounts.number AND (may = 'admin' OR may GLOB 'board-*')
    )
  )`;

/** A transaction of the component. */
export class Transaction {
  /** Whether an operation ended in `retry`. The next transaction of the call then waits. */
  collided = false;
  /** Whether an operation failed. Writes and the commit are then refused. */
  #failed = false;
  #open = true;
  #database;
  #connection;
  #writes;
  #session;

  /**
   * @param {Database} database
   * @param {contract.Access} access
   * @param {string | undefined} session the uid of the login that the call came in on
   */
  constructor(database, access, session) {
    this.#writes = access === "write";
    if (this.#writes && database.writing) throw new Refusal({ tag: "retry" });
    this.#database = database;
    this.#session = session;
    this.#connection = this.#writes ? database.writer : database.takeReader();
    try {
      this.#connection.run(this.#writes ? "BEGIN IMMEDIATE" : "BEGIN");
    } catch (error) {
      if (!this.#writes) database.giveBack(this.#connection);
      throw refusal(error);
    }
    if (this.#writes) database.writing = true;
  }

  /** @param {unknown} error */
  #refusal(error) {
    const refused = refusal(error);
    this.collided ||= isRetry(refused);
    return refused;
  }

  /** @param {"COMMIT" | "ROLLBACK"} how */
  #end(how) {
    if (!this.#open) return;
    this.#open = false;
    try {
      this.#connection.run(how);
    } catch (error) {
      // A failed commit leaves the transaction open.
      if (how === "COMMIT") this.#connection.run("ROLLBACK");
      throw this.#refusal(error);
    } finally {
      if (this.#writes) this.#database.writing = false;
      else this.#database.giveBack(this.#connection);
    }
  }

  /** @param {Transaction} transaction */
  static commit(transaction) {
    if (transaction.#failed) {
      transaction.#end("ROLLBACK");
      throw unavailable("a call in this transaction failed before");
    }
    transaction.#end("COMMIT");
  }

  get isOpen() {
    return this.#open;
  }

  /** Rolls back. After a commit, this does nothing. */
  [Symbol.dispose]() {
    this.#end("ROLLBACK");
  }

  /**
   * @template T
   * @param {(db: Connection) => T} work
   */
  #read(work) {
    if (!this.#open) throw unavailable("this transaction is over");
    try {
      return work(this.#connection);
    } catch (error) {
      this.#failed = true;
      throw this.#refusal(error);
    }
  }

  /**
   * @template T
   * @param {(db: Connection) => T} work
   */
  #write(work) {
    if (!this.#writes) throw unavailable("a write in a read transaction");
    if (this.#failed) throw unavailable("a call in this transaction failed before");
    return this.#read(work);
  }

  hasUsers() {
    return this.#read((db) => db.first("SELECT 1 FROM accounts LIMIT 1") !== undefined);
  }

  /** @param {string} id */
  getUser(id) {
    return this.#read((db) => {
      const row = db.first(`${USER} WHERE uid = ?`, id);
      return row && user(row);
    });
  }

  /** @param {contract.UserFilter} filter */
  listUsers({ provider, nameContains, email, limit }) {
    const sql = `
      SELECT uid, login, mail, mail_checked_at, avatar FROM accounts
      WHERE (?1 IS NULL OR realm = ?1) AND instr(login_key, ?2) > 0 AND (?3 IS NULL OR mail = ?3)
      ORDER BY login_key, uid LIMIT ?4`;
    const realm = provider ? REALMS[provider] : null;
    return this.#read((db) => db.all(sql, realm, nameContains ?? "", orNull(email), orAll(limit)).map(summary));
  }

  /**
   * @param {contract.AccountKey} key
   * @returns {contract.Account | undefined}
   */
  findAccount(key) {
    const columns = "SELECT uid, login, accounts.realm, secret FROM accounts";
    const row = this.#read((db) => {
      switch (key.tag) {
        case "id":
          return db.first(`${columns} WHERE uid = ?`, key.val);
        case "name":
          return db.first(`${columns} WHERE realm = ? AND login_key = ?`, REALMS[key.val[0]], key.val[1]);
        case "subject": {
          const join = "JOIN subjects ON account = number WHERE subjects.realm = ? AND subject = ?";
          return db.first(`${columns} ${join}`, REALMS[key.val[0]], key.val[1]);
        }
      }
    });
    return (
      row && { id: row.uid, name: row.login, provider: back(REALMS, row.realm), passwordHash: row.secret ?? undefined }
    );
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
   * @param {Provider} provider
   * @param {string} subject
   */
  insertIdentity(userId, provider, subject) {
    this.#write((db) => {
      const account = numberOf(db, "accounts", userId);
      db.run("INSERT INTO subjects (realm, subject, account) VALUES (?, ?, ?)", REALMS[provider], subject, account);
    });
  }

  /**
   * @param {string} id
   * @param {contract.UserChange} change
   */
  updateUser(id, change) {
    return this.#write((db) => {
      const [set, ...values] = assignment(db, change);
      return db.run(`UPDATE accounts SET ${set} WHERE uid = ?`, ...values, id) > 0;
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
      const replaced = db.run("UPDATE accounts SET secret = ? WHERE uid = ? AND secret IS ?", hash, id, orNull(old)) > 0;
      if (replaced) {
        db.run("UPDATE counters SET value = value + 1 WHERE name = 'secrets'");
        db.run("UPDATE accounts SET secret_version = (SELECT value FROM counters WHERE name = 'secrets') WHERE uid = ?", id);
        const others = "DELETE FROM logins WHERE account = (SELECT number FROM accounts WHERE uid = ?) AND uid IS NOT ?";
        db.run(others, id, orNull(this.#session));
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
  anotherAdminExists(except) {
    const sql = `
      SELECT 1 FROM team_rights JOIN team_members USING (team) JOIN accounts ON number = account
      WHERE may = 'admin' AND uid <> ?`;
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

  /** @param {string} id */
  getApp(id) {
    return this.#read((db) => {
      const row = db.first(`${TILE} WHERE uid = ?`, id);
      return row && app(row);
    });
  }

  /** @param {string[]} ids */
  getApps(ids) {
    return [...new Set(ids)].flatMap((id) => this.getApp(id) ?? []);
  }

  /** @param {contract.AppFilter} filter */
  listApps({ nameContains, offset, limit }) {
    const sql = `${TILE} WHERE instr(title_key, ?) > 0 ORDER BY title_key, uid LIMIT ? OFFSET ?`;
    return this.#read((db) => db.all(sql, nameContains ?? "", orAll(limit), offset).map(app));
  }

  /** @param {string} nameContains */
  countApps(nameContains) {
    const sql = "SELECT count(*) AS count FROM tiles WHERE instr(title_key, ?) > 0";
    return this.#read((db) => /** @type {number} */ (db.first(sql, nameContains).count));
  }

  /** @param {contract.StoredApp[]} apps */
  insertApps(apps) {
    const sql = "INSERT INTO tiles (title, title_key, note, icon, link, probe, uid) VALUES (?, ?, ?, ?, ?, ?, ?)";
    this.#write((db) => apps.forEach((stored) => db.run(sql, ...values(stored))));
  }

  /** @param {contract.StoredApp} stored */
  updateApp(stored) {
    const sql = "UPDATE tiles SET title = ?, title_key = ?, note = ?, icon = ?, link = ?, probe = ? WHERE uid = ?";
    return this.#write((db) => db.run(sql, ...values(stored)) > 0);
  }

  /** The schema's cascades take it off the panels. @param {string} id */
  deleteApp(id) {
    return this.#write((db) => db.run("DELETE FROM tiles WHERE uid = ?", id) > 0);
  }
}

/** @param {contract.StoredApp} stored */
const values = ({ app, nameKey }) => [
  app.name,
  nameKey,
  orNull(app.description),
  app.iconUrl,
  orNull(app.href),
  orNull(app.pingUrl),
  app.id,
];

/**
 * The number of the row that a record refers to, or null.
 * @param {Connection} db
 * @param {"accounts" | "panels" | "engines"} table
 * @param {string | undefined} uid
 */
function numberOf(db, table, uid) {
  if (uid === undefined) return null;
  const row = db.first(`SELECT number FROM ${table} WHERE uid = ?`, uid);
  if (!row) throw broken("reference");
  return /** @type {number} */ (row.number);
}

/**
 * Columns, and their values.
 * @param {Connection} db
 * @param {contract.UserChange} change
 * @returns {[string, ...(string | number | null)[]]}
 */
function assignment(db, change) {
  switch (change.tag) {
    case "profile": {
      const { name, nameKey, email, emailVerified } = change.val;
      const set = "login = ?, login_key = ?, mail = ?, mail_checked_at = ?";
      return [set, name, nameKey, orNull(email), momentOrNull(emailVerified)];
    }
    case "image":
      return ["avatar = ?", orNull(change.val)];
    case "home-boards": {
      const panel = numberOf(db, "panels", change.val.homeBoardId);
      return ["start_panel = ?, start_panel_small = ?", panel, numberOf(db, "panels", change.val.mobileHomeBoardId)];
    }
    case "search-preferences": {
      const engine = numberOf(db, "engines", change.val.defaultSearchEngineId);
      return ["engine = ?, searches_in_new_tab = ?", engine, Number(change.val.openInNewTab)];
    }
    case "color-scheme":
      return ["theme = ?", THEMES[change.val]];
    case "ping-icons-enabled":
      return ["shows_state = ?", Number(change.val)];
    case "first-day-of-week":
      return ["week_begins_on = ?", change.val];
  }
}

/**
 * The dashboard's word for a colour scheme, and back. For the session route.
 * @param {string} theme
 * @returns {ColorScheme}
 */
export const colorScheme = (theme) => back(THEMES, theme);
