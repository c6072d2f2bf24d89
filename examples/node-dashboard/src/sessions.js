// Sessions: the dashboard's own cookie. Portico identifies the user; the session remembers it.

import { randomBytes, randomUUID } from "node:crypto";
import { hash } from "./database.js";

/**
 * @import { Request, Response } from "express"
 * @import { Database } from "./database.js"
 * @import { Caller, Portico } from "@portico/dashboard"
 *
 * Who calls, and the login that they use.
 * @typedef {Caller & { session?: string }} Who
 */

const COOKIE = "dashboard";
const DAYS = 30;
const MILLISECONDS = DAYS * 86_400_000;

/** @type {Who} */
const ANONYMOUS = {};

/** @param {Request} request */
const token = (request) => request.headers.cookie?.match(`(?:^|; *)${COOKIE}=([\\w-]{43})`)?.[1];

/**
 * Begins a session, unless the account is blocked or gone, or its password was set after it was checked.
 * @param {Database} database
 * @param {string} account its uid
 * @param {string} token
 * @param {number} version of the password that was checked
 */
export const begin = (database, account, token, version) =>
  database.write((db) => {
    db.run("DELETE FROM logins WHERE ends_at <= ?", Date.now());
    const sql = `
      INSERT INTO logins (uid, token_hash, account, ends_at)
      SELECT ?, ?, number, ? FROM accounts WHERE uid = ? AND blocked = 0 AND secret_version = ?`;
    return db.run(sql, randomUUID(), hash(token), Date.now() + MILLISECONDS, account, version) > 0;
  });

export class Sessions {
  #database;

  /** @param {Database} database */
  constructor(database) {
    this.#database = database;
  }

  /** Who calls, with what they may do at this moment. @param {Request} request @returns {Who} */
  callerOf(request) {
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
    return { session, user: { id, permissions } };
  }

  /**
   * Checks name and password and begins a session. Returns its user.
   * @param {Portico<Who>} portico
   * @param {Response} response
   * @param {string} username
   * @param {string} password
   * @returns {Promise<{ id: string, name: string } | undefined>} undefined if the account has changed meanwhile
   */
  async signIn(portico, response, username, password) {
    const { id, name, passwordVersion } = await portico.signIn.password(ANONYMOUS, username, password);
    const token = randomBytes(32).toString("base64url");
    if (!begin(this.#database, id, token, passwordVersion)) return undefined;
    // Behind TLS add `secure`.
    response.cookie(COOKIE, token, { httpOnly: true, sameSite: "lax", maxAge: MILLISECONDS });
    return { id, name };
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
