// An instance of the component, which serves one call at a time. Between calls its memory and its mutable globals are put
// back to what they were after it was made, so nothing of a call is left to the next one. (The build refuses modules with
// other state: build/metering.js.) An instance that trapped, grew, or still holds a transaction is discarded.

import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { PorticoError, refused } from "./errors.js";
import { RESULTS } from "./records.js";
import { after } from "./running.js";

const GENERATED = new URL("../generated/", import.meta.url);
/** Of one call, in bytes. */
const LONGEST_RANDOM = 65_536;
/** How often a call may begin a function or a loop, or copy 64 bytes: at most about 1 s of processor time. */
export const FEW_STEPS = 400_000_000;
/** The same where it delays no other: at most about 5 s. */
export const MANY_STEPS = 2_000_000_000;

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

/** What makes instances. @param {"sync" | "jspi"} build */
export async function load(build) {
  const { instantiate } = await import(new URL(`${build}/portico.js`, GENERATED).href);
  return (/** @type {object} */ imports, /** @type {WebAssembly.Instance[]} */ cores) =>
    instantiate(coreModule, imports, (/** @type {WebAssembly.Module} */ module, /** @type {WebAssembly.Imports} */ given) => {
      const core = new WebAssembly.Instance(module, given);
      cores.push(core);
      return core;
    });
}

/**
 * @typedef {{ on: string, name: string, values: any[] }} Invocation a function of the component, with the values that follow
 *   the caller
 */

export class Instance {
  /** Whether it may serve another call. */
  isClean = true;
  /** @type {any} */
  #running;
  /** The number of the call, which is its context. */
  #call = 0;
  #exports;
  /** @type {{ memory: WebAssembly.Memory, fresh: Uint8Array }[]} */
  #memories = [];
  /** @type {{ global: WebAssembly.Global, fresh: any }[]} */
  #globals = [];
  /** @type {WebAssembly.Global[]} */
  #counters = [];
  #steps;

  /** @param {Awaited<ReturnType<typeof load>>} instantiate @param {number} steps of a call */
  constructor(instantiate, steps) {
    this.#steps = steps;
    /** @type {WebAssembly.Instance[]} */
    const cores = [];
    this.#exports = instantiate(this.#imports(), cores);
    for (const { exports } of cores) {
      for (const [name, value] of Object.entries(exports)) {
        if (name === "portico:counter") this.#counters.push(/** @type {WebAssembly.Global} */ (value));
        else if (name.startsWith("portico:global:")) {
          const global = /** @type {WebAssembly.Global} */ (value);
          this.#globals.push({ global, fresh: global.value });
        } else if (name.startsWith("portico:memory:")) {
          const memory = /** @type {WebAssembly.Memory} */ (value);
          this.#memories.push({ memory, fresh: new Uint8Array(memory.buffer).slice() });
        }
      }
    }
  }

  /**
   * Calls a function of the component. With the build for JSPI this returns a promise.
   * @param {any} running see `Running`; undefined for functions that reach no storage
   * @param {any} user who calls
   * @param {Invocation} invocation
   * @returns {any}
   */
  run(running, user, { on, name, values }) {
    this.#running = running;
    const context = String(++this.#call);
    for (const counter of this.#counters) counter.value = this.#steps;
    const first = on === "names" || on === "procedures" ? [] : [on === "signIn" ? context : { user, context }];
    const done = (/** @type {any} */ result) => this.#finish(running, undefined, result);
    const failed = (/** @type {unknown} */ error) => this.#finish(running, error ?? new Error("thrown"), undefined);
    let result;
    try {
      result = this.#exports[on][name](...first, ...values);
    } catch (error) {
      return failed(error);
    }
    return typeof result?.then === "function" ? result.then(done, failed) : done(result);
  }

  /** @param {any} running @param {any} error @param {any} result */
  #finish(running, error, result) {
    this.#running = undefined;
    const isRefusal = typeof error?.payload?.code?.tag === "string";
    this.isClean &&= (error === undefined || isRefusal) && !running?.fault && !(running?.held > 0);
    const spent = this.#counters.some((counter) => counter.value < 0);
    // Also when it is discarded: a transaction that a trap left open ends here.
    return after(running?.drop(), () => {
      if (running?.fault) throw running.fault;
      if (isRefusal) {
        this.#putBack();
        throw refused(error.payload);
      }
      if (error !== undefined) {
        const message = spent ? "The call took too long" : `The component failed: ${error.message ?? error}`;
        throw new PorticoError("internal", message, { cause: error });
      }
      this.#putBack();
      return result;
    });
  }

  #putBack() {
    for (const { memory, fresh } of this.#memories) {
      const bytes = new Uint8Array(memory.buffer);
      if (bytes.length === fresh.length) bytes.set(fresh);
      else this.isClean = false;
    }
    for (const { global, fresh } of this.#globals) global.value = fresh;
  }

  #imports() {
    const host = () => {
      if (this.#running) return this.#running;
      throw new PorticoError("internal", "The component reached out without a call");
    };
    /** A transaction of the component. What it refers to is the one that is open in the call. */
    class Transaction {
      /** @param {any} running */
      constructor(running) {
        this.running = running;
      }

      /** @param {Transaction} transaction */
      static commit({ running }) {
        running.held--;
        return running.commit();
      }

      [Symbol.for("dispose")]() {
        this.running.held--;
        this.running.drop();
      }
    }
    if (Symbol.dispose) {
      /** @type {any} */ (Transaction.prototype)[Symbol.dispose] = /** @type {any} */ (Transaction.prototype)[Symbol.for("dispose")];
    }
    for (const name of Object.keys(RESULTS)) {
      /** @type {any} */ (Transaction.prototype)[name] = function (/** @type {any[]} */ ...values) {
        return this.running.operate(name, values);
      };
    }
    const begin = (/** @type {string} */ access, /** @type {string} */ context) => {
      const running = host();
      if (context !== String(this.#call)) throw new PorticoError("internal", "The component mixed up its calls");
      return after(running.begin(access), () => new Transaction(running));
    };
    return {
      "portico:dashboard/storage": { Transaction, begin },
      "portico:dashboard/icons": {
        find: (/** @type {string[]} */ names) => host().findIcons(names),
        defaultIcon: () => host().defaultIcon(),
      },
      "portico:dashboard/log": {
        write: (/** @type {string} */ level, /** @type {string} */ text) => host().log(level, text),
      },
      "portico:dashboard/types": {},
      "wasi:clocks/wall-clock": {
        now: () => {
          const milliseconds = Date.now();
          return { seconds: BigInt(Math.floor(milliseconds / 1_000)), nanoseconds: (milliseconds % 1_000) * 1_000_000 };
        },
      },
      "wasi:random/random": {
        getRandomBytes: (/** @type {bigint} */ length) => {
          if (length > LONGEST_RANDOM) throw new PorticoError("internal", "The component wants too many random bytes");
          return randomBytes(Number(length));
        },
      },
    };
  }
}
