// Signing in with the ready storage: the cookie, the throttle, and the procedures `session.signIn`, `session.signOut` and
// `session.get`, which exist with { database } only.

import { PorticoError } from "./errors.js";

/** The functions of `portico:sql/people`. */
export const PEOPLE = [
  ...["migrate", "beginSession", "authenticate", "callerOf", "renewWithPassword", "endSession", "endOtherSessions"],
  ...["listSessions", "getPerson", "permissionsOf", "listGroups", "createGroup", "renameGroup", "setGroupPermissions"],
  ...["addMember", "removeMember", "deleteGroup", "createInvite", "listInvites", "deleteInvite", "createKey", "listKeys"],
  ...["deleteKey", "forgetBoard", "forgetSearchEngine"],
];

const COOKIE = "portico_session";
/** How many attempts to sign in there may be in a time: at one account, and from one address. */
const PER_ACCOUNT = 10;
const PER_ADDRESS = 50;
const WINDOW_MILLISECONDS = 5 * 60_000;
/** The most accounts and addresses that are counted. */
const COUNTED = 20_000;

/** Counts attempts. Each is counted when it begins, so many at once do not pass. */
export class Throttle {
  /** @type {Map<string, { attempts: number, until: number }>} */
  #counts = new Map();
  #now;

  /** @param {() => number} now in milliseconds */
  constructor(now = Date.now) {
    this.#now = now;
  }

  /**
   * Begins an attempt, or refuses it.
   * @param {string} username
   * @param {string | undefined} address
   */
  begin(username, address) {
    const account = `account ${username.normalize("NFC").trim().toLowerCase().slice(0, 255)}`;
    const keys = [[account, PER_ACCOUNT], ...(address ? [[`address ${address}`, PER_ADDRESS]] : [])];
    for (const [key, most] of /** @type {[string, number][]} */ (keys)) {
      const count = this.#count(key);
      if (count.attempts >= most) {
        const seconds = Math.ceil((count.until - this.#now()) / 1_000);
        throw new PorticoError("too-many-requests", `Too many attempts: try again in ${seconds} seconds`);
      }
      count.attempts++;
    }
    /** The password was right: the account's attempts are forgotten. */
    return { succeeded: () => void this.#counts.delete(account) };
  }

  /** @param {string} key */
  #count(key) {
    let count = this.#counts.get(key);
    if (!count || count.until <= this.#now()) {
      this.#counts.delete(key);
      count = { attempts: 0, until: this.#now() + WINDOW_MILLISECONDS };
      this.#counts.set(key, count);
      // The oldest one is first.
      const [oldest] = this.#counts.keys();
      if (this.#counts.size > COUNTED) this.#counts.delete(oldest);
    }
    return count;
  }
}

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
  const throttle = new Throttle();
  return {
    authenticate: undefined,
    /**
     * Who calls, by cookie or API key.
     * @param {(name: string) => string | null | undefined} header
     */
    async identify(header) {
      const { secret, token } = secretOf(header);
      const found = secret ? await portico.people.authenticate(secret) : null;
      return { caller: found?.caller ?? {}, token: found ? token : undefined, throttle };
    },
    /** The cookie with a token, or without one none. @param {string} token @param {boolean} isSecure */
    cookie: (token, isSecure) =>
      `${COOKIE}=${token}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${token ? Math.floor(most / 1_000) : 0}${isSecure ? "; Secure" : ""}`,
  };
}

/**
 * What the procedures of sessions do.
 * @param {any} portico
 */
export const sessionProcedures = (portico) => ({
  /** @param {any} ctx @param {{ username: string, password: string }} input */
  async signIn(ctx, { username, password }) {
    const attempt = ctx.throttle?.begin(username, ctx.address);
    const user = await portico.signIn.password({}, username, password);
    const { token } = await portico.people.beginSession(user.id, user.passwordVersion);
    attempt?.succeeded();
    ctx.setToken(token);
    return { id: user.id, name: user.name };
  },
  /** @param {any} ctx */
  async signOut(ctx) {
    if (ctx.token) await portico.people.endSession(ctx.token);
    ctx.setToken("");
  },
  /** Who is signed in. @param {any} ctx */
  get: async (ctx) => (ctx.caller?.user ? portico.people.getPerson(ctx.caller.user.id) : null),
});

/**
 * Runs the change of a password. The session of the call goes on with another token, because who knew the old password may
 * know the token too.
 * @param {any} portico
 * @param {any} ctx
 * @param {string} userId whose password it is
 * @param {(caller: any) => Promise<any>} change
 */
export async function renewing(portico, ctx, userId, change) {
  if (!ctx.token || ctx.caller?.user?.id !== userId) return change(ctx.caller);
  const { caller, token } = await portico.people.renewWithPassword(ctx.caller);
  const changed = await change(caller);
  if (token) ctx.setToken(token);
  return changed;
}
