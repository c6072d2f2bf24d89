/**
 * @import { Root } from "../../generated/portico.js"
 * @import { Caller } from "../../generated/interfaces/portico-dashboard-types.js"
 * @import { Invocation } from "./procedures.js"
 */

/**
 * What calls a function of the component. Before the values, `signIn` gets the context, and the procedures
 * get the caller.
 * @param {Invocation} invocation
 * @returns {(exports: Root, caller: Caller) => any}
 */
export const invoke =
  ({ on, name, values }) =>
  (exports, caller) =>
    /** @type {any} */ (exports[on])[name](on === "signIn" ? caller.context : caller, ...values);
