// The hashing thread: runs calls that hash passwords, each in a fresh instance and on its own
// connection. See hashing.js.

import { parentPort, workerData } from "node:worker_threads";
import { Database } from "../database.js";
import * as surroundings from "../surroundings.js";
import { Component, isRefusal } from "./component.js";

const component = new Component({ database: new Database(workerData.file), ...surroundings });

parentPort?.on("message", ({ call, invocation }) => {
  parentPort?.postMessage(answer(call, invocation));
});

/**
 * @param {import("./component.js").Call} call
 * @param {import("./hashing.js").HashingInvocation} invocation
 */
function answer(call, { on, name, values }) {
  try {
    const ok = component.runFresh(call, (exports) => /** @type {any} */ (exports[on])[name](...values));
    return { ok };
  } catch (error) {
    return isRefusal(error) ? { refusal: error.payload } : { failure: String(/** @type {any} */ (error)?.stack) };
  }
}
