// The hashing thread: as ../src/portico/worker.js, on connections of its own.

import { parentPort } from "node:worker_threads";
import { invoke } from "../src/portico/invoke.js";
import { isRefusal } from "../src/portico/refusals.js";
import * as surroundings from "../src/surroundings.js";
import { Component } from "./component.js";
import { Database } from "./database.js";

const component = new Component({ database: new Database(), ...surroundings });

parentPort?.on("message", async ({ call, invocation }) => {
  parentPort?.postMessage(await answer(call, invocation));
});

/**
 * @param {import("../src/portico/contexts.js").Call} call
 * @param {import("../src/portico/procedures.js").Invocation} invocation
 */
async function answer(call, invocation) {
  try {
    return { ok: await component.runFresh(call, invoke(invocation)) };
  } catch (error) {
    return isRefusal(error) ? { refusal: error.payload } : { failure: String(/** @type {any} */ (error)?.stack) };
  }
}
