// Portico in a dashboard: its functions, its router, and where each call runs.
//
// Calls run in this thread, with a synchronous storage one after the other, with an asynchronous one interleaved (JSPI, Node
// 24). Calls that hash a password or grow with the data run in threads (workers.js), which also serve asynchronous storages
// where there is no JSPI.

import { handler } from "./http.js";
import { FEW_STEPS, Instance, load } from "./instance.js";
import { Pool } from "./pool.js";
import { PorticoError } from "./errors.js";
import { invocationOf, camel, plain, procedures } from "./procedures.js";
import { routerOf } from "./router.js";
import { after, Collided, isPromise, Running } from "./running.js";
import { Thread } from "./workers.js";

/**
 * @typedef {{
 *   storage: { begin: (access: string, caller: any) => any },
 *   icons: { find: (names: string[]) => any, defaultIcon: () => any },
 *   log: (level: string, message: string) => void,
 *   random: () => number,
 *   isAsynchronous: boolean,
 *   operationMilliseconds: number,
 * }} Surroundings what a call may reach
 */

const DEFAULTS = {
  icons: { find: (/** @type {string[]} */ names) => names.map(() => undefined), defaultIcon: () => "/favicon.ico" },
  log: (/** @type {string} */ level, /** @type {string} */ message) => console.error(`[portico] ${level}: ${JSON.stringify(message)}`),
  random: Math.random,
  callMilliseconds: 10_000,
  operationMilliseconds: 10_000,
  threads: 2,
  instances: 32,
  waiting: 1_000,
};
/** How long a call may go on that this thread waits for. */
const MAIN_MILLISECONDS = 1_000;
const OPTIONS = new Set(["storage", ...Object.keys(DEFAULTS)]);

/** The kinds of calls of the component that no row of the table describes. @type {Record<string, string>} */
const SIGN_IN = { password: "hash", external: "small" };

export class Portico {
  /** @type {Surroundings} */
  #surroundings;
  #limits;
  /** Instances in this thread. @type {Pool<Instance> | undefined} */
  #instances;
  /** @type {Pool<Thread>} */
  #threads;
  /** @type {Map<string, any>} */
  #described;
  #isOpen = true;
  #router;

