// A client whose types are generated from the document, as people make one: `openapi-typescript` and
// `openapi-fetch`, both as they come. That this file compiles is half of the test. PORTICO_URL says
// where the service is, PORTICO_PASSWORD which password the user root has; `tests/openapi` sets them.

import assert from "node:assert/strict";
import { before, test } from "node:test";
import createClient, { type Client } from "openapi-fetch";
import type { components, paths } from "./generated/schema.js";

type User = components["schemas"]["User"];
type App = components["schemas"]["App"];
type Failure = components["schemas"]["Error"];
type CallFailure = components["schemas"]["CallError"];

const baseUrl = process.env["PORTICO_URL"] ?? "";
const password = process.env["PORTICO_PASSWORD"] ?? "";

/** The data of an answer that must be good. */
function good<T>(answer: { data?: T; error?: unknown; response: Response }): T {
  assert.equal(answer.error, undefined, JSON.stringify(answer.error));
  assert.equal(answer.response.status, 200);
  return answer.data as T;
}

let client: Client<paths>;
let root: string;

before(async () => {
  const anonymous = createClient<paths>({ baseUrl });
  const session = good(await anonymous.POST("/api/auth/sign-in", { body: { username: "root", password } }));
  root = session.user.id;
  const signedIn = createClient<paths>({ baseUrl, headers: { authorization: `Bearer ${session.token}` } });
  const { result } = good(await signedIn.POST("/api/trpc/apiKeys.create", { body: { name: "generated" } }));
  client = createClient<paths>({ baseUrl, headers: { ApiKey: result.data.apiKey } });
});

test("apps are created, listed, changed and deleted", async () => {
  const created = good(await client.POST("/api/apps", { body: { name: "Jellyfin", iconUrl: "/jellyfin.svg" } }));
  const path = { id: created.appId };
  const all: App[] = good(await client.GET("/api/apps"));
  assert.deepEqual(all.map((app) => app.id), [created.id]);

  good(await client.PATCH("/api/apps/{id}", { params: { path }, body: { href: "https://jellyfin.example" } }));
  const changed: App = good(await client.GET("/api/apps/{id}", { params: { path } }));
  assert.deepEqual(changed, {
    id: created.appId,
    name: "Jellyfin",
    description: null,
    iconUrl: "/jellyfin.svg",
    href: "https://jellyfin.example",
    pingUrl: null,
  });
  const page = good(await client.GET("/api/apps/paginated", { params: { query: { page: 1, pageSize: 5, search: "jelly" } } }));
  assert.deepEqual(page, { items: [changed], totalCount: 1 });

  good(await client.DELETE("/api/apps/{id}", { params: { path } }));
  assert.deepEqual(good(await client.GET("/api/apps")), []);
});

test("users are created, found, changed and deleted", async () => {
  const account = { username: "Ada", password, email: "ada@example.com", groupIds: [] };
  const { id } = good(await client.POST("/api/users", { body: account }));
  const found = good(await client.POST("/api/users/search", { body: { query: "ada", limit: 1 } }));
  assert.deepEqual(found, [{ id, name: "ada", email: "ada@example.com", image: null }]);

  good(await client.PUT("/api/users/profile", { body: { id, name: "ada lovelace", email: null } }));
  const params = { path: { userId: id } };
  const user: User = good(await client.GET("/api/users/{userId}", { params }));
  assert.deepEqual([user.name, user.email, user.provider], ["ada lovelace", null, "credentials"]);

  good(await client.DELETE("/api/users/{userId}", { params }));
  const names = good(await client.GET("/api/users")).map((user) => user.name);
  assert.deepEqual(names, ["root"]);
});

test("procedures that are no routes are called", async () => {
  const { result } = good(await client.POST("/api/trpc/group.createGroup", { body: { name: "readers" } }));
  const board = {
    name: "home",
    isPublic: false,
    items: [{ kind: "bookmarks" as const, appIds: [] }],
  };
  const created = good(await client.POST("/api/trpc/board.create", { body: board }));
  good(
    await client.POST("/api/trpc/board.share", {
      body: { boardId: created.result.data.id, users: [root], groups: [result.data.id] },
    }),
  );
  const input = JSON.stringify({ id: created.result.data.id });
  const seen = good(await client.GET("/api/trpc/board.byId", { params: { query: { input } } }));
  const item = seen.result.data.items[0];
  // The kind tells which keys there are.
  assert.deepEqual(item?.kind === "bookmarks" ? item.appIds : null, []);
});

test("a refusal is typed as the schema of errors", async () => {
  const { data, error, response } = await client.POST("/api/apps", { body: { name: "", iconUrl: "/x.svg" } });
  assert.equal(data, undefined);
  const failure: Failure | undefined = error;
  assert.equal(response.status, 400);
  assert.equal(failure?.code, "BAD_REQUEST");
  assert.deepEqual(failure?.issues, [{ path: ["name"], message: "must not be empty" }]);
  assert.deepEqual(Object.keys(failure?.data.zodError?.fieldErrors ?? {}), ["name"]);

  const call = await client.POST("/api/trpc/group.deleteGroup", { body: { id: "nothing" } });
  const callFailure: CallFailure | undefined = call.error;
  assert.equal(callFailure?.error.data.code, "NOT_FOUND");
  assert.equal(callFailure?.error.data.path, "group.deleteGroup");
});

test("what the document does not allow does not compile", async () => {
  // @ts-expect-error an app has a name
  const nameless = await client.POST("/api/apps", { body: { iconUrl: "/x.svg" } });
  // @ts-expect-error there is no such colour scheme
  const pink = await client.POST("/api/trpc/user.changeColorScheme", { body: { colorScheme: "pink" } });
  assert.deepEqual([nameless.response.status, pink.response.status], [400, 400]);
  // @ts-expect-error there is no such path
  assert.equal((await client.GET("/api/nothing")).response.status, 404);
});
