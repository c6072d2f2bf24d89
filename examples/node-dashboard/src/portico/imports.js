// What the component may reach: storage, icons, a log, the time and random bytes.

import { randomBytes } from "node:crypto";

/**
 * @import * as icons from "../../generated/interfaces/portico-dashboard-icons.js"
 * @import * as log from "../../generated/interfaces/portico-dashboard-log.js"
 * @typedef {{ icons: typeof icons, log: (level: log.Level, message: string) => void }} Surroundings
 */

/** How many messages of a call are logged, and their greatest length. */
const MESSAGES = 20;
const MESSAGE_LENGTH = 2_000;

/** The log of one instance. */
export class Log {
  #messages = 0;
  #write;

  /** @param {Surroundings["log"]} write */
  constructor(write) {
    this.#write = write;
  }

  /** At the begin of a call. */
  reset() {
    this.#messages = 0;
  }

  /** @param {log.Level} level @param {string} message */
  write(level, message) {
    if (this.#messages++ < MESSAGES) this.#write(level, message.slice(0, MESSAGE_LENGTH));
  }
}

function now() {
  const milliseconds = Date.now();
  return { seconds: BigInt(Math.floor(milliseconds / 1_000)), nanoseconds: (milliseconds % 1_000) * 1_000_000 };
}

/** The clock counts milliseconds. */
const resolution = () => ({ seconds: 0n, nanoseconds: 1_000_000 });

/**
 * All functions of the contract, whether this component needs them or not: another 1.x may.
 * The type requires names with versions, but the code reads names without.
 * @param {object} storage
 * @param {typeof icons} icons
 * @param {Log} log
 * @returns {any}
 */
export const imports = (storage, icons, log) => ({
  "portico:dashboard/storage": storage,
  "portico:dashboard/icons": icons,
  "portico:dashboard/log": { write: (/** @type {log.Level} */ level, /** @type {string} */ text) => log.write(level, text) },
  "portico:dashboard/types": {},
  "wasi:clocks/wall-clock": { now, resolution },
  "wasi:random/random": {
    getRandomBytes: (/** @type {bigint} */ length) => randomBytes(Number(length)),
    getRandomU64: () => randomBytes(8).readBigUInt64LE(),
  },
});
