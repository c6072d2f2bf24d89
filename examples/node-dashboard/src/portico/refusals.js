// Refusals in the contract's forms: of the component, and of storage.

/**
 * @import { Error as ComponentError, Issue } from "../../generated/interfaces/portico-dashboard-types.js"
 * @import * as contract from "../../generated/interfaces/portico-dashboard-storage.js"
 */

/** The component refused a call, or this dashboard did in its place. jco throws the same form. */
export class Refused extends Error {
  /** @param {ComponentError} payload */
  constructor(payload) {
    super(payload.message);
    this.payload = payload;
  }
}

/** @param {string} message */
export const busy = (message) => new Refused({ code: { tag: "unavailable" }, message, issues: [] });

/** @param {Issue[]} issues */
export const badInput = (issues) =>
  new Refused({ code: { tag: "bad-request" }, message: "The input breaks rules", issues });

/**
 * Whether the component refused a call. Otherwise it failed.
 * @param {any} error
 * @returns {error is Error & { payload: ComponentError }}
 */
export const isRefusal = (error) => typeof error?.payload?.code?.tag === "string";

/** Storage refused: jco passes `payload` to the component. */
export class StorageError extends Error {
  /** @param {contract.Error} payload */
  constructor(payload) {
    super(JSON.stringify(payload));
    this.payload = payload;
  }
}

/** For the log only. @param {string} text */
export const unavailable = (text) => new StorageError({ tag: "unavailable", val: text });

/** @param {"user-name" | "identity" | "reference" | "id"} constraint */
export const broken = (constraint) => new StorageError({ tag: "constraint", val: { tag: constraint } });

/** Whether another transaction won, and this one may be tried again. @param {unknown} error */
export const isRetry = (error) => error instanceof StorageError && error.payload.tag === "retry";
