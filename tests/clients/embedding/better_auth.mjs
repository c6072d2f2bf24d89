// examples/node-better-auth: better-auth's session says who calls.
//
//     node better_auth.mjs session URL       (started with ADMIN=ada@example.org on an empty folder)
//     node better_auth.mjs restarted URL     the same, started again

import assert from "node:assert/strict";

const [, , part, url] = process.argv;
const headers = (cookie) => ({ "content-type": "application/json", origin: url, ...(cookie && { cookie }) });

/** Asks, and gives status, body and the cookies that were set. */
async function ask(path, body, cookie) {
  const method = body ? "POST" : "GET";
  const response = await fetch(url + path, { method, headers: headers(cookie), body: body && JSON.stringify(body) });
  const set = response.headers.getSetCookie().map((cookie) => cookie.split(";")[0]);
  return { status: response.status, body: await response.json(), cookie: set.join("; ") };
}

async function begin(how, name) {
  const { status, body, cookie } = await ask(`/api/auth/${how}/email`, { name, email: `${name}@example.org`, password: "correct horse" });
  assert.equal(status, 200, JSON.stringify(body));
  return cookie;
}
const signUp = (name) => begin("sign-up", name);

if (part === "restarted") {
  // Nothing is remembered of who called before: one who is disabled is a stranger all the same.
  const [ada, ben] = [await begin("sign-in", "ada"), await begin("sign-in", "ben")];
  assert.equal((await ask("/api/trpc/app.all", undefined, ada)).status, 200);
  const { status, body } = await ask("/api/trpc/app.all", undefined, ben);
  assert.equal(status, 401, JSON.stringify(body));
  process.exit(0);
}

const jellyfin = { name: "Jellyfin", iconUrl: "/j.svg" };
const [ada, ben] = [await signUp("ada"), await signUp("ben")];
const created = await ask("/api/trpc/app.create", jellyfin, ada);
assert.equal(created.status, 200, JSON.stringify(created.body));
assert.equal((await ask("/api/trpc/app.create", jellyfin, ben)).status, 403, "who is not the administrator may not");
assert.equal((await ask("/api/trpc/app.create", jellyfin)).status, 401, "nor a stranger");
assert.deepEqual((await ask("/api/trpc/app.all", undefined, ben)).body.result.data.map(({ name }) => name), ["Jellyfin"]);

// The first user's account belongs to nobody; those of better-auth are Portico's users.
const users = (await ask("/api/trpc/user.getAll", undefined, ada)).body.result.data;
assert.deepEqual(users.map(({ name }) => name), ["ada@example.org", "ben@example.org", "operator"]);

// A disabled user signs in with better-auth, and is a stranger to Portico.
const { id } = users[1];
assert.equal((await ask("/api/trpc/user.setDisabled", { userId: id, disabled: true }, ada)).status, 200);
assert.equal((await ask("/api/trpc/app.all", undefined, ben)).status, 401);

// Signed out there, signed out here.
assert.equal((await ask("/api/auth/sign-out", {}, ada)).status, 200);
assert.equal((await ask("/api/trpc/app.all", undefined, ada)).status, 401);
console.log("one session for both");
