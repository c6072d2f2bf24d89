// The dashboard over PostgreSQL: the routes of ../src/dashboard.js.

import { randomBytes, randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { Portico, PorticoError } from "@portico/dashboard";
import express from "express";
import { z } from "zod";
import { icons } from "../src/surroundings.js";
import { Database, hash } from "./database.js";
import { Sessions } from "./sessions.js";
import { Transaction, VIEWABLE } from "./storage.js";

/** @import { Request, Response, NextFunction } from "express" */
/** @import { Connection } from "./database.js" */

/** An answer that reports an error. */
class HttpError extends Error {
  /** @param {number} status @param {string} message */
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/** The server, on the database that the environment names. */
export async function dashboard() {
  const database = new Database();
  await database.createTables();
  const sessions = new Sessions(database);
  const portico = await Portico.open({
    storage: { begin: async (access, /** @type {import("./sessions.js").Who} */ caller) => new Transaction(database, access, caller) },
    icons,
  });

  const app = express();
  app.disable("x-powered-by");
  app.use("/trpc", portico.trpc({ authenticate: (/** @type {Request} */ request) => sessions.callerOf(request) }));
  app.use(express.static(fileURLToPath(new URL("../public", import.meta.url))));
  app.use(express.json());

  /** The user who calls. @param {Request} request */
  const signedIn = async (request) => {
    const { user } = await sessions.callerOf(request);
    if (!user) throw new HttpError(401, "Sign in first");
    return user;
  };
  /** @param {Request} request */
  const administrator = async (request) => {
    const caller = await signedIn(request);
    if (!caller.permissions.includes("admin")) throw new HttpError(403, "You may not do this");
    return caller;
  };
  /** @param {Connection} db @param {string} table @param {string} uid @returns {Promise<number>} */
  const numberOf = async (db, table, uid) => {
    const row = await db.first(`SELECT number FROM ${table} WHERE uid = $1`, uid);
    if (!row) throw new HttpError(404, "There is no such thing");
    return row.number;
  };

  app.post("/session", async (request, response) => {
    const { username, password } = z.object({ username: z.string(), password: z.string() }).parse(request.body);
    const user = await sessions.signIn(portico, response, username, password);
    if (!user) throw new HttpError(401, "The account was changed just now: sign in again");
    response.json({ user });
  });
  app.delete("/session", async (request, response) => {
    await sessions.signOut(request, response);
    response.status(204).end();
  });
  app.get("/session", async (request, response) => {
    const { id, permissions } = await signedIn(request);
    const { login } = await database.first("SELECT login FROM accounts WHERE uid = $1", id);
    response.json({ user: { id, name: login }, permissions });
  });

  app.get("/panels/:uid", async (request, response) => {
    const { user } = await sessions.callerOf(request);
    const visible = await database.first(VIEWABLE, user?.id ?? "", request.params.uid);
    if (!visible) throw new HttpError(404, "There is no such panel");
    const { title } = await database.first("SELECT title FROM panels WHERE number = $1", visible.number);
    const sql = `
      SELECT tiles.uid AS id, tiles.title, icon, link FROM panel_tiles JOIN tiles ON tiles.number = tile
      WHERE panel = $1 ORDER BY position`;
    response.json({ title, tiles: await database.all(sql, visible.number) });
  });
  app.post("/panels", async (request, response) => {
    const caller = await signedIn(request);
    const input = z.object({ title: z.string().min(1), open: z.boolean(), tiles: z.array(z.string()) });
    const { title, open, tiles } = input.parse(request.body);
    const id = randomUUID();
    await database.write(async (db) => {
      const sql = "INSERT INTO panels (uid, title, open, owner) VALUES ($1, $2, $3, $4)";
      await db.run(sql, id, title, open, await numberOf(db, "accounts", caller.id));
      const panel = await numberOf(db, "panels", id);
      for (const [position, tile] of tiles.entries()) {
        const sql = "INSERT INTO panel_tiles (panel, position, tile) VALUES ($1, $2, $3)";
        await db.run(sql, panel, position, await numberOf(db, "tiles", tile));
      }
    });
    response.status(201).json({ id });
  });
  app.post("/teams", async (request, response) => {
    await administrator(request);
    const { name, may, members } = z
      .object({ name: z.string().min(1), may: z.array(z.string()), members: z.array(z.string()) })
      .parse(request.body);
    const id = randomUUID();
    await database.write(async (db) => {
      if (await db.first("SELECT 1 FROM teams WHERE name = $1", name)) throw new HttpError(409, "There is a team of this name");
      await db.run("INSERT INTO teams (uid, name) VALUES ($1, $2)", id, name);
      const team = await numberOf(db, "teams", id);
      for (const right of new Set(may)) await db.run("INSERT INTO team_rights (team, may) VALUES ($1, $2)", team, right);
      for (const member of new Set(members)) {
        const account = await numberOf(db, "accounts", member);
        await db.run("INSERT INTO team_members (account, team) VALUES ($1, $2)", account, team);
      }
    });
    response.status(201).json({ id });
  });
  app.post("/invitations", async (request, response) => {
    const { id: maker } = await administrator(request);
    const { days } = z.object({ days: z.number().positive() }).parse(request.body);
    const id = randomUUID();
    const token = randomBytes(32).toString("base64url");
    const ends = Date.now() + Math.round(days * 86_400_000);
    const sql = "INSERT INTO invitations (uid, token_hash, ends_at, made_by) VALUES ($1, $2, $3, $4)";
    await database.run(sql, id, hash(token), ends, await numberOf(database, "accounts", maker));
    response.status(201).json({ id, token });
  });
  app.post("/engines", async (request, response) => {
    await administrator(request);
    const { name, url } = z.object({ name: z.string().min(1), url: z.url() }).parse(request.body);
    const id = randomUUID();
    await database.run("INSERT INTO engines (uid, name, url) VALUES ($1, $2, $3)", id, name, url);
    response.status(201).json({ id });
  });

  app.use((/** @type {Request} */ request) => {
    throw new HttpError(404, `There is nothing at ${request.path}`);
  });
  app.use((/** @type {any} */ error, /** @type {Request} */ _, /** @type {Response} */ response, /** @type {NextFunction} */ next) => {
    if (response.headersSent) return next(error);
    if (error instanceof z.ZodError) return response.status(400).json({ message: z.prettifyError(error) });
    if (typeof error.status === "number") return response.status(error.status).json({ message: error.message });
    if (error instanceof PorticoError) return response.status(error.httpStatus).json({ message: error.message });
    console.error(error);
    response.status(500).json({ message: "Internal server error" });
  });

  return {
    app,
    close: async () => {
      await portico.close();
      await database.close();
    },
  };
}
