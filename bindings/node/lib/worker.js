// A thread that runs the component. See workers.js.

import { receiveMessageOnPort, workerData } from "node:worker_threads";
import { PorticoError, StorageError } from "./errors.js";
import { Instance, load, MANY_STEPS } from "./instance.js";
import { databasePlug, storagePlug } from "./plugs.js";

const { signal, port, file, configuration } = workerData;
const ANSWERED = 0;
const ASKED = 1;
const loaded = await load(file, "sync");
const own = configuration ? databasePlug(configuration) : storagePlug;
/** @type {Instance | undefined} */
let instance;

/** @param {object} message */
function send(message) {
  port.postMessage(message);
  Atomics.add(signal, ASKED, 1);
  Atomics.notify(signal, ASKED);
}

/** Asks the thread that was called, and waits for the answer. @param {string} question @param {any[]} values */
function ask(question, ...values) {
  Atomics.store(signal, ANSWERED, 0);
  send({ question, values });
  Atomics.wait(signal, ANSWERED, 0);
  const { value, payload, fault } = receiveMessageOnPort(port)?.message ?? { fault: "no answer" };
  if (payload) throw new StorageError(payload);
  if (fault) throw new Error(fault);
  return value;
}

/** A call, as `Running` is one in the other thread. */
class Remote {
  held = 0;

  /** @param {string} access @param {string[]} [opening] */
  begin(access, opening) {
    ask("begin", access, opening);
    this.held++;
  }

  /** @param {string} name @param {any[]} values */
  operate(name, values) {
    return ask("operate", name, values);
  }

  /** @param {string} sql @param {any[]} values */
  lookUp(sql, values) {
    return ask("lookUp", sql, values);
  }

  /** @param {string} name @param {any[]} values */
  surrounding(name, values) {
    return ask("surrounding", name, values);
  }

  commit() {
    ask("commit");
  }

  drop() {
    ask("drop");
  }

  finish() {
    ask("finish");
  }

  /** @param {string[]} names */
  findIcons(names) {
    return ask("findIcons", names);
  }

  defaultIcon() {
    return ask("defaultIcon");
  }

  /** @param {string} level @param {string} message */
  log(level, message) {
    ask("log", level, message);
  }
}

port.on("message", (/** @type {any} */ { caller, invocation }) => {
  if (!instance?.isClean) instance = /** @type {Instance} */ (Instance.make(loaded, own, MANY_STEPS));
  try {
    send({ result: instance.run(new Remote(), caller, invocation) });
  } catch (/** @type {any} */ error) {
    const { code, message, issues } = error;
    send(error instanceof PorticoError && code !== "internal" ? { refusal: { code, message, issues } } : { failure: message });
  }
});
