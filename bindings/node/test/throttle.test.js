// How attempts to sign in are counted: by the name that the component compares, and by the network.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Portico } from "../lib/index.js";
import { nameKey, sourceOf, Throttle } from "../lib/throttle.js";
import { memory } from "./storage.js";

const TOO_MANY = { code: "too-many-requests", httpStatus: 429 };
const repeat = (times, work) => Array.from({ length: times }, (_, number) => work(number));

test("the throttle forgets after a while, and what it counts is bounded", () => {
  let now = 0;
  const throttle = new Throttle(() => now);
  const attempt = () => throttle.begin("Ada ", "192.0.2.1");
  repeat(10, attempt);
  assert.throws(attempt, TOO_MANY);
  assert.throws(() => throttle.begin("ada", undefined), TOO_MANY);
  now += 5 * 60_000;
  repeat(40, () => attempt().succeeded());
  repeat(10, (count) => throttle.begin(`other ${count}`, "192.0.2.1"));
  assert.throws(() => throttle.begin("another", "192.0.2.1"), TOO_MANY);
});

test("an address over its limit takes no attempts from an account", () => {
  const throttle = new Throttle(() => 0);
  repeat(50, (count) => throttle.begin(`other ${count}`, "192.0.2.1"));
  repeat(20, () => assert.throws(() => throttle.begin("ada", "192.0.2.1"), TOO_MANY));
  throttle.begin("ada", "192.0.2.2").succeeded();
});

test("a count that is still used is not the first to be forgotten", () => {
  const throttle = new Throttle(() => 0);
  repeat(5, () => throttle.begin("ada"));
  repeat(15_000, (count) => throttle.begin(`one ${count}`));
  repeat(5, () => throttle.begin("ada"));
  repeat(15_000, (count) => throttle.begin(`two ${count}`));
  assert.throws(() => throttle.begin("ada"), TOO_MANY);
});

test("a name is counted by the key that the component gives it, with white space around it", async () => {
  const portico = await Portico.open({ storage: memory() });
  const names = ["ADA", "Ångström", "A\u030angstro\u0308m", "\u212bNGSTRÖM", "ΟΔΥΣΣΕΥΣ", "οδυσσευς", "İ", "\u1e9e", "Ǆ", "\u{10400}", "ada\ufeff", "a b"];
  assert.deepEqual(names.map(nameKey), await portico.names.keys(names));
  for (const white of [" ", "\u0085", "\u00a0", "\u2029\u3000", "\t\n"]) assert.equal(nameKey(white + "Ada" + white), "ada");
  await portico.close();
});

test("a name of megabytes is counted at once", () => {
  for (const name of ["é".repeat(8_000_000), " ".repeat(8_000_000), " a".repeat(4_000_000)]) assert.ok(nameKey(name).length <= 255);
});

test("a network of IPv6 is one address, and an address of IPv4 another", () => {
  const [one, ...same] = ["2001:db8:0:1::1", "2001:DB8:0:1:ffff:ffff:ffff:ffff", "2001:db8::1:0:0:0:2", "2001:db8:0:1::1%eth0"].map(sourceOf);
  for (const other of same) assert.equal(other, one);
  assert.notEqual(sourceOf("2001:db8:0:2::1"), one);
  assert.notEqual(sourceOf("::ffff:192.0.2.1"), sourceOf("::ffff:192.0.2.2"));
  assert.deepEqual(["192.0.2.1", "a proxy's word"].map(sourceOf), ["192.0.2.1", "a proxy's word"]);
});
