// A server that has better-auth, and embeds Portico: better-auth signs people in, its session says who calls, and Portico has
// the apps and who may change them. Both keep their tables in one file.
//
//     ADMIN=ada@example.org BETTER_AUTH_SECRET=… npm start       on 127.0.0.1:3000, data in dashboard.db
//     PORT=0 DATA=/var/lib/dashboard npm start                   port 0 takes a free one and says which

import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { Portico } from "@portico/dashboard";
import { betterAuth } from "better-auth";
import { getMigrations } from "better-auth/db/migration";
import { fromNodeHeaders, toNodeHandler } from "better-auth/node";
import Database from "better-sqlite3";
import express from "express";

const { PORT = "3000", DATA = ".", ADMIN, BETTER_AUTH_SECRET = randomBytes(32).toString("hex") } = process.env;
const database = new Database(join(DATA, "dashboard.db"));
database.pragma("journal_mode = WAL");

const options = { database, secret: BETTER_AUTH_SECRET, emailAndPassword: { enabled: true }, trustedOrigins: [] };
await (await getMigrations(options)).runMigrations();
const portico = await Portico.open({ database });

// Portico's first user is its administrator. Here no person signs in as that one.
const operator = { username: "operator", password: randomBytes(32).toString("hex") };
await portico.users.initUser({}, operator).catch((error) => {
  if (error.code !== "forbidden") throw error;
});

/** Portico's user for each of better-auth's who has called. @type {Map<string, string>} */
const known = new Map();

/**
 * Portico's user; none for one who is disabled there.
 * @param {{ id: string, name: string, email: string, emailVerified: boolean, image?: string | null }} user of better-auth
 */
async function userOf({ id, name, email, emailVerified, image }) {
  const found = known.get(id);
  if (found) return found;
  // Makes the user at the first sign-in. Two people may have one name, but not one email.
  const identity = { provider: "oidc", subject: `better-auth ${id}`, name: email, email, emailVerified, image };
  const user = await portico.signIn.external({}, /** @type {any} */ (identity)).catch((error) => {
    if (error.code !== "unauthorized") throw error;
  });
  if (!user) return undefined;
  // The first person who signs up with this address: better-auth does not verify it here.
  if (ADMIN && email === ADMIN.toLowerCase()) {
    const admins = (await portico.people.listGroups()).find(({ permissions }) => permissions.includes("admin"));
    if (admins) await portico.people.addMember(admins.id, user.id);
  }
  known.set(id, user.id);
  return user.id;
}

const app = express();
const server = app.listen(Number(PORT), "127.0.0.1", () => {
  const url = `http://127.0.0.1:${/** @type {any} */ (server.address()).port}`;
  const auth = betterAuth({ ...options, baseURL: url });
  app.all("/api/auth/*splat", toNodeHandler(auth));
  app.use(
    "/api/trpc",
    portico.trpc({
      async authenticate(request) {
        const session = await auth.api.getSession({ headers: fromNodeHeaders(request.headers) });
        const id = session && (await userOf(session.user));
        return id && portico.people.callerOf(id);
      },
    }),
  );
  console.log(`listening on ${url}`);
});

for (const signal of ["SIGINT", "SIGTERM"]) {
  process.once(signal, () => {
    server.close(() => void portico.close());
    server.closeIdleConnections();
  });
}
