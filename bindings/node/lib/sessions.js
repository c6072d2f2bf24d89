// Signing in with the ready storage: the cookie, and the procedures `session.signIn`, `session.signOut` and
// `session.get`, which exist with { database } only.

import { Throttle } from "./throttle.js";

/** The procedures that set the cookie. */
export const SETTING_COOKIES = new Set(["session.signIn", "session.signOut", "user.changePassword"]);

/** The functions of `portico:sql/people`. */
export const PEOPLE = [
  ...["migrate", "beginSession", "authenticate", "callerOf", "renewWithPassword", "endSession", "endOtherSessions"],
  ...["listSessions", "getPerson", "permissionsOf", "listGroups", "createGroup", "renameGroup", "setGroupPermissions"],
  ...["addMember", "removeMember", "deleteGroup", "createInvite", "listInvites", "deleteInvite", "createKey", "listKeys"],
  ...["deleteKey", "forgetBoard", "forgetSearchEngine"],
];

const COOKIE = "portico_session";

/** The session's token or the API key of a request. @param {(name: string) => string | null | undefined} header */
function secretOf(header) {
  const [, key] = header("authorization")?.match(/^Bearer (.+)$/i) ?? [];
  if (key) return { secret: key };
  const [, token] = header("cookie")?.match(new RegExp(`(?:^|; *)${COOKIE}=([^;]+)`)) ?? [];
  return { secret: token, token };
}

/**
 * How `trpc` identifies callers unless the dashboard does.
 * @param {any} portico
 * @param {number} most how long a session lasts, in milliseconds
 */
export function sessionsOf(portico, most) {
  return {
    authenticate: undefined,
    /**
     * Who calls, by cookie or API key.
     * @param {(name: string) => string | null | undefined} header
     */
    async identify(header) {
      const { secret, token } = secretOf(header);
      const found = secret ? await portico.people.authenticate(secret) : null;
      return { caller: found?.caller ?? {}, token: found ? token : undefined };
    },
    /** The cookie with a token, or without one none. @param {string} token @param {boolean} isSecure */
    cookie: (token, isSecure) =>
      `${COOKIE}=${token}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${token ? Math.floor(most / 1_000) : 0}${isSecure ? "; Secure" : ""}`,
  };
}

/** @param {any} ctx */
function checkContext(ctx) {
  // Before any work: a session that began without its cookie would be good for no one.
  if (typeof ctx.setToken !== "function") throw new TypeError("session.* needs the context that portico.trpc makes");
}

/**
 * What the procedures of sessions do. All attempts to sign in share one throttle.
 * @param {any} portico
 * @param {(level: string, message: string) => void} log
 */
export function sessionProcedures(portico, log) {
  const throttle = new Throttle();
  let hasWarned = false;
  return {
    /** @param {any} ctx @param {{ username: string, password: string }} input */
    async signIn(ctx, { username, password }) {
      checkContext(ctx);
      if (!ctx.address && !hasWarned) {
        hasWarned = true;
        log("warn", "session.signIn does not know where clients are: it limits attempts by account only. Give portico.trpc { address }");
      }
      const attempt = throttle.begin(username, ctx.address);
      const user = await portico.signIn.password({}, username, password);
      const { token } = await portico.people.beginSession(user.id, user.passwordVersion);
      attempt.succeeded();
      ctx.setToken(token);
      return { id: user.id, name: user.name };
    },
    /** @param {any} ctx */
    async signOut(ctx) {
      checkContext(ctx);
      if (ctx.token) await portico.people.endSession(ctx.token);
      ctx.setToken("");
    },
    /** Who is signed in. @param {any} ctx */
    get: async (ctx) => (ctx.caller?.user ? portico.people.getPerson(ctx.caller.user.id) : null),
  };
}

/**
 * Runs the change of a password. The session of the call goes on with another token, because who knew the old password may
 * know the token too.
 * @param {any} portico
 * @param {any} ctx
 * @param {string} userId whose password it is
 * @param {(caller: any) => Promise<any>} change
 */
export async function renewing(portico, ctx, userId, change) {
  if (!ctx.token || !ctx.setToken || ctx.caller?.user?.id !== userId) return change(ctx.caller);
  const { caller, token } = await portico.people.renewWithPassword(ctx.caller);
  const changed = await change(caller);
  if (token) ctx.setToken(token);
  return changed;
}
