// The procedures as a tRPC router, built from what the component describes.

import { initTRPC, TRPCError } from "@trpc/server";
import { answer, checked, invocation, procedures } from "./procedures.js";
import { isRefusal } from "./refusals.js";

/**
 * @import { Access, Procedure as Description } from "../../generated/interfaces/portico-dashboard-procedures.js"
 * @import { ErrorCode } from "../../generated/interfaces/portico-dashboard-types.js"
 * @import { Call } from "./contexts.js"
 * @import { Invocation, Procedure } from "./procedures.js"
 */

/** @type {Partial<Record<ErrorCode["tag"], import("@trpc/server").TRPCError["code"]>>} */
const CODES = {
  "bad-request": "BAD_REQUEST",
  unauthorized: "UNAUTHORIZED",
  forbidden: "FORBIDDEN",
  "not-found": "NOT_FOUND",
  conflict: "CONFLICT",
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
  if (!isRefusal(cause) || cause.payload.issues.length === 0) return null;
  /** @type {Record<string, string[]>} */
  const fieldErrors = {};
  const formErrors = [];
  for (const { path, message } of cause.payload.issues) {
    if (path.length === 0) formErrors.push(message);
    else (fieldErrors[path[0].val] ??= []).push(message);
  }
  return { formErrors, fieldErrors };
}

/** The error that a client gets. @param {unknown} error */
export function toTrpc(error) {
  if (isRefusal(error)) {
    // A code of a later version of the contract is like `internal`.
    const code = CODES[error.payload.code.tag] ?? "INTERNAL_SERVER_ERROR";
    return new TRPCError({ code, message: error.payload.message, cause: error });
  }
  console.error(error);
  return new TRPCError({ code: "INTERNAL_SERVER_ERROR", message: "Internal server error" });
}

/**
 * Checks access; needs no input. The component checks again.
 * @param {Access} access
 * @param {Call} call
 * @param {() => boolean | Promise<boolean>} hasUsers
 */
async function check(access, { user }, hasUsers) {
  if (access.tag === "public") return;
  if (access.tag === "onboarding") {
    if (await hasUsers()) throw new TRPCError({ code: "FORBIDDEN", message: "There are users already" });
    return;
  }
  if (!user) throw new TRPCError({ code: "UNAUTHORIZED", message: "Sign in first" });
  if (access.tag === "one-of" && !access.val.some((permission) => user.permissions.includes(permission))) {
    throw new TRPCError({ code: "FORBIDDEN", message: "You may not do this" });
  }
}

/**
 * A router whose context is the `Call`.
 * @param {{
 *   described: Description[],
 *   run: (call: Call, invocation: Invocation, hashes: boolean) => unknown,
 *   hasUsers: () => boolean | Promise<boolean>,
 * }} portico what the component describes, and what runs a call
 */
export function routerOf({ described, run, hasUsers }) {
  const names = new Set(described.map(({ name }) => name));
  const differing = [...names].filter((name) => !procedures.has(name)).concat([...procedures.keys()].filter((name) => !names.has(name)));
  if (differing.length > 0) throw new Error(`Either the component or procedures.json alone has: ${differing.join(", ")}`);

  /** @type {Record<string, Record<string, any>>} */
  const routers = {};
  for (const { name, kind, access, cost } of described) {
    const procedure = /** @type {Procedure} */ (procedures.get(name));
    const allowed = t.procedure.use(async ({ ctx, next }) => {
      await check(access, /** @type {Call} */ (ctx), hasUsers);
      return next();
    });
    const typed = allowed.input((/** @type {unknown} */ input) => checked(procedure, input));

    /** @param {{ ctx: object, input: unknown }} options */
    const resolve = async ({ ctx, input }) => {
      try {
        return answer(procedure, await run(/** @type {Call} */ (ctx), invocation(procedure, input), cost === "hash"));
      } catch (error) {
        throw toTrpc(error);
      }
    };
    const [group, member] = name.split(".");
    (routers[group] ??= {})[member] = kind === "query" ? typed.query(resolve) : typed.mutation(resolve);
  }
  return t.router(Object.fromEntries(Object.entries(routers).map(([name, members]) => [name, t.router(members)])));
}
