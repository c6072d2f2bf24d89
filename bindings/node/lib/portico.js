// Portico in a dashboard: its functions, its router, and where each call runs.
//
// Calls run in this thread, with a synchronous storage one after the other, with an asynchronous one interleaved (JSPI, Node
// 24). Calls that hash a password or grow with the data run in threads (workers.js), which also serve asynchronous storages
// where there is no JSPI.

import { databaseOf, LONGEST } from "./databases.js";
import { handler } from "./http.js";
import { FEW_STEPS, Instance, load } from "./instance.js";
import { PorticoError } from "./errors.js";
import { databasePlug, STATEMENTS, storagePlug } from "./plugs.js";
import { Pool } from "./pool.js";
import { invocationOf, camel, plain, procedures } from "./procedures.js";
import { RESULTS } from "./records.js";
import { routerOf } from "./router.js";
import { after, Collided, isPromise, Running } from "./running.js";
import { PEOPLE, sessionsOf } from "./sessions.js";
import { Thread } from "./workers.js";

/**
 * @typedef {{
 *   plug: {
 *     name: string,
 *     begin: (access: string, caller: any, opening?: string[]) => any,
 *     lookUp?: (sql: string, values: any[]) => any,
 *     results: Record<string, (value: any, at: string) => any>,
 *   },
 *   surroundings: typeof DEFAULTS.surroundings,
 *   icons: { find: (names: string[]) => any, defaultIcon: () => any },
 *   log: (level: string, message: string) => void,
 *   random: () => number,
 *   isAsynchronous: boolean,
 *   operationMilliseconds: number,
 * }} Surroundings what a call may reach
 */

const DAY = 86_400_000;
const DEFAULTS = {
  icons: { find: (/** @type {string[]} */ names) => names.map(() => undefined), defaultIcon: () => "/favicon.ico" },
  log: (/** @type {string} */ level, /** @type {string} */ message) => console.error(`[portico] ${level}: ${JSON.stringify(message)}`),
  random: Math.random,
  surroundings: {
    canViewBoard: (/** @type {string} */ _user, /** @type {string} */ _board) => false,
    hasSearchEngine: (/** @type {string} */ _id) => false,
    visibleAppsOf: (/** @type {string | undefined} */ _user) => ({ tag: "all" }),
  },
  prefix: "portico_",
  sessionIdleMilliseconds: 7 * DAY,
  sessionMostMilliseconds: 30 * DAY,
  callMilliseconds: 10_000,
  operationMilliseconds: 10_000,
  threads: 2,
  instances: 32,
  waiting: 1_000,
};
/** How long a call may go on that this thread waits for. */
const MAIN_MILLISECONDS = 1_000;
/** The options that are numbers: from and to. @type {Record<string, [number, number]>} */
const NUMBERS = {
  sessionIdleMilliseconds: [1, Number.MAX_SAFE_INTEGER],
  sessionMostMilliseconds: [1, Number.MAX_SAFE_INTEGER],
  callMilliseconds: [1, LONGEST],
  operationMilliseconds: [1, LONGEST],
  threads: [1, 1_000],
  instances: [1, 1_000],
  waiting: [0, Number.MAX_SAFE_INTEGER],
};
const OPTIONS = new Set(["storage", "database", ...Object.keys(DEFAULTS)]);

/** The parameters of `people` that are numbers of 64 bits. @type {Record<string, number>} */
const LONG = { beginSession: 1, createInvite: 1 };
/** Those of `people` that may return none. */
const MAYBE = new Set(["authenticate", "callerOf", "getPerson"]);

