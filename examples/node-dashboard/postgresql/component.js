// The component with an asynchronous storage: jco suspends a call while storage works (JSPI, Node 24). An
// instance serves one call at a time: calls overlap, each in an instance of its own. Like the synchronous one
// (../src/portico/component.js), it serves only one call, or calls of one signed-in user.

import { readFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { Collisions } from "../src/portico/collisions.js";
import { Contexts } from "../src/portico/contexts.js";
import { imports, Log } from "../src/portico/imports.js";
import { isRefusal, unavailable } from "../src/portico/refusals.js";
import { Transaction } from "./storage.js";

/**
 * @import { Root } from "../generated/portico.js"
 * @import { Caller } from "../generated/interfaces/portico-dashboard-types.js"
 * @import { Access } from "../generated/interfaces/portico-dashboard-storage.js"
 * @import { Call } from "../src/portico/contexts.js"
 * @import { Surroundings } from "../src/portico/imports.js"
 * @import { Database } from "./database.js"
 */

const GENERATED = new URL("generated/", import.meta.url);
/** The types that jco writes are those of synchronous functions. @type {typeof import("../generated/portico.js")} */
const { instantiate } = await import(new URL("portico.js", GENERATED).href);

/** How many idle instances are kept. Each takes about 0.7 MB. */
const KEPT = 100;

/** @type {Map<string, WebAssembly.Module>} */
const modules = new Map();

/** @param {string} file */
function coreModule(file) {
  let module = modules.get(file);
  if (!module) {
    module = new WebAssembly.Module(readFileSync(new URL(file, GENERATED)));
    modules.set(file, module);
  }
  return module;
}

/** A call while it runs. */
class Running {
  /** @type {Transaction | undefined} */
  transaction;
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
    const begin = async (/** @type {Access} */ access, /** @type {string} */ context) => {
      const running = contexts.find(context);
      const { transaction: last, call, collisions } = running;
      // Portico's component opens one at a time; another component could open thousands.
      if (last?.isOpen) throw unavailable("a call has a transaction open already");
      await last?.rollback();
      if (last?.collided) await setTimeout(collisions.next());
      running.transaction = new Transaction(database, access, call.session);
      return running.transaction;
    };
    this.#exports = instantiate(coreModule, imports({ Transaction, begin }, icons, this.#log));
  }

  /**
   * @template T
   * @param {Call} call
   * @param {(exports: Root, caller: Caller) => T} work
   * @returns {Promise<Awaited<T>>}
   */
  async run(call, work) {
    this.#log.reset();
    const running = new Running(call);
    const caller = contexts.open(running);
    try {
      return await work(this.#exports, caller);
    } finally {
      contexts.close(caller);
      // Drops do not wait, and a call that failed has not dropped its transaction.
      await running.transaction?.rollback();
    }
  }
}

export class Component {
  /** The user of each idle instance; the last one used is last. @type {{ user: string, instance: Instance }[]} */
  #idle = [];
  #surroundings;

  /** @param {Surroundings & { database: Database }} surroundings */
  constructor(surroundings) {
    this.#surroundings = surroundings;
  }

  /**
   * Calls the component in an instance that has served only this user and serves no other call meanwhile.
   * An anonymous call always gets a fresh one.
   * @template T
   * @param {Call} call
   * @param {(exports: Root, caller: Caller) => T} work
   * @returns {Promise<Awaited<T>>}
   */
  async run(call, work) {
    if (!call.user) return this.runFresh(call, work);

    const user = call.user.id;
    const instance = this.#take(user);
    try {
      const result = await instance.run(call, work);
      this.#keep(user, instance);
      return result;
    } catch (error) {
      // After anything else the instance is thrown away: a host function that threw leaves its stack behind.
      if (isRefusal(error)) this.#keep(user, instance);
      throw error;
    }
  }

  /**
   * Calls the component in a fresh instance, which is discarded afterwards.
   * @template T
   * @param {Call} call
   * @param {(exports: Root, caller: Caller) => T} work
   * @returns {Promise<Awaited<T>>}
   */
  async runFresh(call, work) {
    return new Instance(this.#surroundings).run(call, work);
  }

  /** @param {string} user */
  #take(user) {
    const index = this.#idle.findLastIndex((idle) => idle.user === user);
    return index === -1 ? new Instance(this.#surroundings) : this.#idle.splice(index, 1)[0].instance;
  }

  /** @param {string} user @param {Instance} instance */
  #keep(user, instance) {
    this.#idle.push({ user, instance });
    if (this.#idle.length > KEPT) this.#idle.shift();
  }
}
