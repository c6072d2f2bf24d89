// A call while it runs: what it may ask of the dashboard's storage and icons, and in which order. Storage may be
// synchronous or not; `after` joins both. Nothing of the dashboard's own faults reaches the component: they end the call.

import { setTimeout as sleep } from "node:timers/promises";
import { Collisions } from "./collisions.js";
import { isRetry, PorticoError, StorageError } from "./errors.js";
import { ICON, ICONS, SURROUNDINGS } from "./records.js";

/** How many messages of a call are logged, and their greatest length. */
const MESSAGES = 20;
const MESSAGE_LENGTH = 2_000;
/** A call with more text for the log than this ends. */
const MOST_LOGGED = 4 * 1024 * 1024;

/** @typedef {import("./records.js").Check} Check */

/** @param {any} value */
export const isPromise = (value) => typeof value?.then === "function";
/** Goes on with a value now, or when it is there. @param {any} value @param {(value: any) => any} next */
export const after = (value, next) => (isPromise(value) ? value.then(next) : next(value));

/** The call collided on a thread that must not wait. It starts again where it may. */
export class Collided extends Error {}

export class Running {
  /** What the dashboard did wrong. The call ends with it, whatever the component returns. @type {PorticoError | undefined} */
  fault;
  /** Transactions that the component still holds. */
  held = 0;
  /** Whether a thread runs the component: then that one waits, and this one does not. */
  isElsewhere = false;
  /** @type {{ of: any, access: string, failed: boolean, isOver: boolean } | undefined} */
  #transaction;
  #collided = false;
  #hasCommitted = false;
  #hasEnded = false;
  #messages = 0;
  #logged = 0;
  /** @type {Promise<void> | undefined} */
  #rollback;
  #collisions;
  #surroundings;
  #caller;
  #deadline;

  /**
   * @param {import("./portico.js").Surroundings} surroundings
   * @param {any} caller as the dashboard gave it
   * @param {{ waits: boolean, milliseconds: number }} limits whether the call may wait after a collision; how long it lasts
   */
  constructor(surroundings, caller, { waits, milliseconds }) {
    this.#surroundings = surroundings;
    this.#caller = caller;
    this.waits = waits;
    this.milliseconds = milliseconds;
    this.#deadline = performance.now() + milliseconds;
    this.#collisions = new Collisions(surroundings.random);
  }

