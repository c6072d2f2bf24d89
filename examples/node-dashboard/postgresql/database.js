// The dashboard's database: PostgreSQL with `pg`, an asynchronous driver. Connections are as the usual
// environment variables name them (PGHOST, PGUSER, PGDATABASE and so on).
//
// Writers have connections of their own, because a writer that waits for the lock holds one: however many
// wait, readers go on.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import pg from "pg";

/** @typedef {string | number | boolean | null | Buffer | (string | null)[]} Value */

/** How many connections there are for reading and for writing. */
const READERS = 8;
const WRITERS = 4;
/** How long a statement may take, and a transaction may wait for its next one, in milliseconds. */
const LONGEST = 10_000;
/** The key of the advisory lock that writers hold. Another program on the same database has another one. */
const LOCK = 7_575;

const SETTINGS = {
  statement_timeout: LONGEST,
  idle_in_transaction_session_timeout: LONGEST,
};

/**
 * What runs a statement: a connection or a pool.
 * @typedef {{ query: (sql: string, values?: Value[]) => Promise<{ rows: any[], rowCount: number | null, command: string }> }} Runs
 */

export class Connection {
  #runs;

  /** @param {Runs} runs */
  constructor(runs) {
    this.#runs = runs;
  }

  /** The first row, or undefined. @param {string} sql @param {Value[]} values @returns {Promise<any>} */
  async first(sql, ...values) {
    return (await this.#runs.query(sql, values)).rows[0];
  }

  /** @param {string} sql @param {Value[]} values @returns {Promise<any[]>} */
  async all(sql, ...values) {
    return (await this.#runs.query(sql, values)).rows;
  }

  /** How many rows a statement changed. @param {string} sql @param {Value[]} values @returns {Promise<number>} */
  async run(sql, ...values) {
    return (await this.#runs.query(sql, values)).rowCount ?? 0;
  }
}

/** A transaction on a connection of its own. */
export class OpenTransaction extends Connection {
  #client;
  #isOver = false;

  /** @param {pg.PoolClient} client */
  constructor(client) {
    super(client);
    this.#client = client;
  }

  /** Makes the changes durable. After a failed statement, PostgreSQL rolls back instead and says so only here. */
  async commit() {
    this.#isOver = true;
    try {
      const { command } = await this.#client.query("COMMIT");
      if (command !== "COMMIT") throw new Error(`the commit ended in ${command}`);
    } catch (error) {
      this.#client.release(true);
      throw error;
    }
    this.#client.release();
  }

  /** After a commit, this does nothing. */
  async rollback() {
    if (this.#isOver) return;
    this.#isOver = true;
    try {
      await this.#client.query("ROLLBACK");
      this.#client.release();
    } catch {
      // Closing the connection rolls back, too.
      this.#client.release(true);
    }
  }
}

export class Database extends Connection {
  #readers;
  #writers;

  constructor() {
    const readers = new pg.Pool({ max: READERS, ...SETTINGS });
    super(readers);
    this.#readers = readers;
    this.#writers = new pg.Pool({ max: WRITERS, ...SETTINGS });
    // The server ended a connection, an idle one or one that works: its statement fails, the pool opens another
    // connection, and the process must not end.
    const report = (/** @type {Error} */ error) => console.error(`PostgreSQL: ${error.message}`);
    for (const pool of [readers, this.#writers]) {
      pool.on("error", report);
      pool.on("connect", (client) => client.on("error", () => {}));
    }
  }

  /** Creates missing tables of the dashboard. */
  async createTables() {
    await this.write((db) => db.run(readFileSync(new URL("schema.sql", import.meta.url), "utf8")));
  }

  /** A transaction that sees one state. */
  beginRead() {
    return this.#begin(this.#readers, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
  }

  /**
   * A transaction that writes. They run one after the other, because each takes the same lock first. So one
   * that has begun sees what the others have committed, and READ COMMITTED is enough: none ever fails because
   * of another one.
   */
  beginWrite() {
    return this.#begin(this.#writers, `BEGIN ISOLATION LEVEL READ COMMITTED; SELECT pg_advisory_xact_lock(${LOCK})`);
  }

  /** @param {pg.Pool} pool @param {string} sql */
  async #begin(pool, sql) {
    const client = await pool.connect();
    const transaction = new OpenTransaction(client);
    try {
      await client.query(sql);
      return transaction;
    } catch (error) {
      await transaction.rollback();
      throw error;
    }
  }

  /**
   * Runs the dashboard's own work in a write transaction.
   * @template T
   * @param {(db: Connection) => Promise<T>} work
   * @returns {Promise<T>}
   */
  async write(work) {
    const transaction = await this.beginWrite();
    try {
      const result = await work(transaction);
      await transaction.commit();
      return result;
    } catch (error) {
      await transaction.rollback();
      throw error;
    }
  }

  async close() {
    await Promise.all([this.#readers.end(), this.#writers.end()]);
  }
}

/** The hash that is stored for a secret. @param {string} secret */
export const hash = (secret) => createHash("sha256").update(secret).digest();
