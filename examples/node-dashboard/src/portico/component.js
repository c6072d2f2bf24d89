// The component. Its modules are compiled once. An instance serves one call, or the calls of one
// signed-in user, so nothing of one caller's call is visible in another's.

import { readFileSync } from "node:fs";
import { instantiate } from "../../generated/portico.js";
import { Collisions } from "./collisions.js";
import { Contexts } from "./contexts.js";
import { imports, Log } from "./imports.js";
import { isRefusal, isRetry, unavailable } from "./refusals.js";
import { Transaction } from "./storage.js";

/**
 * @import { Root } from "../../generated/portico.js"
 * @import { Caller } from "../../generated/interfaces/portico-dashboard-types.js"
 * @import { Access } from "../../generated/interfaces/portico-dashboard-storage.js"
 * @import { Database } from "../database.js"
 * @import { Call } from "./contexts.js"
 * @import { Surroundings } from "./imports.js"
 */

/** For how many users an instance is kept. Each takes about half a megabyte. */
const KEPT = 200;

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

/** A call while it runs. */
class Running {
  /** @type {Transaction | undefined} */
  transaction;
  /** Whether the last `begin` was refused with `retry`. */
  collided = false;
  collisions = new Collisions();

  /** @param {Call} call */
  constructor(call) {
    this.call = call;
  }
}

/** @type {Contexts<Running>} */
const contexts = new Contexts();

/** An instance and its imports. It serves one call at a time. */
class Instance {
  #log;
  #exports;

  /** @param {Surroundings & { database: Database }} surroundings */
  constructor({ database, icons, log }) {
    this.#log = new Log(log);
    const begin = (/** @type {Access} */ access, /** @type {string} */ context) => {
      const running = contexts.find(context);
      // Portico's component opens one at a time; another component could open thousands.
      if (running.transaction?.isOpen) throw unavailable("a call has a transaction open already");
      if (running.collided || running.transaction?.collided) running.collisions.wait();
      try {
        running.transaction = new Transaction(database, access, running.call.session);
        running.collided = false;
        return running.transaction;
      } catch (error) {
        running.collided = isRetry(error);
        throw error;
      }
    };
    this.#exports = instantiate(coreModule, imports({ Transaction, begin }, icons, this.#log));
  }

  /**
   * @template T
   * @param {Call} call
   * @param {(exports: Root, caller: Caller) => T} work
   * @returns {T}
   */
  run(call, work) {
    this.#log.reset();
    const running = new Running(call);
    const caller = contexts.open(running);
    try {
      return work(this.#exports, caller);
    } finally {
      contexts.close(caller);
      // A call that trapped has not dropped its transaction. After a commit or a drop this does nothing.
      running.transaction?.[Symbol.dispose]();
    }
  }
}

export class Component {
  /** The instances of signed-in users; the last caller is last. @type {Map<string, Instance>} */
  #kept = new Map();
  #surroundings;

  /** @param {Surroundings & { database: Database }} surroundings */
  constructor(surroundings) {
    this.#surroundings = surroundings;
  }

  /**
   * Calls the component in an instance that has served only this user. An anonymous call always gets a
   * fresh one.
   * @template T
   * @param {Call} call
   * @param {(exports: Root, caller: Caller) => T} work
   * @returns {T}
   */
  run(call, work) {
    if (!call.user) return this.runFresh(call, work);

    const { id } = call.user;
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
   * @param {(exports: Root, caller: Caller) => T} work
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
