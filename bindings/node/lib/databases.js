// The databases that carry the ready storage (`portico:sql/database`): what runs its statements over each driver.

import { StorageError } from "./errors.js";

/** The most bytes of text in the rows of a statement. */
const LARGEST = 100_000_000;
/** How much later than the call a statement is given up, and how long a ROLLBACK may take. */
const GRACE_MILLISECONDS = 500;
const ROLLBACK_MILLISECONDS = 2_000;
/** The longest time that a timer has. */
export const LONGEST = 2 ** 31 - 1;

/**
 * What a driver has to do.
 * @typedef {{
 *   dialect: "sqlite" | "postgresql",
 *   isAsynchronous: boolean,
 *   lookUp: (sql: string, values: any[]) => any,
 *   begin: (access: string, opening: string[]) => any,
 * }} Database
 */

/**
 * @param {any} database a connection of better-sqlite3, libsql or node:sqlite, or a Pool of pg
 * @param {number} milliseconds how long a call waits for a statement, where it waits
 * @returns {Database}
 */
export function databaseOf(database, milliseconds) {
  if (typeof database?.connect === "function" && typeof database.query === "function") return postgresql(database, milliseconds);
  if (typeof database?.prepare === "function" && typeof database.exec === "function") return sqlite(database);
  throw new TypeError("Portico.open takes a connection of better-sqlite3, libsql or node:sqlite, or a Pool of pg as { database }");
}

/** A text, a number, bytes or NULL of a row. @param {any} value */
function cell(value) {
  switch (typeof value) {
    case "string":
      return { tag: "text", val: value };
    case "bigint":
      return { tag: "number", val: value };
    case "number":
      return { tag: "number", val: BigInt(value) };
    case "boolean":
      return { tag: "truth", val: value };
  }
  return value === null || value === undefined ? { tag: "null" } : { tag: "bytes", val: value };
}

/** Rows as cells, unless they have too much text. @param {Iterable<any[]>} rows */
function cells(rows) {
  let bytes = 0;
  const found = [];
  for (const row of rows) {
    for (const value of row) {
      if (typeof value === "string") bytes += Buffer.byteLength(value);
      else if (value instanceof Uint8Array) bytes += value.length;
    }
    // Reads on, because not every driver can leave a statement in the middle.
    if (bytes <= LARGEST) found.push(row.map(cell));
  }
  if (bytes > LARGEST) throw StorageError.tooLarge();
  return found;
}

/** @param {any} error @returns {StorageError} */
function refusalOfSqlite(error) {
  if (error instanceof StorageError) return error;
  // node:sqlite has the number of the error, the others its name.
  const { message = "", code = "", errcode = 0 } = error;
  if (/^SQLITE_(BUSY|LOCKED)/.test(code) || [5, 6].includes(errcode & 0xff)) return StorageError.retry();
  const [, unique] = message.match(/UNIQUE constraint failed: (.*)$/) ?? [];
  if (unique) return new StorageError({ tag: "unique", val: unique });
  if (code === "SQLITE_CONSTRAINT_FOREIGNKEY" || errcode === 787 || message.includes("FOREIGN KEY constraint failed")) {
    return new StorageError({ tag: "reference" });
  }
  return StorageError.unavailable(`${errcode || code} ${message}`);
}

