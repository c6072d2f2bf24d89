// Runs calls that hash passwords in a worker, one after the other. A hash takes tens of milliseconds
// of processor time and cannot be interrupted, so it would block the main thread. A call that takes too
// long is stopped by ending the worker.

import { Worker } from "node:worker_threads";
import { busy, Refused } from "./refusals.js";

/**
 * @import { Call } from "./contexts.js"
 * @import { Invocation } from "./procedures.js"
 * @typedef {{ call: Call, invocation: Invocation, resolve: (value: any) => void, reject: (error: unknown) => void }} Job
 */

/** How many calls may wait. */
const WAITING = 32;
/** How long a call may take. */
const MILLISECONDS = 10_000;

export class Hashing {
  /** @type {Job[]} */
  #waiting = [];
  /** @type {Job | undefined} */
  #running;
  /** @type {NodeJS.Timeout | undefined} */
  #timer;
  /** @type {Worker | undefined} */
  #worker;
  #script;
  #data;

  /**
   * @param {URL} script what the worker runs
   * @param {object} [data] what the worker gets
   */
  constructor(script, data) {
    this.#script = script;
    this.#data = data;
  }

  /**
   * @param {Call} call
   * @param {Invocation} invocation
   * @returns {Promise<any>}
   */
  run(call, invocation) {
    return new Promise((resolve, reject) => {
      if (this.#waiting.length >= WAITING) return reject(busy("Too many passwords are being hashed: try again"));
      this.#waiting.push({ call, invocation, resolve, reject });
      this.#next();
    });
  }

  async close() {
    await this.#worker?.terminate();
  }

  #next() {
    if (this.#running) return;
    this.#running = this.#waiting.shift();
    if (!this.#running) return;
    const { call, invocation } = this.#running;
    this.#worker ??= this.#start();
    this.#worker.postMessage({ call, invocation });
    this.#timer = setTimeout(() => void this.#worker?.terminate(), MILLISECONDS);
  }

  #start() {
    const worker = new Worker(this.#script, { workerData: this.#data });
    worker.on("message", ({ ok, refusal, failure }) => {
      this.#done((job) => {
        if (refusal) job.reject(new Refused(refusal));
        else if (failure) job.reject(new Error(failure));
        else job.resolve(ok);
      });
    });
    worker.on("error", (error) => console.error("The thread that hashes failed:", error));
    // Failed or stopped: the next call gets a new worker.
    worker.on("exit", () => {
      this.#worker = undefined;
      this.#done((job) => job.reject(busy("The call was stopped: try again")));
    });
    worker.unref();
    return worker;
  }

  /** @param {(job: Job) => void} settle */
  #done(settle) {
    clearTimeout(this.#timer);
    const job = this.#running;
    this.#running = undefined;
    if (job) settle(job);
    this.#next();
  }
}
