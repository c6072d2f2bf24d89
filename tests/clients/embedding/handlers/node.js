// `app.byId` as a dashboard in Node would write it by hand: Express and libsql, a session by its cookie, one statement for
// the app. What ../speed.mjs compares examples/node-dashboard with. It makes an administrator, a session and an app
// without a check.

import { createHash, randomBytes, randomUUID } from "node:crypto";
import { createRequire } from "node:module";
import { join } from "node:path";

const require = createRequire(new URL("../../../../examples/node-dashboard/main.js", import.meta.url));
const express = require("express");
const Database = require("libsql");

const db = new Database(join(process.env.DATA, "handlers.db"));
db.pragma("journal_mode = WAL");
db.exec(`
  CREATE TABLE account (id TEXT PRIMARY KEY, name TEXT NOT NULL);
  CREATE TABLE permission (account TEXT NOT NULL, permission TEXT NOT NULL, PRIMARY KEY (account, permission));
  CREATE TABLE session (token_hash BLOB PRIMARY KEY, account TEXT NOT NULL, ends_at INTEGER NOT NULL);
  CREATE TABLE app (id TEXT PRIMARY KEY, name TEXT NOT NULL, description TEXT, icon_url TEXT NOT NULL, href TEXT, ping_url TEXT)`);
const callers = db.prepare(`
  SELECT session.account AS id, permission FROM session LEFT JOIN permission ON permission.account = session.account
  WHERE token_hash = ? AND ends_at > ?`);
const apps = db.prepare(`
  SELECT id, name, description, icon_url AS "iconUrl", href, ping_url AS "pingUrl" FROM app WHERE id = ?`);

const hash = (token) => createHash("sha256").update(token).digest();
function callerOf(request) {
  const token = request.headers.cookie?.match(/(?:^|; *)session=([\w-]{43})/)?.[1];
  const rows = token ? callers.all(hash(token), Date.now()) : [];
  return rows.length === 0 ? null : { id: rows[0].id, permissions: rows.map(({ permission }) => permission) };
}

const server = express();
server.disable("x-powered-by");
server.get("/trpc/app.byId", (request, response) => {
  callerOf(request);
  let input;
  try {
    input = JSON.parse(request.query.input);
  } catch {
    input = undefined;
  }
  if (typeof input?.id !== "string") return response.status(400).json({ error: { message: "id must be a text" } });
  const app = apps.get(input.id);
  if (!app) return response.status(404).json({ error: { message: "App not found" } });
  response.json({ result: { data: app } });
});
server.use(express.json());
server.post("/trpc/user.initUser", (request, response) => {
  const id = randomUUID();
  db.prepare("INSERT INTO account VALUES (?, ?)").run(id, request.body.username);
  db.prepare("INSERT INTO permission VALUES (?, 'admin')").run(id);
  response.json({ result: { data: id } });
});
server.post("/session", (request, response) => {
  const token = randomBytes(32).toString("base64url");
  const { id } = db.prepare("SELECT id FROM account WHERE name = ?").get(request.body.username);
  db.prepare("INSERT INTO session VALUES (?, ?, ?)").run(hash(token), id, Date.now() + 3_600_000);
  response.cookie("session", token, { httpOnly: true, sameSite: "lax" }).json({});
});
server.post("/trpc/app.create", (request, response) => {
  const [id, { name, description, iconUrl, href }] = [randomUUID(), request.body];
  db.prepare("INSERT INTO app VALUES (?, ?, ?, ?, ?, NULL)").run(id, name, description, iconUrl, href);
  response.json({ result: { data: { id } } });
});
const listener = server.listen(Number(process.env.PORT), "127.0.0.1", () => {
  console.log(`listening on http://127.0.0.1:${listener.address().port}`);
});
