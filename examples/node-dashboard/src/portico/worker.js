// The hashing thread: runs calls that hash passwords, each in a fresh instance and on its own
// connection. See hashing.js.

import { parentPort, workerData } from "node:worker_threads";
import { Database } from "../database.js";
import * as surroundings from "../surroundings.js";
import { Component } from "./component.js";
import { invoke } from "./invoke.js";
import { isRefusal } from "./refusals.js";

const component = new Component({ database: new Database(workerData.file), ...surroundings });

parentPort?.on("message", ({ call, invocation }) => {
  parentPort?.postMessage(answer(call, invocation));
});

/**
 * @param {import("./contexts.js").Call} call
 * @param {import("./procedures.js").Invocation} invocation
 */
function answer(call, invocation) {
  try {
    return { ok: component.runFresh(call, invoke(invocation)) };
  } catch (error) {
    return isRefusal(error) ? { refusal: error.payload } : { failure: String(/** @type {any} */ (error)?.stack) };
  }
}