  /**
   * @param {Surroundings} surroundings
   * @param {typeof DEFAULTS} limits
   * @param {Awaited<ReturnType<typeof load>> | undefined} instantiate in this thread
   * @param {any[]} described
   */
  constructor(surroundings, limits, instantiate, described) {
    const { instances, threads, waiting } = limits;
    this.#surroundings = surroundings;
    this.#limits = limits;
    this.#instances = instantiate && new Pool(() => new Instance(instantiate, FEW_STEPS), { most: instances, waiting });
    this.#threads = new Pool(() => new Thread(), { most: threads, waiting });
    this.#described = new Map(described.map((procedure) => [procedure.name, procedure]));

    /** @type {any} */
    this.users = {};
    /** @type {any} */
    this.apps = {};
    for (const procedure of procedures.values()) {
      const { name, interface: of, function: member } = procedure;
      /** @type {any} */ (this)[of][camel(member)] = async (/** @type {any} */ caller, /** @type {any[]} */ ...values) =>
        reply(await this.#call(name, caller, invocationOf(procedure, values)));
    }
    this.signIn = {
      password: async (/** @type {any} */ caller, /** @type {string} */ username, /** @type {string} */ password) => {
        for (const [field, value] of Object.entries({ username, password })) {
          if (typeof value !== "string" || !value.isWellFormed()) {
            throw new PorticoError("bad-request", "The input breaks rules", { issues: [{ path: [field], message: "must be a text" }] });
          }
        }
        return signedIn(await this.#call("password", caller, { on: "signIn", name: "password", values: [username, password] }));
      },
      external: async (/** @type {any} */ caller, /** @type {any} */ identity, /** @type {string} */ linking = "off") =>
        signedIn(await this.#call("external", caller, { on: "signIn", name: "external", values: [none(identity), linking] })),
    };
    this.names = {
      /** @param {string[]} names */
      keys: (names) => this.#inThread({}, { on: "names", name: "keys", values: [names] }),
    };
    this.#router = routerOf({
      described,
      run: (caller, name, invocation) => this.#call(name, caller, invocation),
      hasUsers: () => this.#hasUsers(),
      log: surroundings.log,
    });
  }

  /** @param {any} options */
  static async open(options) {
    const unknown = Object.keys(options).filter((key) => !OPTIONS.has(key));
    if (unknown.length > 0) throw new TypeError(`Portico.open knows no option ${unknown.join(", ")}`);
    const { storage, icons, log, random, ...limits } = { ...DEFAULTS, ...options };
    if (typeof storage?.begin !== "function") throw new TypeError("Portico.open needs { storage } with a function begin");
    const surroundings = { storage, icons, log, random, isAsynchronous: false, operationMilliseconds: limits.operationMilliseconds };
    surroundings.isAsynchronous = await isAsynchronous(surroundings);
    const hasJspi = "Suspending" in WebAssembly;
    const build = surroundings.isAsynchronous ? hasJspi && "jspi" : "sync";
    const describing = new Instance(await load("sync"), FEW_STEPS);
    const described = describing.run(undefined, undefined, { on: "procedures", name: "describe", values: [] });
    return new Portico(surroundings, limits, build ? await load(build) : undefined, described);
  }

  /** The procedures as a tRPC router, whose context has the `caller`: to merge with yours. */
  get router() {
    return this.#router;
  }

  /** Serves the procedures over HTTP. @param {any} options */
  trpc(options) {
    return handler(this.#router, options);
  }

  /** Ends the threads. Calls after this are refused. */
  async close() {
    this.#isOpen = false;
    await Promise.all(this.#threads.drain().map((thread) => thread.end()));
  }

  /** @param {string} name @param {any} caller @param {import("./instance.js").Invocation} invocation */
  async #call(name, caller, invocation) {
    this.#checkOpen();
    const user = userOf(caller);
    const cost = this.#described.get(name)?.cost ?? SIGN_IN[name];
    // Icons may be asynchronous where storage is not.
    const isSlow = cost !== "small" || (name === "app.createMany" && !this.#surroundings.isAsynchronous);
    if (isSlow || !this.#instances) return this.#inThread(caller, invocation, user);
    try {
      return await this.#here(this.#instances, caller, invocation, user);
    } catch (error) {
      // It has changed nothing yet, and a thread may wait for its turn.
      if (error instanceof Collided) return this.#inThread(caller, invocation, user);
      throw error;
    }
  }

  /** @param {Pool<Instance>} pool @param {any} caller @param {import("./instance.js").Invocation} invocation @param {any} user */
  async #here(pool, caller, invocation, user) {
    const { isAsynchronous } = this.#surroundings;
    const { callMilliseconds } = this.#limits;
    const instance = isAsynchronous ? await pool.take() : pool.takeNow();
    try {
      const running = new Running(this.#surroundings, caller, {
        waits: isAsynchronous,
        milliseconds: isAsynchronous ? callMilliseconds : Math.min(callMilliseconds, MAIN_MILLISECONDS),
      });
      const result = instance.run(running, user, invocation);
      return isPromise(result) ? await result : result;
    } finally {
      pool.giveBack(instance);
    }
  }

  /** @param {any} caller @param {import("./instance.js").Invocation} invocation @param {any} [user] */
  async #inThread(caller, invocation, user) {
    this.#checkOpen();
    const thread = await this.#threads.take();
    try {
      const running = new Running(this.#surroundings, caller, { waits: true, milliseconds: this.#limits.callMilliseconds });
      running.isElsewhere = true;
      return await thread.run(running, user, invocation);
    } finally {
      if (!this.#isOpen) void thread.end();
      this.#threads.giveBack(thread);
    }
  }

  #checkOpen() {
    if (!this.#isOpen) throw new PorticoError("unavailable", "Portico is closed");
  }

  /** Whether there is any user: storage alone knows. */
  async #hasUsers() {
    const running = new Running(this.#surroundings, {}, { waits: true, milliseconds: this.#limits.callMilliseconds });
    return hasUsers(running);
  }
}

/** @param {Running} running @returns {Promise<boolean>} */
async function hasUsers(running) {
  try {
    await running.begin("lookup");
    return await running.operate("hasUsers", []);
  } finally {
    await running.drop();
  }
}

/** Whether the functions of a storage return promises: found by asking whether it has users. @param {Surroundings} surroundings */
async function isAsynchronous(surroundings) {
  let promised = false;
  const noted = (/** @type {any} */ value) => {
    promised ||= isPromise(value);
    return value;
  };
  const asked = {
    begin: (/** @type {string} */ access, /** @type {any} */ caller) =>
      after(noted(surroundings.storage.begin(access, caller)), (transaction) => ({
        hasUsers: () => noted(transaction.hasUsers()),
        rollback: () => noted(transaction.rollback()),
      })),
  };
  await hasUsers(new Running({ ...surroundings, storage: asked, isAsynchronous: true }, {}, { waits: true, milliseconds: 60_000 }));
  return promised;
}

/** The user of a caller, in the contract's form. @param {any} caller */
function userOf(caller) {
  const user = caller?.user;
  if (user === undefined || user === null) return undefined;
  const { id, permissions } = user;
  if (typeof id !== "string" || !Array.isArray(permissions) || !permissions.every((permission) => typeof permission === "string")) {
    throw new TypeError("A caller's user has an id and a list of permissions");
  }
  return { id, permissions };
}

/** @param {any} output */
const reply = (output) => (output === undefined ? undefined : plain(output));
/** @param {any} user */
const signedIn = ({ id, name, passwordVersion }) => ({ id, name, passwordVersion: Number(passwordVersion) });
/** A record whose null fields are none. @param {any} record */
const none = (record) => Object.fromEntries(Object.entries(record).map(([key, value]) => [key, value ?? undefined]));
