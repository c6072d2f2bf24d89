// The dashboard's database: SQLite with a synchronous driver.
//
// A file has one writer at a time. This process has one connection for writing. Each read-only
// transaction has its own connection, so it sees one state from its first read to its end.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import Libsql from "libsql";

/** How long a statement waits while another process or thread writes. It blocks this thread. */
const BUSY_MILLISECONDS = 5_000;

/** @typedef {string | number | null | Buffer} Value */

export class Connection {
  /** @type {Map<string, any>} */
  #statements = new Map();
  #connection;

  /** @param {string} file */
  constructor(file) {
    this.#connection = new Libsql(file);
    this.#connection.pragma("journal_mode = WAL");
    // A commit survives a power cut once it is answered.
    this.#connection.pragma("synchronous = FULL");
    this.#connection.pragma("foreign_keys = ON");
    this.#connection.pragma(`busy_timeout = ${BUSY_MILLISECONDS}`);
  }

  /** @param {string} sql */
  #prepare(sql) {
    let statement = this.#statements.get(sql);
    if (!statement) {
      statement = this.#connection.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  /**
   * The first row, or undefined.
   * @param {string} sql
   * @param {Value[]} values
   * @returns {any}
   */
  first(sql, ...values) {
    return this.#prepare(sql).get(values);
  }

  /**
   * @param {string} sql
   * @param {Value[]} values
   * @returns {any[]}
   */
  all(sql, ...values) {
    return this.#prepare(sql).all(values);
  }

  /**
   * One row after the other.
   * @param {string} sql
   * @param {Value[]} values
   * @returns {Iterable<any>}
   */
  iterate(sql, ...values) {
    const rows = this.#prepare(sql).iterate(values);
    // A loop that stops early calls this, and libsql's iterator has none: the statement would stay open, and
    // later transactions of this connection would see the state that it sees.
    rows.return = () => {
      // Its types do not have this function.
      /** @type {any} */ (this.#connection).interrupt();
      try {
        // At most the hundred rows that libsql has read ahead.
        while (!rows.next().done);
      } catch (/** @type {any} */ error) {
        if (error.code !== "SQLITE_INTERRUPT") throw error;
      }
      return { done: true, value: undefined };
    };
    return rows;
  }

  /**
   * How many rows a statement changed.
   * @param {string} sql
   * @param {Value[]} values
   * @returns {number}
   */
  run(sql, ...values) {
    return this.#prepare(sql).run(values).changes;
  }

  /** @param {string} script */
  execute(script) {
    this.#connection.exec(script);
  }

  close() {
    this.#connection.close();
  }
}

/** Creates missing tables of the dashboard. @param {string} file */
export function createTables(file) {
  const connection = new Connection(file);
  connection.execute(readFileSync(new URL("schema.sql", import.meta.url), "utf8"));
  connection.close();
}

export class Database {
  /** @type {Connection[]} */
  #idle = [];
  #file;
  /** The connection for writing and for the dashboard's own statements. */
  writer;
  /** Whether a write transaction is open. */
  writing = false;

  /** @param {string} file with its tables */
  constructor(file) {
    this.#file = file;
    this.writer = new Connection(file);
  }

  /** A connection for a read-only transaction. Give it back afterwards. */
  takeReader() {
    return this.#idle.pop() ?? new Connection(this.#file);
  }

  /** @param {Connection} reader */
  giveBack(reader) {
    this.#idle.push(reader);
  }

  /**
   * Runs the dashboard's own work in a write transaction.
   * @template T
   * @param {(db: Connection) => T} work
   * @returns {T}
   */
  write(work) {
    this.writer.run("BEGIN IMMEDIATE");
    try {
      const result = work(this.writer);
      this.writer.run("COMMIT");
      return result;
    } catch (error) {
      this.writer.run("ROLLBACK");
      throw error;
    }
  }
}

/** The hash that is stored for a secret. @param {string} secret */
export const hash = (secret) => createHash("sha256").update(secret).digest();
