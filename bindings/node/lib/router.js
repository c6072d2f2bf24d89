// The procedures as a tRPC router, built from what the component describes.

import { initTRPC, TRPCError } from "@trpc/server";
import { PorticoError } from "./errors.js";
import { answer, checked, invocation, procedures } from "./procedures.js";
import { renewing, sessionProcedures } from "./sessions.js";

/** @type {Record<string, import("@trpc/server").TRPCError["code"]>} */
const CODES = {
  "bad-request": "BAD_REQUEST",
  unauthorized: "UNAUTHORIZED",
  forbidden: "FORBIDDEN",
  "not-found": "NOT_FOUND",
  conflict: "CONFLICT",
  "too-many-requests": "TOO_MANY_REQUESTS",
  unavailable: "SERVICE_UNAVAILABLE",
};

const t = initTRPC.context().create({
  isDev: false,
  // Every broken rule by its field, in the place where tRPC clients expect it.
  errorFormatter: ({ shape, error }) => ({
    ...shape,
    data: { ...shape.data, zodError: broken(error.cause) },
  }),
});

/** @param {unknown} cause */
function broken(cause) {
  if (!(cause instanceof PorticoError) || cause.issues.length === 0) return null;
  /** @type {Record<string, string[]>} */
  const fieldErrors = {};
  const formErrors = [];
  for (const { path, message } of cause.issues) {
    if (path.length === 0) formErrors.push(message);
    else (fieldErrors[path[0]] ??= []).push(message);
  }
  return { formErrors, fieldErrors };
}

/**
 * The error that a client gets. The causes of faults go to the log, and not to the client.
 * @param {any} error
 * @param {string} name of the procedure, or what else failed
 * @param {(level: string, message: string) => void} log
 */
export function toTrpc(error, name, log) {
  if (error instanceof TRPCError) return error;
  const isOurs = error instanceof PorticoError;
  const code = isOurs ? CODES[error.code] : undefined;
  if (code && code !== "SERVICE_UNAVAILABLE") return new TRPCError({ code, message: error.message, cause: error });
  const cause = isOurs ? error.cause : error;
  log("error", `${name}: ${error?.message ?? error}${cause instanceof Error ? ` (${cause.stack})` : ""}`);
  if (code) return new TRPCError({ code, message: "The dashboard cannot answer now: try again" });
  return new TRPCError({ code: "INTERNAL_SERVER_ERROR", message: "Internal server error" });
}

/**
 * Checks access; needs no input. The component checks again.
 * @param {any} access
 * @param {any} caller
 * @param {() => Promise<boolean>} hasUsers
 */
async function check(access, caller, hasUsers) {
  if (access.tag === "public") return;
  if (access.tag === "onboarding") {
    if (await hasUsers()) throw new TRPCError({ code: "FORBIDDEN", message: "There are users already" });
    return;
  }
  if (!caller?.user) throw new TRPCError({ code: "UNAUTHORIZED", message: "Sign in first" });
  if (access.tag === "one-of" && !access.val.some((/** @type {string} */ permission) => caller.user.permissions.includes(permission))) {
    throw new TRPCError({ code: "FORBIDDEN", message: "You may not do this" });
  }
}

/**
 * A router whose context has the `caller`.
 * @param {{
 *   described: any[],
 *   run: (caller: any, name: string, invocation: import("./instance.js").Invocation) => Promise<unknown>,
 *   hasUsers: () => Promise<boolean>,
 *   sessions?: any,
 *   log: (level: string, message: string) => void,
 * }} portico what the component describes, and what runs a call
 */
export function routerOf({ described, run, hasUsers, sessions, log }) {
  /** @type {Record<string, Record<string, any>>} */
  const routers = {};
  for (const { name, kind, access } of described) {
    // A procedure that a later version of the contract adds has no input here yet.
    const procedure = procedures.get(name);
    if (!procedure) continue;
    const attempt = async (/** @type {() => Promise<any>} */ work) => {
      try {
        return await work();
      } catch (error) {
        throw toTrpc(error, name, log);
      }
    };
    const allowed = t.procedure.use(async ({ ctx, next }) => {
      await attempt(() => check(access, /** @type {any} */ (ctx).caller, hasUsers));
      return next();
    });
    const typed = allowed.input((/** @type {unknown} */ input) => checked(procedure, input));
    /** @param {{ ctx: any, input: unknown }} options */
    const resolve = ({ ctx, input }) =>
      attempt(async () => {
        const call = (/** @type {any} */ caller) => run(caller, name, invocation(procedure, input));
        const isPassword = sessions && name === "user.changePassword";
        const output = isPassword ? await renewing(sessions, ctx, /** @type {any} */ (input).userId, call) : await call(ctx.caller);
        return answer(procedure, output);
      });
    const [group, member] = name.split(".");
    (routers[group] ??= {})[member] = kind === "query" ? typed.query(resolve) : typed.mutation(resolve);
  }
  if (sessions) {
    const { signIn, signOut, get } = sessionProcedures(sessions, log);
    const guarded = (/** @type {string} */ name, /** @type {(ctx: any, input: any) => any} */ work) => async (/** @type {any} */ { ctx, input }) => {
      try {
        return await work(ctx, input);
      } catch (error) {
        throw toTrpc(error, name, log);
      }
    };
    const text = { type: "string" };
    const credentials = { type: "object", required: ["username", "password"], properties: { username: text, password: text } };
    const typed = t.procedure.input((/** @type {unknown} */ input) => checked(/** @type {any} */ ({ input: credentials }), input));
    routers.session = {
      signIn: typed.mutation(guarded("session.signIn", signIn)),
      signOut: t.procedure.mutation(guarded("session.signOut", signOut)),
      get: t.procedure.query(guarded("session.get", get)),
    };
  }
  return t.router(Object.fromEntries(Object.entries(routers).map(([name, members]) => [name, t.router(members)])));
}