/** SQLite, on one connection. @param {any} connection @returns {Database} */
function sqlite(connection) {
  /** @type {Map<string, any>} */
  const statements = new Map();
  // node:sqlite has functions of other names.
  const prepare = (/** @type {string} */ sql) => {
    let statement = statements.get(sql);
    if (!statement) {
      statement = connection.prepare(sql);
      if (statement.setReadBigInts) statement.setReadBigInts(true);
      else statement.safeIntegers(true);
      statements.set(sql, statement);
    }
    return statement;
  };
  // node:sqlite takes them in their order, the others by name: `?1` is named 1.
  const isBuiltIn = "isTransaction" in connection;
  const bound = (/** @type {any[]} */ values) => {
    const plain = values.map(({ val }) => val ?? null);
    if (isBuiltIn || plain.length === 0) return plain;
    return [Object.fromEntries(plain.map((value, index) => [index + 1, value]))];
  };
  const rows = (/** @type {string} */ sql, /** @type {any[]} */ values) => {
    const statement = prepare(sql);
    if (statement.setReturnArrays) statement.setReturnArrays(true);
    else statement.raw(true);
    return cells(statement.iterate(...bound(values)));
  };
  const guarded = (/** @type {() => any} */ work) => {
    try {
      return work();
    } catch (error) {
      throw refusalOfSqlite(error);
    }
  };
  return {
    dialect: "sqlite",
    isAsynchronous: false,
    lookUp: (sql, values) => guarded(() => rows(sql, values)),
    begin(_, opening) {
      // The dashboard has a transaction of its own open: as if another one won.
      if (connection.inTransaction || connection.isTransaction) throw StorageError.retry();
      guarded(() => opening.forEach((sql) => connection.exec(sql)));
      return {
        query: (/** @type {string} */ sql, /** @type {any[]} */ values) => guarded(() => rows(sql, values)),
        execute: (/** @type {string} */ sql, /** @type {any[]} */ values) =>
          guarded(() => {
            const statement = prepare(sql);
            // better-sqlite3 and libsql run no statement that returns rows.
            if (statement.reader) return BigInt([...statement.iterate(...bound(values))].length);
            return BigInt(statement.run(...bound(values)).changes);
          }),
        commit: () => guarded(() => connection.exec("COMMIT")),
        rollback: () => {
          const isOpen = connection.inTransaction ?? connection.isTransaction ?? true;
          if (isOpen) connection.exec("ROLLBACK");
        },
      };
    },
  };
}

/** @param {any} error @returns {StorageError} */
function refusalOfPostgresql(error) {
  if (error instanceof StorageError) return error;
  const { code = "", constraint = "", message = String(error) } = error;
  if (["40001", "40P01", "55P03"].includes(code)) return StorageError.retry();
  if (code === "23505") return new StorageError({ tag: "unique", val: constraint });
  if (code === "23503") return new StorageError({ tag: "reference" });
  // The detail of an error may have values; the message has none of a statement's.
  return StorageError.unavailable(`${code} ${message}`.trim());
}

/** A connection that breaks while it is in use also reports it as an event, which would end the process if no one listened. */
const ignore = () => {};

/**
 * PostgreSQL, on connections of a pool. One whose server stops responding is closed, and not kept from other calls: pg gives
 * a statement up (`query_timeout`) after the call has, which names what it waited for.
 * @param {any} pool
 * @param {number} milliseconds
 * @returns {Database}
 */
function postgresql(pool, milliseconds) {
  const patience = { query_timeout: Math.min(milliseconds + GRACE_MILLISECONDS, LONGEST) };
  const impatience = { query_timeout: Math.min(milliseconds, ROLLBACK_MILLISECONDS) };
  const query = async (/** @type {any} */ client, /** @type {string} */ text, /** @type {any[]} */ values) => {
    const plain = values.map(({ val }) => (typeof val === "bigint" ? String(val) : (val ?? null)));
    try {
      return await client.query({ text, values: plain, rowMode: "array", ...patience });
    } catch (error) {
      throw refusalOfPostgresql(error);
    }
  };
  return {
    dialect: "postgresql",
    isAsynchronous: true,
    lookUp: async (sql, values) => cells((await query(pool, sql, values)).rows),
    async begin(_, opening) {
      /** @type {any} */
      let client;
      const release = (/** @type {boolean} */ isBroken) => {
        client?.off("error", ignore);
        client?.release(isBroken);
      };
      try {
        client = await pool.connect();
        client.on("error", ignore);
        await client.query({ text: opening.join("; "), ...patience });
      } catch (error) {
        release(true);
        throw refusalOfPostgresql(error);
      }
      let isOver = false;
      return {
        query: async (/** @type {string} */ sql, /** @type {any[]} */ values) => cells((await query(client, sql, values)).rows),
        execute: async (/** @type {string} */ sql, /** @type {any[]} */ values) => BigInt((await query(client, sql, values)).rowCount ?? 0),
        async commit() {
          isOver = true;
          try {
            const { command } = await client.query({ text: "COMMIT", ...patience });
            if (command !== "COMMIT") throw new Error(`the commit ended in ${command}`);
          } catch (error) {
            release(true);
            throw refusalOfPostgresql(error);
          }
          release(false);
        },
        async rollback() {
          if (isOver) return;
          isOver = true;
          try {
            // It may be behind a statement that never ends.
            await client.query({ text: "ROLLBACK", ...impatience });
            release(false);
          } catch {
            // Closing the connection rolls back, too.
            release(true);
          }
        },
      };
    },
  };
}