  /** Begins a transaction. @param {string} access @param {string[]} [opening] what begins it, for the ready storage */
  begin(access, opening) {
    this.#check();
    if (this.#transaction && !this.#transaction.isOver) throw StorageError.unavailable("a call has a transaction open already");
    if (this.#collided && !this.waits && !this.#hasCommitted) throw this.#end(new Collided());
    // A rollback that has not ended yet holds what this one needs.
    const ready = after(this.#rollback, () => (this.#collided ? this.#wait() : undefined));
    return after(ready, () => {
      this.#collided = false;
      this.#check();
      return this.#guard("begin", () => {
        const begun = this.#surroundings.plug.begin(access, this.#caller, opening);
        return after(begun, (of) => this.#adopt(of, access));
      });
    });
  }

  /** Takes a transaction that has begun; rolls it back if the call no longer waits for it. @param {any} of @param {string} access */
  #adopt(of, access) {
    if (typeof of !== "object" || of === null) throw this.#blame("begin", "returned no transaction");
    this.#transaction = { of, access, failed: false, isOver: false };
    if (this.fault || this.#hasEnded) return void this.drop();
    this.held++;
  }

  /** Calls a function of the transaction. @param {string} name @param {any[]} values */
  operate(name, values) {
    this.#check();
    const transaction = this.#open();
    if (typeof transaction.of[name] !== "function") throw this.#blame(name, "is not a function of the transaction");
    const result = this.#guard(name, () => transaction.of[name](...values));
    return after(result, (value) => this.#checked(name, value, this.#surroundings.plug.results[name]));
  }

  /** Runs one statement outside a transaction, for the ready storage. @param {string} sql @param {any[]} values */
  lookUp(sql, values) {
    this.#check();
    return this.#guard("lookUp", () => this.#surroundings.plug.lookUp?.(sql, values));
  }

  /** Asks what surrounds users and apps, for the ready storage. @param {string} name @param {any[]} values */
  surrounding(name, values) {
    this.#check();
    const full = `surroundings.${name}`;
    const result = this.#guard(full, () => /** @type {any} */ (this.#surroundings.surroundings)[name](...values));
    return after(result, (value) => this.#checked(full, value, SURROUNDINGS[name]));
  }

  commit() {
    this.#check();
    const transaction = this.#open();
    const done = () => {
      transaction.isOver = true;
      this.#hasCommitted ||= transaction.access === "write";
    };
    // The component has given the transaction away: what failed ends here.
    const failed = (/** @type {unknown} */ error) => {
      this.drop();
      throw error;
    };
    try {
      const committed = this.#guard("commit", () => transaction.of.commit());
      return isPromise(committed) ? committed.then(done, failed) : done();
    } catch (error) {
      return failed(error);
    }
  }

  /** The call ends: rolls back what is open, and what is about to begin as soon as it has. Never throws. */
  finish() {
    this.#hasEnded = true;
    return this.drop();
  }

  /** Rolls back what is open. Never throws. */
  drop() {
    const transaction = this.#transaction;
    if (!transaction || transaction.isOver) return this.#rollback;
    transaction.isOver = true;
    const report = (/** @type {unknown} */ error) => this.#surroundings.log("error", `${this.#fullName("rollback")} failed: ${error}`);
    try {
      const rolledBack = transaction.of.rollback();
      if (isPromise(rolledBack)) this.#rollback = this.#bounded("rollback", rolledBack).catch(report);
    } catch (error) {
      report(error);
    }
    return this.#rollback;
  }

  /** Whether nothing else may run in this thread: a transaction of a synchronous storage is open. */
  get holdsThread() {
    const transaction = this.#transaction;
    return !this.#surroundings.isAsynchronous && transaction !== undefined && !transaction.isOver && transaction.access !== "lookup";
  }

  /** @param {string[]} names */
  findIcons(names) {
    this.#check();
    const { icons } = this.#surroundings;
    const found = this.#guard("icons.find", () => icons.find(names));
    return after(found, (value) => {
      if (Array.isArray(value) && value.length === names.length) return this.#checked("icons.find", value, ICONS);
      throw this.#blame("icons.find", "returned not as many as there are names");
    });
  }

  defaultIcon() {
    this.#check();
    const icon = this.#guard("icons.defaultIcon", () => this.#surroundings.icons.defaultIcon());
    return after(icon, (value) => this.#checked("icons.defaultIcon", value, ICON));
  }

  /** @param {string} level @param {string} message */
  log(level, message) {
    this.#check();
    this.#logged += message.length;
    if (this.#logged > MOST_LOGGED) throw this.#end(new PorticoError("internal", "The component logs too much"));
    if (this.#messages++ < MESSAGES) this.#surroundings.log(level, message.slice(0, MESSAGE_LENGTH));
  }

  /** Ends the call because of a fault. @template {Error} T @param {T} fault @returns {T} */
  #end(fault) {
    this.fault ??= /** @type {any} */ (fault);
    return fault;
  }

  #open() {
    const transaction = this.#transaction;
    if (!transaction || transaction.isOver) throw StorageError.unavailable("this transaction is over");
    if (transaction.failed) throw StorageError.unavailable("a call in this transaction failed before");
    return transaction;
  }

  #check() {
    if (this.fault) throw this.fault;
    if (this.#hasEnded) throw new PorticoError("internal", "The call is over");
    if (performance.now() > this.#deadline) {
      throw this.#end(new PorticoError("internal", `The call was stopped after ${this.milliseconds} ms`));
    }
  }

  #wait() {
    const milliseconds = this.#collisions.next();
    return this.#surroundings.isAsynchronous || this.isElsewhere ? sleep(milliseconds) : blockFor(milliseconds);
  }

  /** @param {string} name */
  #fullName(name) {
    return name.includes(".") ? name : `${this.#surroundings.plug.name}.${name}`;
  }

  /** @param {string} name @param {string} what @param {unknown} [cause] */
  #blame(name, what, cause) {
    if (this.#transaction) this.#transaction.failed = true;
    return this.#end(new PorticoError("internal", `${this.#fullName(name)} ${what}`, { cause }));
  }

  /** What a function of the dashboard returned, if it has the right form. @param {string} name @param {any} value @param {Check} check */
  #checked(name, value, check) {
    try {
      return check(value, "");
    } catch (error) {
      throw this.#blame(name, /** @type {Error} */ (error).message, error);
    }
  }

  /** Runs a function of the dashboard. @param {string} name @param {() => any} work */
  #guard(name, work) {
    const failed = (/** @type {any} */ error) => {
      if (this.fault) return this.fault;
      if (this.#transaction) this.#transaction.failed = true;
      if (!(error instanceof StorageError)) return this.#blame(name, `threw: ${error?.message ?? error}`, error);
      this.#collided ||= isRetry(error);
      return error;
    };
    let value;
    try {
      value = work();
    } catch (error) {
      throw failed(error);
    }
    if (!isPromise(value)) return value;
    const mayWait = this.#surroundings.isAsynchronous || (this.isElsewhere && name.startsWith("icons."));
    if (!mayWait) {
      value.then(undefined, () => {});
      const instead = name.startsWith("surroundings.")
        ? "over SQLite it has to return its result"
        : "return promises from all functions of storage, or from none";
      throw this.#blame(name, `returned a promise, and others do not: ${instead}`);
    }
    return this.#bounded(name, value).catch((error) => {
      throw failed(error);
    });
  }

  /** @param {string} name @param {Promise<any>} promise */
  async #bounded(name, promise) {
    const { operationMilliseconds } = this.#surroundings;
    /** @type {NodeJS.Timeout | undefined} */
    let timer;
    const late = new Promise((_, reject) => {
      const give = () => {
        reject(this.#end(new PorticoError("unavailable", `${this.#fullName(name)} did not settle within ${operationMilliseconds} ms`)));
      };
      timer = setTimeout(give, operationMilliseconds);
    });
    try {
      return await Promise.race([promise, late]);
    } finally {
      clearTimeout(timer);
    }
  }
}

const sleeper = new Int32Array(new SharedArrayBuffer(4));
/** @param {number} milliseconds */
const blockFor = (milliseconds) => void Atomics.wait(sleeper, 0, 0, milliseconds);