/** What calls cost that no row of the table describes: all others little. @type {Record<string, string>} */
const OTHERS = { password: "hash", migrate: "large", listGroups: "large", listInvites: "large" };

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
  #isReady;
  #router;
  /** For dashboards that authenticate by themselves. */
  #withoutSessions;

  /**
   * @param {Surroundings} surroundings
   * @param {typeof DEFAULTS} limits
   * @param {{ file: "rules" | "ready", configuration?: object, own: any }} component
   * @param {Awaited<ReturnType<typeof load>> | undefined} loaded in this thread
   * @param {any[]} described
   */
  constructor(surroundings, limits, component, loaded, described) {
    const { instances, threads, waiting } = limits;
    this.#surroundings = surroundings;
    this.#limits = limits;
    this.#isReady = component.file === "ready";
    this.#instances = loaded && new Pool(() => Instance.make(loaded, component.own, FEW_STEPS), { most: instances, waiting });
    const { file, configuration } = component;
    this.#threads = new Pool(() => new Thread({ file, configuration }), { most: threads, waiting });
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
      keys: (names) => this.#inThread(undefined, { on: "names", name: "keys", values: [names] }, undefined),
    };
    if (this.#isReady) {
      /** @type {any} */
      this.people = Object.fromEntries(
        PEOPLE.map((name) => {
          const replied = MAYBE.has(name) ? plain : reply;
          return [name, async (/** @type {any[]} */ ...values) => replied(await this.#person(name, values))];
        }),
      );
    }
    const common = {
      described,
      run: (/** @type {any} */ caller, /** @type {string} */ name, /** @type {any} */ invocation) => this.#call(name, caller, invocation),
      hasUsers: () => (this.#isReady ? this.#hasUsersInReadyStorage() : this.#hasUsers()),
      log: surroundings.log,
    };
    this.#router = routerOf({ ...common, sessions: this.#isReady ? this : undefined });
    this.#withoutSessions = this.#isReady ? routerOf(common) : this.#router;
  }

  /** @param {any} options */
  static async open(options) {
    options = { ...DEFAULTS, ...Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) };
    const unknown = Object.keys(options).filter((key) => !OPTIONS.has(key));
    if (unknown.length > 0) throw new TypeError(`Portico.open knows no option ${unknown.join(", ")}`);
    for (const [name, [least, most]] of Object.entries(NUMBERS)) {
      const value = options[name];
      if (!Number.isInteger(value) || value < least || value > most) {
        throw new TypeError(`Portico.open takes a whole number from ${least} to ${most} as ${name}`);
      }
    }
    const { storage, database, icons, log, random, surroundings: given, prefix, ...limits } = options;
    if (Boolean(storage) === Boolean(database) || (storage && typeof storage.begin !== "function")) {
      throw new TypeError("Portico.open needs { database }, or { storage } with a function begin");
    }
    const { operationMilliseconds } = limits;
    const common = { icons, log, random, operationMilliseconds, surroundings: { ...DEFAULTS.surroundings, ...given } };
    if (storage) {
      const begin = (/** @type {string} */ access, /** @type {any} */ caller) => storage.begin(access, caller);
      const plug = { name: "storage", begin, results: RESULTS };
      const isAsync = await isAsynchronous({ ...common, plug, isAsynchronous: true });
      return Portico.#make({ ...common, plug, isAsynchronous: isAsync }, limits, { file: "rules", own: storagePlug });
    }
    const { dialect, isAsynchronous: isAsync, begin, lookUp } = databaseOf(database, operationMilliseconds);
    const configuration = {
      dialect,
      prefix,
      sessionIdle: BigInt(limits.sessionIdleMilliseconds),
      sessionMost: BigInt(limits.sessionMostMilliseconds),
    };
    const plug = {
      name: "database",
      begin: (/** @type {string} */ access, /** @type {any} */ _, /** @type {any} */ opening) => begin(access, opening),
      lookUp,
      results: STATEMENTS,
    };
    const own = databasePlug(configuration);
    const portico = await Portico.#make({ ...common, plug, isAsynchronous: isAsync }, limits, { file: "ready", configuration, own });
    await portico.people.migrate();
    return portico;
  }

  /**
   * @param {Surroundings} surroundings
   * @param {any} limits
   * @param {{ file: "rules" | "ready", configuration?: object, own: any }} component
   */
  static async #make(surroundings, limits, component) {
    const { isAsynchronous } = surroundings;
    const build = isAsynchronous ? "Suspending" in WebAssembly && "jspi" : "sync";
    const describing = new Instance(await load(component.file, "sync"), component.own, FEW_STEPS);
    const described = describing.run(undefined, undefined, { on: "procedures", name: "describe", values: [] });
    return new Portico(surroundings, limits, component, build ? await load(component.file, build) : undefined, described);
  }

  /** The procedures as a tRPC router, whose context has the `caller`: to merge with yours. */
  get router() {
    return this.#router;
  }

  /** Serves the procedures over HTTP. @param {any} options */
  trpc(options = {}) {
    const { log } = this.#surroundings;
    const isOurs = this.#isReady && !options.authenticate;
    if (!isOurs) return handler(this.#withoutSessions, options, log);
    return handler(this.#router, { ...options, ...sessionsOf(this, this.#limits.sessionMostMilliseconds) }, log);
  }

  /** Ends the threads. Calls after this are refused. */
  async close() {
    this.#isOpen = false;
    await Promise.all(this.#threads.drain().map((thread) => thread.end()));
  }

  /** @param {string} name @param {any} caller @param {import("./instance.js").Invocation} invocation */
  async #call(name, caller, invocation) {
    this.#checkOpen();
    const who = this.#who(caller);
    const cost = this.#described.get(name)?.cost ?? OTHERS[name] ?? "small";
    // Icons may be asynchronous where storage is not.
    const isSlow = cost !== "small" || (name === "app.createMany" && !this.#surroundings.isAsynchronous);
    if (isSlow || !this.#instances) return this.#inThread(caller, invocation, who);
    try {
      return await this.#here(this.#instances, caller, invocation, who);
    } catch (error) {
      // It has changed nothing yet, and a thread may wait for its turn.
      if (error instanceof Collided) return this.#inThread(caller, invocation, who);
      throw error;
    }
  }

  /** @param {Pool<Instance>} pool @param {any} caller @param {import("./instance.js").Invocation} invocation @param {any} who */
  async #here(pool, caller, invocation, who) {
    const { isAsynchronous } = this.#surroundings;
    const { callMilliseconds } = this.#limits;
    const taken = isAsynchronous ? pool.take() : pool.takeNow();
    const instance = isPromise(taken) ? await taken : /** @type {Instance} */ (taken);
    try {
      const running = new Running(this.#surroundings, caller, {
        waits: isAsynchronous,
        milliseconds: isAsynchronous ? callMilliseconds : Math.min(callMilliseconds, MAIN_MILLISECONDS),
      });
      const result = instance.run(running, who, invocation);
      return isPromise(result) ? await result : result;
    } finally {
      pool.giveBack(instance);
    }
  }

  /** @param {any} caller @param {import("./instance.js").Invocation} invocation @param {any} who */
  async #inThread(caller, invocation, who) {
    this.#checkOpen();
    const thread = await this.#threads.take();
    try {
      const running = new Running(this.#surroundings, caller, { waits: true, milliseconds: this.#limits.callMilliseconds });
      running.isElsewhere = true;
      return await thread.run(running, who, invocation);
    } finally {
      if (!this.#isOpen) void thread.end();
      this.#threads.giveBack(thread);
    }
  }

  /** @param {string} name @param {any[]} values */
  #person(name, values) {
    const given = values.map((value, index) => (value === null ? undefined : index === LONG[name] ? BigInt(Number(value)) : value));
    return this.#call(name, undefined, { on: "people", name, values: given });
  }

  /** Who calls, in the contract's form. @param {any} caller */
  #who(caller) {
    const user = userOf(caller);
    if (this.#isReady && !["string", "undefined"].includes(typeof caller?.context)) throw new TypeError("A caller's context is a text");
    // The ready storage knows the caller by the context, which `people` makes.
    const own = this.#isReady && user ? `\n\n${user.id}` : "";
    return { user, context: (this.#isReady && caller?.context) || own };
  }

  #checkOpen() {
    if (!this.#isOpen) throw new PorticoError("unavailable", "Portico is closed");
  }

  /** Whether there is any user: storage alone knows. */
  async #hasUsers() {
    const running = new Running(this.#surroundings, {}, { waits: true, milliseconds: this.#limits.callMilliseconds });
    return hasUsers(running);
  }

  /** The same, where the component alone knows: it says so before it looks at the account, which is none. */
  async #hasUsersInReadyStorage() {
    const procedure = /** @type {any} */ (procedures.get("user.initUser"));
    try {
      await this.#call("hasUsers", {}, invocationOf(procedure, [{ username: "", password: "" }]));
    } catch (error) {
      if (error instanceof PorticoError && ["forbidden", "bad-request"].includes(error.code)) return error.code === "forbidden";
      throw error;
    }
    return true;
  }
}

/** @param {Running} running @returns {Promise<boolean>} */
async function hasUsers(running) {
  try {
    await running.begin("lookup");
    return await running.operate("hasUsers", []);
  } finally {
    await running.finish();
  }
}

/** Whether the functions of a storage return promises: found by asking whether it has users. @param {Surroundings} surroundings */
async function isAsynchronous(surroundings) {
  const { plug } = surroundings;
  let promised = false;
  const noted = (/** @type {any} */ value) => {
    promised ||= isPromise(value);
    return value;
  };
  const asked = {
    begin: (/** @type {string} */ access, /** @type {any} */ caller) =>
      after(noted(plug.begin(access, caller)), (transaction) => ({
        hasUsers: () => noted(transaction.hasUsers()),
        rollback: () => noted(transaction.rollback()),
      })),
  };
  await hasUsers(new Running({ ...surroundings, plug: { ...plug, ...asked } }, {}, { waits: true, milliseconds: 60_000 }));
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
