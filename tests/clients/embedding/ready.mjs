// A dashboard without users of its own: the library for Node over a file of SQLite, or where PGHOST is set over PostgreSQL.
// It keeps panels and search engines for as long as it runs.
//
//     PORT=0 DATA=FOLDER node ready.mjs

import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { Portico, PorticoError } from "../../../bindings/node/lib/index.js";

const { PORT, DATA, PGHOST } = process.env;
const driver = createRequire(new URL("../../../bindings/node/package.json", import.meta.url));
const database = PGHOST ? new (driver("pg").Pool)() : new (driver("libsql"))(join(DATA, "ready.db"));
if (PGHOST) database.on("error", (error) => console.error(`a connection broke: ${error.message}`));

const panels = new Map();
const engines = new Set();
const panelOf = (id, user) => [panels.get(id)].find((panel) => panel?.open || (panel && panel.owner === user));
const surroundings = {
  canViewBoard: (user, board) => panelOf(board, user) !== undefined,
  hasSearchEngine: (id) => engines.has(id),
};
const portico = await Portico.open({ database, surroundings });
const serve = portico.trpc();

const ROUTES = {
  "POST /teams": async (_, { name, may }) => ({ id: await portico.people.createGroup(null, name, may) }),
  "POST /invitations": ({ user }, { days }) => portico.people.createInvite(user.id, new Date(Date.now() + days * 86_400_000)),
  "POST /panels": ({ user }, { title, open, tiles }) => {
    const id = randomUUID();
    panels.set(id, { title, open, tiles, owner: user.id });
    return { id };
  },
  "POST /engines": () => {
    const id = randomUUID();
    engines.add(id);
    return { id };
  },
};

async function answer(request) {
  const { method, url, headers } = request;
  const [, token] = headers.cookie?.match(/portico_session=([^;]+)/) ?? [];
  const caller = (token && (await portico.people.authenticate(token))?.caller) || {};
  const [, panel] = url.match(/^\/panels\/([^/]+)$/) ?? [];
  if (method === "GET" && panel) {
    const found = panelOf(panel, caller.user?.id);
    return found ? [200, { tiles: await portico.apps.byIds(caller, found.tiles) }] : [404, {}];
  }
  const route = ROUTES[`${method} ${url}`];
  if (!route) return [404, {}];
  if (!caller.user) return [401, {}];
  return [201, await route(caller, await json(request))];
}

const server = createServer(async (request, response) => {
  if (request.url.startsWith("/trpc/")) return serve(request, response);
  const [status, body] = await answer(request).catch((error) => [error instanceof PorticoError ? error.httpStatus : 500, { message: String(error) }]);
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
});
server.listen(Number(PORT), "127.0.0.1", () => console.log(`listening on http://127.0.0.1:${server.address().port}`));
process.once("SIGTERM", async () => {
  server.close();
  server.closeAllConnections();
  await portico.close();
  await (PGHOST ? database.end() : database.close());
});
