// The dashboard: its own pages, sessions and panels, and Portico's procedures at /trpc.

import { randomBytes, randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { Portico, PorticoError } from "@portico/dashboard";
import express from "express";
import { z } from "zod";
import { createTables, Database, hash } from "./database.js";
import { Sessions } from "./sessions.js";
import { Transaction, VIEWABLE } from "./storage.js";
import { icons } from "./surroundings.js";

/** @import { Request, Response, NextFunction } from "express" */

/** An answer that reports an error. */
class HttpError extends Error {
  /**
   * @param {number} status
   * @param {string} message
   */
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/** @param {string} file the database; created if missing */
export async function dashboard(file) {
  createTables(file);
  const database = new Database(file);
  const sessions = new Sessions(database);
  const portico = await Portico.open({
    storage: { begin: (access, /** @type {import("./sessions.js").Who} */ caller) => new Transaction(database, access, caller) },
    icons,
  });
  const db = database.writer;

  const app = express();
  app.disable("x-powered-by");
  app.use("/trpc", portico.trpc({ authenticate: (/** @type {Request} */ request) => sessions.callerOf(request) }));
  app.use(express.static(fileURLToPath(new URL("../public", import.meta.url))));
  app.use(express.json());

  /** The user who calls. @param {Request} request */
  const signedIn = (request) => {
    const { user } = sessions.callerOf(request);
    if (!user) throw new HttpError(401, "Sign in first");
    return user;
  };
  /** @param {Request} request */
  const administrator = (request) => {
    const caller = signedIn(request);
    if (!caller.permissions.includes("admin")) throw new HttpError(403, "You may not do this");
    return caller;
  };
  /** @param {string} table @param {string} uid */
  const numberOf = (table, uid) => {
    const row = db.first(`SELECT number FROM ${table} WHERE uid = ?`, uid);
    if (!row) throw new HttpError(404, "There is no such thing");
    return row.number;
  };

  app.post("/session", async (request, response) => {
    const { username, password } = z.object({ username: z.string(), password: z.string() }).parse(request.body);
    const user = await sessions.signIn(portico, response, username, password);
    if (!user) throw new HttpError(401, "The account was changed just now: sign in again");
    response.json({ user });
  });
  app.delete("/session", (request, response) => {
    sessions.signOut(request, response);
    response.status(204).end();
  });
  app.get("/session", (request, response) => {
    const { id, permissions } = signedIn(request);
    const { login } = db.first("SELECT login FROM accounts WHERE uid = ?", id);
    response.json({ user: { id, name: login }, permissions });
  });

  // Panels, teams and so on: what this dashboard had before. No more of it than an example needs.

  app.get("/panels/:uid", (request, response) => {
    const visible = db.first(VIEWABLE, sessions.callerOf(request).user?.id ?? "", request.params.uid);
    if (!visible) throw new HttpError(404, "There is no such panel");
    const { title } = db.first("SELECT title FROM panels WHERE number = ?", visible.number);
    const sql = `
      SELECT tiles.uid AS id, tiles.title, icon, link FROM panel_tiles JOIN tiles ON tiles.number = tile
      WHERE panel = ? ORDER BY position`;
    response.json({ title, tiles: db.all(sql, visible.number) });
  });
  app.post("/panels", (request, response) => {
    const caller = signedIn(request);
    const input = z.object({ title: z.string().min(1), open: z.boolean(), tiles: z.array(z.string()) });
    const { title, open, tiles } = input.parse(request.body);
    const id = randomUUID();
    database.write((db) => {
      const sql = "INSERT INTO panels (uid, title, open, owner) VALUES (?, ?, ?, ?)";
      db.run(sql, id, title, Number(open), numberOf("accounts", caller.id));
      const panel = numberOf("panels", id);
      tiles.forEach((tile, position) => {
        db.run("INSERT INTO panel_tiles (panel, position, tile) VALUES (?, ?, ?)", panel, position, numberOf("tiles", tile));
      });
    });
    response.status(201).json({ id });
  });
  app.post("/teams", (request, response) => {
    administrator(request);
    const { name, may, members } = z
      .object({ name: z.string().min(1), may: z.array(z.string()), members: z.array(z.string()) })
      .parse(request.body);
    const id = randomUUID();
    database.write((db) => {
      if (db.first("SELECT 1 FROM teams WHERE name = ?", name)) throw new HttpError(409, "There is a team of this name");
      db.run("INSERT INTO teams (uid, name) VALUES (?, ?)", id, name);
      const team = numberOf("teams", id);
      for (const right of new Set(may)) db.run("INSERT INTO team_rights (team, may) VALUES (?, ?)", team, right);
      for (const member of new Set(members)) {
        db.run("INSERT INTO team_members (account, team) VALUES (?, ?)", numberOf("accounts", member), team);
      }
    });
    response.status(201).json({ id });
  });
  app.post("/invitations", (request, response) => {
    const { id: maker } = administrator(request);
    const { days } = z.object({ days: z.number().positive() }).parse(request.body);
    const id = randomUUID();
    const token = randomBytes(32).toString("base64url");
    const sql = "INSERT INTO invitations (uid, token_hash, ends_at, made_by) VALUES (?, ?, ?, ?)";
    database.write((db) =>
      db.run(sql, id, hash(token), Date.now() + Math.round(days * 86_400_000), numberOf("accounts", maker)),
    );
    response.status(201).json({ id, token });
  });
  app.post("/engines", (request, response) => {
    administrator(request);
    const { name, url } = z.object({ name: z.string().min(1), url: z.url() }).parse(request.body);
    const id = randomUUID();
    database.write((db) => db.run("INSERT INTO engines (uid, name, url) VALUES (?, ?, ?)", id, name, url));
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

  return { app, close: () => portico.close() };
}
