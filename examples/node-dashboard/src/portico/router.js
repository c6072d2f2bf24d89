// The procedures as a tRPC router, built from what the component describes.

import { initTRPC, TRPCError } from "@trpc/server";
import { flattenError, ZodError } from "zod";
import { isRefusal } from "./component.js";
import { procedures } from "./procedures.js";

/**
 * @import { Access } from "../../generated/interfaces/portico-dashboard-procedures.js"
 * @import { Error as ContractError, ErrorCode } from "../../generated/interfaces/portico-dashboard-types.js"
 * @import { Call, Component } from "./component.js"
 * @import { Hashing } from "./hashing.js"
 */

/** @type {Record<ErrorCode, import("@trpc/server").TRPCError["code"]>} */
const CODES = {
  "bad-request": "BAD_REQUEST",
  unauthorized: "UNAUTHORIZED",
  forbidden: "FORBIDDEN",
  "not-found": "NOT_FOUND",
  conflict: "CONFLICT",
  unavailable: "SERVICE_UNAVAILABLE",
  internal: "INTERNAL_SERVER_ERROR",
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
  if (cause instanceof ZodError) return flattenError(cause);
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
    return new TRPCError({ code: CODES[error.payload.code], message: error.payload.message, cause: error });
  }
  console.error(error);
  return new TRPCError({ code: "INTERNAL_SERVER_ERROR", message: "Internal server error" });
}

/**
 * Checks access; needs no input. The component checks again.
 * @param {Access} access
 * @param {Call} call
 * @param {() => boolean} hasUsers
 */
function check(access, { caller }, hasUsers) {
  if (access.tag === "public") return;
  if (access.tag === "onboarding") {
    if (hasUsers()) throw new TRPCError({ code: "FORBIDDEN", message: "There are users already" });
    return;
  }
  if (caller.tag === "anonymous") throw new TRPCError({ code: "UNAUTHORIZED", message: "Sign in first" });
  if (access.tag === "one-of" && !access.val.some((permission) => caller.val.permissions.includes(permission))) {
    throw new TRPCError({ code: "FORBIDDEN", message: "You may not do this" });
  }
}

/**
 * A router whose context is the `Call`.
 * @param {{ component: Component, hashing: Hashing, hasUsers: () => boolean }} portico
 */
export function routerOf({ component, hashing, hasUsers }) {
  const described = component.runFresh({ caller: { tag: "anonymous" } }, ({ procedures }) => procedures.describe());
  const unknown = described.filter(({ name }) => !procedures[name]);
  if (unknown.length > 0 || described.length !== Object.keys(procedures).length) {
    const names = unknown.map(({ name }) => name).join(", ");
    throw new Error(`The component and src/portico/procedures.js do not offer the same procedures. Not there: ${names}`);
  }

  /** @type {Record<string, Record<string, any>>} */
  const routers = {};
  for (const { name, kind, access, hashes } of described) {
    const row = procedures[name];
    const allowed = t.procedure.use(({ ctx, next }) => {
      check(access, /** @type {Call} */ (ctx), hasUsers);
      return next();
    });
    const procedure = row.input ? allowed.input(row.input) : allowed;

    /** @param {{ ctx: object, input: unknown }} options */
    const resolve = async ({ ctx, input }) => {
      const call = /** @type {Call} */ (ctx);
      const { on, name, values } = row.call(input);
      const invocation = { on, name, values: [call.caller, ...values] };
      try {
        const output = hashes
          ? await hashing.run(call, invocation)
          : component.run(call, (exports) => /** @type {any} */ (exports[on])[name](...invocation.values));
        return output === undefined ? undefined : row.answer?.(output);
      } catch (error) {
        throw toTrpc(error);
      }
    };
    const [group, member] = name.split(".");
    (routers[group] ??= {})[member] = kind === "query" ? procedure.query(resolve) : procedure.mutation(resolve);
  }
  return t.router(Object.fromEntries(Object.entries(routers).map(([name, members]) => [name, t.router(members)])));
}
