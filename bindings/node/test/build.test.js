// What the build does to the component: counters and bounds in its modules, and names of functions that must match.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { found, readFunctions } from "../build/asynchronous.js";
import { COUNTER, meter } from "../build/metering.js";

const section = (id, bytes) => [id, bytes.length, ...bytes];
const MEMORY = section(5, [1, 0, 1]);
/** A global that begins as 5 and may be set. */
const GLOBAL = section(6, [1, 0x7f, 1, 0x41, 5, 0x0b]);

/** A module of these bodies of functions without parameters, each exported as `f0`, `f1` and so on, with a memory. */
const moduleOf = (...bodies) => moduleWith(MEMORY, ...bodies);

/** The same with something else than a memory. @param {number[]} sections */
function moduleWith(sections, ...bodies) {
  const exports = bodies.flatMap((_, index) => [2, 0x66, 0x30 + index, 0, index]);
  const code = bodies.flatMap((body) => [body.length + 2, 0, ...body, 0x0b]);
  return Uint8Array.from([
    ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, [1, 0x60, 0, 0]),
    ...section(3, [bodies.length, ...bodies.map(() => 0)]),
    ...sections,
    ...section(7, [bodies.length, ...exports]),
    ...section(10, [bodies.length, ...code]),
  ]);
}
const LOOP = [0x03, 0x40, 0x0c, 0, 0x0b];
const RECURSION = [0x10, 1, 0x10, 1];
const GROW = [0x41, 1, 0x40, 0, 0x1a];
/** Fills the first page, for ever. */
const FILL = [0x03, 0x40, 0x41, 0, 0x41, 0, 0x41, 0x80, 0x80, 4, 0xfc, 11, 0, 0x0c, 0, 0x0b];

const instance = (module) => new WebAssembly.Instance(new WebAssembly.Module(module)).exports;

test("a loop ends, and a function that calls itself twice", () => {
  const { f0, f1, [COUNTER]: counter } = instance(meter(moduleOf(LOOP, RECURSION), 4));
  counter.value = 1_000_000;
  assert.throws(f0, WebAssembly.RuntimeError);
  assert.equal(counter.value, -1);
  counter.value = 1_000;
  assert.throws(f1, WebAssembly.RuntimeError);
  assert.equal(counter.value, -1);
});

test("a module without memory is counted and put back, too", () => {
  const [getAndSet, recursion] = [[0x23, 0, 0x41, 1, 0x6a, 0x24, 0], [0x10, 1, 0x10, 1]];
  const { f0, f1, [COUNTER]: counter, "portico:global:0": global } = instance(meter(moduleWith(GLOBAL, getAndSet, recursion), 4));
  counter.value = 1_000;
  f0();
  assert.deepEqual([counter.value, global.value], [999, 6]);
  assert.throws(f1, WebAssembly.RuntimeError);
  assert.equal(counter.value, -1);
});

test("a module that only has state for others is put back, and bounded", () => {
  const bare = (...sections) => instance(meter(Uint8Array.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, ...sections]), 4));
  assert.equal(bare(...GLOBAL)["portico:global:0"].value, 5);
  const { "portico:memory:0": memory } = bare(...MEMORY);
  assert.throws(() => memory.grow(4), RangeError);
});

test("filling memory counts by its bytes", () => {
  const { f0, [COUNTER]: counter } = instance(meter(moduleOf(FILL), 4));
  counter.value = 65_536;
  assert.throws(f0, WebAssembly.RuntimeError);
  // A page is 1,024 times 64 bytes: 63 fills, each with its loop, and the begin of the function.
  assert.ok(counter.value < 0 && counter.value > -1_025, counter.value);
});

test("memory has a maximum", () => {
  const exports = instance(meter(moduleOf(GROW), 4));
  exports[COUNTER].value = 100;
  for (let times = 0; times < 10; times++) exports.f0();
  assert.equal(exports["portico:memory:0"].buffer.byteLength, 4 * 65_536);
});

test("a module with other state, or with tail calls, is refused", () => {
  assert.throws(() => meter(moduleOf([0x41, 0, 0xd0, 0x70, 0x26, 0]), 4), /writes a table/);
  assert.throws(() => meter(moduleOf([0xfc, 9, 0]), 4), /drops data/);
  assert.throws(() => meter(moduleOf([0x12, 0]), 4), /tail calls/);
});

test("a name that matches no function fails the build", () => {
  const wit = "world root {\n  import portico:dashboard/storage@1.2.0;\n}";
  const types = "export function begin(access: Access): Transaction;\n\nexport class Transaction {\n  static commit(this_: Transaction): void;\n  hasUsers(): boolean;\n}\n";
  const functions = readFunctions(wit, { "interfaces/portico-dashboard-storage.d.ts": Buffer.from(types) });
  assert.deepEqual([...functions.values()], [
    "portico:dashboard/storage@1.2.0#begin",
    "portico:dashboard/storage@1.2.0#[static]transaction.commit",
    "portico:dashboard/storage@1.2.0#[method]transaction.has-users",
  ]);
  assert.equal(found(functions, "storage#begin"), "portico:dashboard/storage@1.2.0#begin");
  assert.throws(() => found(functions, "storage#start"), /no function storage#start/);
});

test("every text that comes out of the sandbox is counted", () => {
  for (const file of ["rules/sync.js", "rules/jspi.js", "ready/sync.js", "ready/jspi.js"]) {
    const code = readFileSync(new URL(`../generated/${file}`, import.meta.url), "utf8");
    assert.ok(code.includes("= imports.decoder()"), file);
    assert.doesNotMatch(code, /TextDecoder\(/);
  }
});

test("what JSPI suspends is what the build named", () => {
  const code = readFileSync(new URL("../generated/rules/jspi.js", import.meta.url), "utf8");
  assert.ok(code.includes("new WebAssembly.Suspending("), "imports");
  assert.ok(code.includes("WebAssembly.promising("), "exports");
});

test("the types fit what programs write, and the library itself (tsc --strict)", () => {
  const cwd = new URL("..", import.meta.url);
  for (const project of ["test/types", "."]) execFileSync("node_modules/.bin/tsc", ["-p", project], { cwd, stdio: "pipe" });
});
