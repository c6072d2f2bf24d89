// Threads for calls that take long: those that hash passwords, those that grow with the data, and, where Node has no JSPI,
// all calls of an asynchronous storage. The component runs in the thread; what it asks of storage it asks of this one, and
// waits (Atomics.wait). A thread that takes too long is terminated. Idle threads do not keep the process alive.
//
// A synchronous storage has transactions that nothing of this thread may come between, because they may share a connection:
// from `begin` to the end of a transaction this thread answers the other one's questions and does nothing else.

import { MessageChannel, receiveMessageOnPort, Worker } from "node:worker_threads";
import { PorticoError, StorageError } from "./errors.js";
import { isPromise } from "./running.js";

/**
 * @typedef {{
 *   running: import("./running.js").Running,
 *   resolve: (value: any) => void,
 *   reject: (error: unknown) => void,
 *   timer: NodeJS.Timeout,
 * }} Job
 */

/** What a thread may ask of a call. @type {Record<string, (running: import("./running.js").Running, values: any[]) => any>} */
const QUESTIONS = {
  begin: (running, [access, opening]) => running.begin(access, opening),
  operate: (running, [name, values]) => running.operate(name, values),
  lookUp: (running, [sql, values]) => running.lookUp(sql, values),
  surrounding: (running, [name, values]) => running.surrounding(name, values),
  commit: (running) => running.commit(),
  drop: (running) => running.drop(),
  finish: (running) => running.finish(),
  findIcons: (running, [names]) => running.findIcons(names),
  defaultIcon: (running) => running.defaultIcon(),
  log: (running, [level, message]) => running.log(level, message),
};

/** How long this thread waits for the next question of a transaction. */
const HELD_MILLISECONDS = 1_000;
/** The places in the signal: answers for the thread, and how many messages it has sent. */
const ANSWERED = 0;
const ASKED = 1;

/** A thread. It serves one call at a time. */
export class Thread {
  isClean = true;
  /** @type {Job | undefined} */
  #job;
  #signal = new Int32Array(new SharedArrayBuffer(8));
  #port;
  #worker;

  /** @param {{ file: "rules" | "ready", configuration?: object }} what it runs */
  constructor({ file, configuration }) {
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    port1.on("message", (message) => this.#receive(message));
    port1.unref();
    this.#worker = new Worker(new URL("worker.js", import.meta.url), {
      workerData: { signal: this.#signal, port: port2, file, configuration },
      // Those of the process may be none that a thread can have.
      execArgv: [],
      transferList: [port2],
    });
    this.#worker.on("error", (error) => this.#fail(new PorticoError("internal", `A thread failed: ${error}`, { cause: error })));
    this.#worker.on("exit", () => {
      this.isClean = false;
      port1.close();
      this.#fail(new PorticoError("internal", "The call was stopped"));
    });
    this.#worker.unref();
  }

  /**
   * @param {import("./running.js").Running} running
   * @param {any} caller
   * @param {import("./instance.js").Invocation} invocation
   * @returns {Promise<any>}
   */
  run(running, caller, invocation) {
    return new Promise((resolve, reject) => {
      this.#worker.ref();
      const timer = setTimeout(() => this.#stop(`after ${running.milliseconds} ms`), running.milliseconds);
      this.#job = { running, resolve, reject, timer };
      try {
        this.#port.postMessage({ caller, invocation });
      } catch (error) {
        // A function, say, is in no way a value of the contract.
        this.#done(({ reject }) => reject(new TypeError(`The call has a value that Portico does not take: ${error}`)));
      }
    });
  }

  /** Ends the thread, whatever it does. */
  async end() {
    this.isClean = false;
    await this.#worker.terminate();
  }

  /** @param {string} why */
  #stop(why) {
    this.isClean = false;
    this.#fail(new PorticoError("internal", `The call was stopped ${why}`));
    void this.#worker.terminate();
  }

  /** @param {any} message */
  #receive(message) {
    this.#handle(message);
    this.#hold();
  }

  /** While a transaction of a synchronous storage is open, this thread does nothing but answer the other one. */
  #hold() {
    const job = this.#job;
    while (job && this.#job === job && job.running.holdsThread) {
      const next = this.#next();
      if (!next) return this.#stop(`because it held a transaction for ${HELD_MILLISECONDS} ms`);
      this.#handle(next);
    }
  }

  /** The next message of the thread; waits for it. */
  #next() {
    const end = performance.now() + HELD_MILLISECONDS;
    for (let left = HELD_MILLISECONDS; left > 0; left = end - performance.now()) {
      const asked = Atomics.load(this.#signal, ASKED);
      const received = receiveMessageOnPort(this.#port);
      if (received) return received.message;
      Atomics.wait(this.#signal, ASKED, asked, left);
    }
    return undefined;
  }

  /** @param {any} message */
  #handle({ question, values, result, refusal, failure }) {
    const job = this.#job;
    if (!job) return;
    if (question === undefined) {
      return this.#done(({ resolve, reject, running }) => {
        if (running.fault) reject(running.fault);
        else if (refusal) reject(new PorticoError(refusal.code, refusal.message, refusal));
        else if (failure) reject(new PorticoError("internal", failure));
        else resolve(result);
      });
    }
    const answer = (/** @type {object} */ message) => {
      if (this.#job === job) this.#answer(message);
    };
    const refuse = (/** @type {any} */ error) =>
      answer(error instanceof StorageError ? { payload: error.payload } : { fault: String(error?.message ?? error) });
    try {
      const value = QUESTIONS[question](job.running, values);
      if (!isPromise(value)) return answer({ value });
      const settled = (/** @type {any} */ value) => {
        answer({ value });
        // A `begin` that waited after a collision has begun a transaction now.
        this.#hold();
      };
      value.then(settled).then(undefined, refuse);
    } catch (error) {
      refuse(error);
    }
  }

  /** @param {object} answer */
  #answer(answer) {
    this.#port.postMessage(answer);
    Atomics.store(this.#signal, ANSWERED, 1);
    Atomics.notify(this.#signal, ANSWERED);
  }

  /** @param {PorticoError} error */
  #fail(error) {
    this.#done(({ reject, running }) => reject(running.fault ?? error));
  }

  /** @param {(job: Job) => void} settle */
  #done(settle) {
    const job = this.#job;
    if (!job) return;
    this.#job = undefined;
    clearTimeout(job.timer);
    this.#worker.unref();
    // What the call left open ends before the next call gets this thread.
    const rolledBack = job.running.finish();
    if (rolledBack) void rolledBack.then(() => settle(job));
    else settle(job);
  }
}
