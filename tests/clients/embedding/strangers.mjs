// Nothing of one caller's call is visible in another's, and a call that fails harms no other: shown
// on a dashboard that runs the component of the tests which misbehaves as it is asked to.
//
//     node strangers.mjs accounts ADAPTER URL            makes ada and ben and prints their cookies
//     node strangers.mjs misbehave ADAPTER URL COOKIES   on the same data, with that component
//     node strangers.mjs exhaust ADAPTER URL             with that component, where time and memory are limited
//     node strangers.mjs alongside ADAPTER URL           the same, with right answers in between

import assert from "node:assert/strict";

const [, , part, adapterFile, url, cookies] = process.argv;
const { path, steps, keepsInstances = true } = await import(`./${adapterFile}`);

async function own(method, at, body, cookie) {
  const response = await fetch(url + at, {
    method,
    headers: { "content-type": "application/json", ...(cookie && { cookie }) },
    body: body && JSON.stringify(body),
  });
  const set = response.headers.getSetCookie().map((cookie) => cookie.split(";")[0]);
  return { status: response.status, body: await response.json(), cookie: set.join("; ") };
}

async function accounts() {
  const account = (username) => ({ username, password: "correct horse" });
  const signIn = async (name) => (await steps["sign-in"](own, account(name))).cookie;
  assert.equal((await own("POST", `${path}/user.initUser`, account("ada"))).status, 200);
  const ada = await signIn("ada");
  assert.equal((await own("POST", `${path}/user.create`, { ...account("ben"), groupIds: [] }, ada)).status, 200);
  console.log(JSON.stringify({ ada, ben: await signIn("ben") }));
}

const ask = (what, cookie) => own("GET", `${path}/app.byId?input=${encodeURIComponent(JSON.stringify({ id: `hostile:${what}` }))}`, undefined, cookie);

async function exhaust() {
  // Each would go on for ever, or until the machine has nothing left.
  for (const what of ["loop", "loop-over-storage", "memory", "recursion", "random:5000000000", "log-huge:50"]) {
    const { status, body } = await ask(what);
    assert.equal(status, 500, `${what}: ${JSON.stringify(body)}`);
    assert.equal((await ask("look")).status, 200, `after ${what}`);
  }
  console.log("within limits");
}

/** A thousand calls while others exhaust what they have: each gets its answer. */
async function alongside() {
  const misbehaving = ["loop", "memory", "trap-in-write:half", "recursion"].map(async (what) => assert.equal((await ask(what)).status, 500));
  for (let batch = 0; batch < 100; batch++) {
    const answers = await Promise.all(Array.from({ length: 10 }, () => ask("look")));
    for (const { status, body } of answers) assert.deepEqual([status, body.result?.data.name], [200, ""]);
  }
  await Promise.all(misbehaving);
  console.log("1,000 right answers");
}

async function misbehave() {
  const { ada, ben } = JSON.parse(cookies);
  const anonymous = undefined;
  const found = async (cookie) => {
    const { status, body } = await ask("look", cookie);
    assert.equal(status, 200, JSON.stringify(body));
    return body.result.data.name;
  };
  const fails = async (what, cookie) => {
    const { status, body } = await ask(what, cookie);
    assert.equal(status, 500, `${what}: ${JSON.stringify(body)}`);
    assert.equal(body.error.message, "Internal server error");
  };
  const names = async () => (await own("GET", `${path}/app.all`, undefined, ada)).body.result.data.map(({ name }) => name);

  // The probe works: where instances are kept, something stays within the calls of one user.
  await ask("hide:ada's secret", ada);
  assert.equal((await found(ada)) !== "", keepsInstances);
  for (const stranger of [ben, anonymous, anonymous]) assert.equal(await found(stranger), "");
  await ask("hide:an anonymous secret", anonymous);
  for (const stranger of [anonymous, anonymous, ben]) assert.equal(await found(stranger), "");

  // What trapped is gone for every caller.
  await fails("hide-and-trap:ada's other secret", ada);
  for (const caller of [ada, ben, anonymous]) assert.equal(await found(caller), "");

  // And a trap leaves no transaction open, no change behind, and what was committed.
  for (const caller of [ada, anonymous]) await fails("trap-in-write:half", caller);
  assert.deepEqual(await names(), []);
  await fails("trap-after-commit:whole", ada);
  assert.deepEqual(await names(), ["whole"]);

  // A second transaction in a call is refused, not waited for.
  for (const what of ["begin-twice:twice", "handles"]) await ask(what, ada);
  assert.deepEqual(await names(), ["whole"]);
  console.log("kept apart");
}

await { accounts, misbehave, exhaust, alongside }[part]();
