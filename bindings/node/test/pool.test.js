// What calls run in: a place that cannot be filled is free again, an instance whose first call failed is not kept, and what a
// call returns is bounded.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Portico } from "../lib/index.js";
import { Instance } from "../lib/instance.js";
import { Pool } from "../lib/pool.js";
import { memory } from "./storage.js";

for (const [what, fail] of Object.entries({
  throws: () => { throw new Error("no memory"); },
  rejects: () => Promise.reject(new Error("no memory")),
})) {
  test(`a place whose item cannot be made is free again (it ${what})`, async () => {
    let isBroken = true;
    const pool = new Pool(() => (isBroken ? fail() : { isClean: true }), { most: 1, waiting: 1_000 });
    const take = async () => pool.take();
    await assert.rejects(take(), /no memory/);
    isBroken = false;
    const item = await take();
    const waiting = [take(), take(), take()];
    isBroken = true;
    pool.giveBack({ isClean: false });
    for (const one of waiting) await assert.rejects(one, /no memory/);
    isBroken = false;
    assert.deepEqual(await take(), item);
  });
}

test("options that are numbers have bounds, and one that is undefined is not given", async () => {
  for (const wrong of [{ threads: 0 }, { instances: 0 }, { waiting: -1 }, { callMilliseconds: Infinity }, { operationMilliseconds: "5" }]) {
    await assert.rejects(Portico.open({ storage: memory(), ...wrong }), new RegExp(`takes a whole number .* as ${Object.keys(wrong)[0]}`));
  }
  const portico = await Portico.open({ storage: memory(), threads: undefined });
  assert.deepEqual(await portico.names.keys(["A"]), ["a"]);
  await portico.close();
});

test("what a first call that trapped left behind is in no later call", () => {
  let made = 0;
  const loaded = { file: "ready", make: () => ({ apps: { byId: () => { throw new Error(`trap ${++made}`); } } }) };
  const running = { held: 0, finish: () => {} };
  const own = { imports: () => ({}), first: { running, invocation: { on: "apps", name: "byId", values: [""] } } };
  const instances = [];
  const noted = { ...own, imports: (instance) => (instances.push(instance), {}) };
  const instance = Instance.make(loaded, noted, 1);
  assert.equal(made, 1);
  assert.equal(instances.length, 2);
  assert.equal(instance, instances[1]);
  assert.ok(instance.isClean);
});

for (const [what, length] of Object.entries({ "the same mebibyte": 2 ** 20, "an empty text": 0 })) {
  test(`a call that returns ${what} again and again ends`, () => {
    const make = ({ decoder }) => ({
      apps: {
        byIds: () => { for (const text = new Uint8Array(length); ; decoder().decode(text)); },
        byId: () => decoder().decode(new Uint8Array(length)),
      },
    });
    const instance = new Instance({ file: "rules", make }, { imports: () => ({}) }, 1);
    const call = (name) => instance.run(undefined, {}, { on: "apps", name, values: [] });
    assert.throws(() => call("byIds"), { code: "internal", message: /too much text/ });
    assert.ok(!instance.isClean);
    assert.equal(call("byId").length, length, "each call has its own count");
  });
}
