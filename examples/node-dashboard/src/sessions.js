// Sessions: the dashboard's own cookie. Portico identifies the user; the session remembers it.

import { randomBytes, randomUUID } from "node:crypto";
import { hash } from "./database.js";

/**
 * @import { Request, Response } from "express"
 * @import { Database } from "./database.js"
 * @import { Call } from "./portico/component.js"
 * @import { Hashing } from "./portico/hashing.js"
 */

const COOKIE = "dashboard";
const DAYS = 30;
const MILLISECONDS = DAYS * 86_400_000;

/** @type {Call} */
const ANONYMOUS = { caller: { tag: "anonymous" } };

/** @param {Request} request */
const token = (request) => request.headers.cookie?.match(`(?:^|; *)${COOKIE}=([\\w-]{43})`)?.[1];

/**
 * How many passwords have ever been set. Read this before a password is checked.
 * @param {Database} database
 * @returns {number}
 */
export const passwordsSet = (database) =>
  database.writer.first("SELECT value FROM counters WHERE name = 'secrets'").value;

/**
 * Begins a session, unless the account's password was set after this count was read.
 * @param {Database} database
 * @param {string} account its uid
 * @param {string} token
 * @param {number} passwords
 */
export const begin = (database, account, token, passwords) =>
  database.write((db) => {
    db.run("DELETE FROM logins WHERE ends_at <= ?", Date.now());
    const sql = `
      INSERT INTO logins (uid, token_hash, account, ends_at)
      SELECT ?, ?, number, ? FROM accounts WHERE uid = ? AND secret_version <= ?`;
    return db.run(sql, randomUUID(), hash(token), Date.now() + MILLISECONDS, account, passwords) > 0;
  });

export class Sessions {
  #database;
  #hashing;

  /**
   * @param {Database} database
   * @param {Hashing} hashing
   */
  constructor(database, hashing) {
    this.#database = database;
    this.#hashing = hashing;
  }

  /** Who calls, with what they may do at this moment. @param {Request} request @returns {Call} */
  callOf(request) {
    const presented = token(request);
    if (!presented) return ANONYMOUS;
    const sql = `
      SELECT logins.uid AS session, accounts.uid AS id, may
      FROM logins JOIN accounts ON accounts.number = logins.account
        LEFT JOIN team_members ON team_members.account = accounts.number LEFT JOIN team_rights USING (team)
      WHERE token_hash = ? AND ends_at > ?`;
    const rows = this.#database.writer.all(sql, hash(presented), Date.now());
    if (rows.length === 0) return ANONYMOUS;
    const [{ session, id }] = rows;
    const permissions = [...new Set(rows.flatMap(({ may }) => may ?? []))];
    return { session, caller: { tag: "user", val: { id, permissions } } };
  }

  /**
   * Checks name and password with the component and begins a session. Returns its user.
   * @param {Response} response
   * @param {string} username
   * @param {string} password
   * @returns {Promise<{ id: string, name: string } | undefined>} undefined if the password was replaced meanwhile
   */
  async signIn(response, username, password) {
    const before = passwordsSet(this.#database);
    const user = await this.#hashing.run(ANONYMOUS, { on: "signIn", name: "password", values: [username, password] });
    const token = randomBytes(32).toString("base64url");
    if (!begin(this.#database, user.id, token, before)) return undefined;
    // Behind TLS add `secure`.
    response.cookie(COOKIE, token, { httpOnly: true, sameSite: "lax", maxAge: MILLISECONDS });
    return user;
  }

  /**
   * @param {Request} request
   * @param {Response} response
   */
  signOut(request, response) {
    const presented = token(request);
    if (presented) this.#database.write((db) => db.run("DELETE FROM logins WHERE token_hash = ?", hash(presented)));
    response.clearCookie(COOKIE);
  }
}
