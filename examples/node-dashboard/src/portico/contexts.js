// The running calls by their context: a token that the host makes for each call. The component returns it
// with each `storage.begin`, where the host finds the call by it.

import { randomUUID } from "node:crypto";
import { unavailable } from "./refusals.js";

/**
 * @import { Caller, UserCaller } from "../../generated/interfaces/portico-dashboard-types.js"
 * Who calls (a user, or none for an anonymous caller), and the session that the call uses.
 * @typedef {{ user?: UserCaller, session?: string }} Call
 */

/** @template {{ call: Call }} T what is known of a running call */
export class Contexts {
  /** @type {Map<string, T>} */
  #running = new Map();

  /**
   * A caller in the contract's form, for one call.
   * @param {T} running
   * @returns {Caller}
   */
  open(running) {
    const context = randomUUID();
    this.#running.set(context, running);
    return { user: running.call.user, context };
  }

  /** @param {string} context @returns {T} */
  find(context) {
    const running = this.#running.get(context);
    if (!running) throw unavailable("no call is running with this context");
    return running;
  }

  /** Forgets a call that has ended. @param {Caller} caller */
  close({ context }) {
    this.#running.delete(context);
  }
}
