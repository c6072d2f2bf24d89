// What the dashboard implements, as imports of the component: the contract's storage (`rules`), or a database for the ready
// storage (`ready`).

import { RESULTS } from "./records.js";
import { after } from "./running.js";

/** @typedef {import("./instance.js").Instance} Instance */

/** What our own databases return is in the right form. @param {any} value */
const asItIs = (value) => value;
/** What the functions of a transaction of the ready storage return. */
export const STATEMENTS = { query: asItIs, execute: asItIs };

/**
 * A class of transactions. What they refer to is the one that is open in the call.
 * @param {string[]} names of its functions
 */
function transactionsOf(names) {
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
  }
  const prototype = /** @type {any} */ (Transaction.prototype);
  prototype[Symbol.dispose ?? Symbol.for("dispose")] = function () {
    this.running.held--;
    this.running.drop();
  };
  for (const name of names) {
    prototype[name] = function (/** @type {any[]} */ ...values) {
      return this.running.operate(name, values);
    };
  }
  return Transaction;
}

/** The contract's storage. */
export const storagePlug = { imports: storageImports };

/** @param {Instance} instance */
function storageImports(instance) {
  const Transaction = transactionsOf(Object.keys(RESULTS));
  const begin = (/** @type {string} */ access) => {
    const { running } = instance;
    return after(running.begin(access), () => new Transaction(running));
  };
  return { "portico:dashboard/storage": { Transaction, begin } };
}

/** A call that finds nothing. */
const FIRST = { on: "apps", name: "byId", values: [""] };
/** What it finds it in. */
const nowhere = { held: 0, lookUp: () => [], surrounding: () => ({ tag: "all" }), log: () => {}, finish: () => {} };

/** A database for the ready storage. @param {object} configuration */
export const databasePlug = (configuration) => ({
  imports: databaseImports(configuration),
  first: { running: nowhere, invocation: FIRST },
});

/** @param {object} configuration */
const databaseImports = (configuration) => (/** @type {Instance} */ instance) => {
  const Transaction = transactionsOf(Object.keys(STATEMENTS));
  const begin = (/** @type {string} */ access, /** @type {string[]} */ opening) => {
    const { running } = instance;
    return after(running.begin(access, opening), () => new Transaction(running));
  };
  const surrounding = (/** @type {string} */ name) => (/** @type {any[]} */ ...values) => instance.running.surrounding(name, values);
  return {
    "portico:sql/database": {
      Transaction,
      begin,
      getConfiguration: () => configuration,
      lookUp: (/** @type {string} */ sql, /** @type {any[]} */ values) => instance.running.lookUp(sql, values),
    },
    "portico:sql/surroundings": {
      canViewBoard: surrounding("canViewBoard"),
      hasSearchEngine: surrounding("hasSearchEngine"),
      visibleAppsOf: surrounding("visibleAppsOf"),
    },
  };
};
