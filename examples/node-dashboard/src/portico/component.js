// The component. Its modules are compiled once. An instance serves one call, or the calls of one
// signed-in user, so nothing of one caller's call is visible in another's.

import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { instantiate } from "../../generated/portico.js";
import { Collisions } from "./collisions.js";
import { isRetry, Transaction, unavailable } from "./storage.js";

/**
 * @import { Root, ImportObject } from "../../generated/portico.js"
 * @import { Caller } from "../../generated/interfaces/portico-dashboard-types.js"
 * @import { Database } from "../database.js"
 * @import * as icons from "../../generated/interfaces/portico-dashboard-icons.js"
 * @import * as log from "../../generated/interfaces/portico-dashboard-log.js"
 */

/** For how many users an instance is kept. Each takes about half a megabyte. */
const KEPT = 200;
/** How many messages of a call are logged, and their greatest length. */
const MESSAGES = 20;
const MESSAGE_LENGTH = 2_000;

/** @type {Map<string, WebAssembly.Module>} */
const modules = new Map();

/** @param {string} file */
function coreModule(file) {
  let module = modules.get(file);
  if (!module) {
    module = new WebAssembly.Module(readFileSync(new URL(`../../generated/${file}`, import.meta.url)));
    modules.set(file, module);
  }
  return module;
}

/**
 * The caller, and the session that the call uses.
 * @typedef {{ caller: Caller, session?: string }} Call
 */

/** An instance and its imports. It serves one call at a time. */
class Instance {
  /** @type {Call | undefined} */
  #call;
  #messages = 0;
  /** @type {Transaction | undefined} */
  #transaction;
  #collisions = new Collisions();
  /** Whether the last `begin` was refused with `retry`. */
  #collided = false;
  #exports;

  /** @param {Surroundings} surroundings */
  constructor({ database, icons, log }) {
    const imports = {
      "portico:dashboard/storage": {
        Transaction,
        begin: (/** @type {"read" | "write"} */ access) => {
          // Portico's component opens one at a time; another component could open thousands.
          if (this.#transaction?.isOpen) throw unavailable("a call has a transaction open already");
          if (this.#collided || this.#transaction?.collided) this.#collisions.wait();
          try {
            this.#transaction = new Transaction(database, access, this.#call?.session);
            this.#collided = false;
            return this.#transaction;
          } catch (error) {
            this.#collided = isRetry(error);
            throw error;
          }
        },
      },
      "portico:dashboard/icons": icons,
      "portico:dashboard/log": {
        write: (/** @type {log.Level} */ level, /** @type {string} */ message) => {
          if (this.#messages++ < MESSAGES) log(level, message.slice(0, MESSAGE_LENGTH));
        },
      },
      "portico:dashboard/types": {},
      "wasi:clocks/wall-clock": { now },
      "wasi:random/random": { getRandomBytes: (/** @type {bigint} */ length) => randomBytes(Number(length)) },
    };
    // The type requires names with versions, but the code reads names without.
    this.#exports = instantiate(coreModule, /** @type {any} */ (imports));
  }

  /**
   * @template T
   * @param {Call} call
   * @param {(exports: Root) => T} work
   * @returns {T}
   */
  run(call, work) {
    this.#call = call;
    this.#messages = 0;
    this.#collisions = new Collisions();
    this.#collided = false;
    try {
      return work(this.#exports);
    } finally {
      // A call that trapped has not dropped its transaction. After a commit or a drop this does nothing.
      this.#transaction?.[Symbol.dispose]();
      this.#transaction = undefined;
    }
  }
}

function now() {
  const milliseconds = Date.now();
  return { seconds: BigInt(Math.floor(milliseconds / 1_000)), nanoseconds: (milliseconds % 1_000) * 1_000_000 };
}

/**
 * What the dashboard offers.
 * @typedef {{
 *   database: Database,
 *   icons: typeof icons,
 *   log: (level: log.Level, message: string) => void,
 * }} Surroundings
 */

export class Component {
  /** The instances of signed-in users; the last caller is last. @type {Map<string, Instance>} */
  #kept = new Map();
  #surroundings;

  /** @param {Surroundings} surroundings */
  constructor(surroundings) {
    this.#surroundings = surroundings;
  }

  /**
   * Calls the component in an instance that has served only this user. An anonymous call always gets a
   * fresh one.
   * @template T
   * @param {Call} call
   * @param {(exports: Root) => T} work
   * @returns {T}
   */
  run(call, work) {
    if (call.caller.tag === "anonymous") return this.runFresh(call, work);

    const { id } = call.caller.val;
    const instance = this.#kept.get(id) ?? new Instance(this.#surroundings);
    this.#kept.delete(id);
    try {
      const result = instance.run(call, work);
      this.#keep(id, instance);
      return result;
    } catch (error) {
      // An instance that trapped cannot be called again.
      if (isRefusal(error)) this.#keep(id, instance);
      throw error;
    }
  }

  /**
   * Calls the component in a fresh instance, which is discarded afterwards.
   * @template T
   * @param {Call} call
   * @param {(exports: Root) => T} work
   * @returns {T}
   */
  runFresh(call, work) {
    return new Instance(this.#surroundings).run(call, work);
  }

  /**
   * @param {string} id
   * @param {Instance} instance
   */
  #keep(id, instance) {
    this.#kept.set(id, instance);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > KEPT) this.#kept.delete(oldest);
  }
}

/**
 * Whether the component refused a call (jco puts the error into `payload`). Otherwise it failed.
 * @param {any} error
 * @returns {error is Error & { payload: import("../../generated/interfaces/portico-dashboard-types.js").Error }}
 */
export const isRefusal = (error) => typeof error?.payload?.code === "string";
