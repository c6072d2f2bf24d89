// An instance of the component, which serves one call at a time. Between calls its memory and its mutable globals are put
// back to what they were after it was made, so nothing of a call is left to the next one. (The build refuses modules with
// other state: build/metering.js.) An instance that trapped, grew, or still holds a transaction is discarded.

import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { PorticoError, refused } from "./errors.js";
import { after, isPromise } from "./running.js";

const GENERATED = new URL("../generated/", import.meta.url);
/** Of one call, in bytes. */
const LONGEST_RANDOM = 65_536;
const COUNTER = "portico:counter";
/** How often a call may begin a function or a loop, or copy 64 bytes: at most about 1 s of processor time. */
export const FEW_STEPS = 400_000_000;
/** The same where it delays no other: at most about 5 s. */
export const MANY_STEPS = 2_000_000_000;

/** The most text that a call copies out of the sandbox, in bytes, and what each text costs besides. */
const MOST_TEXT = 256 * 1024 * 1024;
const TEXT_COST = 64;

/** @type {Map<string, WebAssembly.Module>} */
const modules = new Map();

/** @param {URL} file */
function coreModule(file) {
  let module = modules.get(file.href);
  if (!module) {
    module = new WebAssembly.Module(readFileSync(file));
    modules.set(file.href, module);
  }
  return module;
}

/**
 * What makes instances: of the rules, or of the rules with the ready storage.
 * @param {"rules" | "ready"} file
 * @param {"sync" | "jspi"} build
 */
export async function load(file, build) {
  const folder = new URL(`${file}/`, GENERATED);
  const { instantiate } = await import(new URL(`${build}.js`, folder).href);
  const getCoreModule = (/** @type {string} */ name) => coreModule(new URL(name, folder));
  const make = (/** @type {object} */ imports, /** @type {WebAssembly.Instance[]} */ cores) =>
    instantiate(getCoreModule, imports, (/** @type {WebAssembly.Module} */ module, /** @type {WebAssembly.Imports} */ given) => {
      const core = new WebAssembly.Instance(module, given);
      cores.push(core);
      return core;
    });
  return { file, make };
}

/** Interfaces whose functions do not get who calls. */
const WITHOUT_CALLER = ["names", "procedures", "people"];

/**
 * @typedef {{ on: string, name: string, values: any[] }} Invocation a function of the component, with the values that follow
 *   the caller
 */

export class Instance {
  /** Whether it may serve another call. */
  isClean = true;
  /** @type {any} */
  #running;
  #exports;
  /** @type {{ memory: WebAssembly.Memory, fresh: Uint8Array }[]} */
  #memories = [];
  /** @type {{ global: WebAssembly.Global, fresh: any }[]} */
  #globals = [];
  /** @type {WebAssembly.Global[]} */
  #counters = [];
  #steps;
  /** What the texts of the call cost until now. */
  #text = 0;
  /** @type {WebAssembly.Instance[]} */
  #cores;

  /**
   * @param {Awaited<ReturnType<typeof load>>} loaded
   * @param {{ imports: (instance: Instance) => object }} own what the dashboard implements (plugs.js)
   * @param {number} steps of a call
   */
  constructor({ make }, own, steps) {
    this.#steps = steps;
    /** @type {WebAssembly.Instance[]} */
    const cores = [];
    this.#exports = make({ ...this.#imports(), ...own.imports(this), decoder: (/** @type {string} */ form) => this.#decoder(form) }, cores);
    for (const { exports } of cores) {
      const counter = exports[COUNTER];
      if (counter) this.#counters.push(/** @type {WebAssembly.Global} */ (counter));
    }
    this.#cores = cores;
  }

  /**
   * An instance that is ready for calls, now or later. The ready storage prepares its statements at the first call: that
   * one is made before, for no caller, so its result is there in every call.
   * @param {Awaited<ReturnType<typeof load>>} loaded
   * @param {{ imports: (instance: Instance) => object, first?: { running: any, invocation: Invocation } }} own
   * @param {number} steps
   * @returns {Instance | Promise<Instance>}
   */
  static make(loaded, own, steps) {
    const instance = new Instance(loaded, own, steps);
    const ready = () => {
      // A call that failed may have left anything behind.
      const made = instance.isClean ? instance : new Instance(loaded, own, steps);
      made.#note();
      return made;
    };
    if (!own.first) return ready();
    const { running, invocation } = own.first;
    try {
      const result = instance.run(running, { context: "" }, invocation);
      return isPromise(result) ? result.then(ready, ready) : ready();
    } catch {
      return ready();
    }
  }

  /** Notes what is put back after each call. */
  #note() {
    for (const { exports } of this.#cores) {
      for (const [name, value] of Object.entries(exports)) {
        if (name.startsWith("portico:global:")) {
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
   * @param {any} caller who calls: the user, and the context that storage knows them by
   * @param {Invocation} invocation
   * @returns {any}
   */
  run(running, caller, { on, name, values }) {
    this.#running = running;
    this.#text = 0;
    for (const counter of this.#counters) counter.value = this.#steps;
    const first = WITHOUT_CALLER.includes(on) ? [] : [on === "signIn" ? caller.context : caller];
    const done = (/** @type {any} */ result) => this.#finish(running, undefined, result);
    const failed = (/** @type {unknown} */ error) => this.#finish(running, error ?? new Error("thrown"), undefined);
    let result;
    try {
      result = this.#exports[on][name](...first, ...values);
    } catch (error) {
      return failed(error);
    }
    return isPromise(result) ? result.then(done, failed) : done(result);
  }

  /** @param {any} running @param {any} error @param {any} result */
  #finish(running, error, result) {
    this.#running = undefined;
    const isRefusal = typeof error?.payload?.code?.tag === "string";
    this.isClean &&= (error === undefined || isRefusal) && !running?.fault && !(running?.held > 0);
    const spent = this.#counters.some((counter) => counter.value < 0);
    // Also when it is discarded: a transaction that a trap left open ends here.
    return after(running?.finish(), () => {
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

  /** The call that runs. */
  get running() {
    if (this.#running) return this.#running;
    throw new PorticoError("internal", "The component reached out without a call");
  }

  /** @param {string} [form] */
  #decoder(form) {
    const decoder = new TextDecoder(form);
    const decode = (/** @type {ArrayBufferView} */ bytes) => {
      this.#text += TEXT_COST + bytes.byteLength;
      if (this.#text > MOST_TEXT) throw new PorticoError("internal", "The component returns too much text");
      return decoder.decode(bytes);
    };
    return { decode };
  }

  #imports() {
    const host = () => this.running;
    return {
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
