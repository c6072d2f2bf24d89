// The inputs of the procedures, and how they become calls of the component. Only types are declared
// here, which the contract needs. The component describes names, kinds and access (`describe`) and
// checks all bounds.

import { z } from "zod";

/**
 * @import { Root } from "../../generated/portico.js"
 * @import { App, TextChange, User, UserSummary } from "../../generated/interfaces/portico-dashboard-types.js"
 */

/**
 * A call of the component as data, so that a worker can be told to do it.
 * @typedef {{ on: "users" | "apps", name: string, values: unknown[] }} Invocation
 */

/**
 * @template {"users" | "apps"} I
 * @template {keyof Root[I] & string} F
 * @param {I} on
 * @param {F} name
 * @param {Root[I][F] extends (caller: any, ...values: infer V) => any ? V : never} values what follows the caller
 * @returns {Invocation}
 */
const call = (on, name, ...values) => ({ on, name, values });

/**
 * @template T
 * @typedef {{
 *   input?: z.ZodType<T>,
 *   call: (input: T) => Invocation,
 *   answer?: (output: any) => unknown,
 * }} Row
 */

/**
 * @template T
 * @param {z.ZodType<T>} input
 * @param {(input: T) => Invocation} call
 * @param {(output: any) => unknown} [answer]
 * @returns {Row<any>}
 */
const row = (input, call, answer) => ({ input, call, answer });

const text = z.string();
const integer = z.int32();

const account = { username: text, password: text, email: text.optional() };
const whose = z.object({ userId: text });
const search = z.object({ query: text, limit: integer.optional() });
const app = { name: text, iconUrl: text, description: text.nullish(), href: text.nullish(), pingUrl: text.nullish() };

/**
 * None is `undefined` to jco.
 * @template {object} T
 * @param {T} record
 * @returns {{ [K in keyof T]: Exclude<T[K], null> }}
 */
const none = (record) => /** @type {any} */ (mapped(record, (value) => value ?? undefined));

/** To clients it is null. @param {object} record */
const nulls = (record) => mapped(record, (value) => value ?? null);

/**
 * @param {object} record
 * @param {(value: unknown) => unknown} change
 */
const mapped = (record, change) => Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));

/** @param {string | null | undefined} value @returns {TextChange} */
const change = (value) =>
  value === undefined ? { tag: "keep" } : value === null ? { tag: "clear" } : { tag: "set", val: value };

/** @param {User | UserSummary} user */
const userAnswer = ({ emailVerified, ...user }) =>
  nulls({ ...user, emailVerified: emailVerified === undefined ? null : new Date(Number(emailVerified)) });
/** @param {App} app */
const created = (app) => nulls({ appId: app.id, ...app });
/** @param {(item: any) => unknown} answer */
const each = (answer) => (/** @type {any[]} */ items) => items.map(answer);
/** @param {string} id */
const id = (id) => ({ id });

/** @type {Record<string, Row<any>>} */
export const procedures = {
  "user.getAll": { call: () => call("users", "getAll"), answer: each(userAnswer) },
  "user.selectable": row(
    z.object({ excludeExternalProviders: z.boolean().optional() }).optional(),
    (input) => call("users", "selectable", input?.excludeExternalProviders),
    each(nulls),
  ),
  "user.search": row(search, ({ query, limit }) => call("users", "search", query, limit), each(nulls)),
  "user.getById": row(whose, ({ userId }) => call("users", "getById", userId), userAnswer),
  "user.initUser": row(z.object(account), (account) => call("users", "initUser", account), id),
  "user.register": row(
    z.object({ ...account, email: text, inviteId: text, token: text }),
    ({ inviteId, token, ...account }) => call("users", "register", { account, inviteId, token }),
    id,
  ),
  "user.create": row(
    z.object({ ...account, groupIds: z.array(text) }),
    ({ groupIds, ...account }) => call("users", "create", account, groupIds),
    id,
  ),
  "user.setProfileImage": row(z.object({ userId: text, image: text.nullable() }), ({ userId, image }) =>
    call("users", "setProfileImage", userId, image ?? undefined),
  ),
  "user.editProfile": row(z.object({ id: text, name: text, email: text.nullish() }), ({ id, name, email }) =>
    call("users", "editProfile", { id, name, email: change(email) }),
  ),
  "user.changePassword": row(
    z.object({ userId: text, previousPassword: text.optional(), password: text }),
    (input) => call("users", "changePassword", input),
  ),
  "user.changeHomeBoards": row(
    z.object({ userId: text, homeBoardId: text.nullable(), mobileHomeBoardId: text.nullable() }),
    ({ userId, ...boards }) => call("users", "changeHomeBoards", userId, none(boards)),
  ),
  "user.changeSearchPreferences": row(
    z.object({ userId: text, defaultSearchEngineId: text.nullable(), openInNewTab: z.boolean() }),
    ({ userId, ...preferences }) => call("users", "changeSearchPreferences", userId, none(preferences)),
  ),
  "user.changeColorScheme": row(z.object({ colorScheme: z.enum(["light", "dark", "auto"]) }), ({ colorScheme }) =>
    call("users", "changeColorScheme", colorScheme),
  ),
  "user.changePingIconsEnabled": row(
    z.object({ id: text, pingIconsEnabled: z.boolean() }),
    ({ id, pingIconsEnabled }) => call("users", "changePingIconsEnabled", id, pingIconsEnabled),
  ),
  "user.changeFirstDayOfWeek": row(z.object({ id: text, firstDayOfWeek: integer }), ({ id, firstDayOfWeek }) =>
    call("users", "changeFirstDayOfWeek", id, firstDayOfWeek),
  ),
  "user.delete": row(whose, ({ userId }) => call("users", "delete", userId)),

  "app.all": { call: () => call("apps", "all"), answer: each(nulls) },
  "app.getPaginated": row(
    z.object({ page: integer, pageSize: integer, search: text.optional() }),
    ({ page, pageSize, search }) => call("apps", "getPaginated", page, pageSize, search),
    ({ items, totalCount }) => ({ items: items.map(nulls), totalCount }),
  ),
  "app.search": row(search, ({ query, limit }) => call("apps", "search", query, limit), each(nulls)),
  "app.selectable": { call: () => call("apps", "selectable"), answer: each(nulls) },
  "app.byId": row(z.object({ id: text }), ({ id }) => call("apps", "byId", id), nulls),
  "app.byIds": row(z.array(text), (ids) => call("apps", "byIds", ids), each(nulls)),
  "app.create": row(z.object(app), (app) => call("apps", "create", none(app)), created),
  "app.createMany": row(
    z.array(z.object({ ...app, iconUrl: text.nullish() })),
    (apps) => call("apps", "createMany", apps.map(none)),
    each(created),
  ),
  "app.update": row(
    z.object({ ...app, id: text, name: text.optional(), iconUrl: text.optional() }),
    ({ id, name, iconUrl, description, href, pingUrl }) =>
      call("apps", "update", {
        id,
        name,
        iconUrl,
        description: change(description),
        href: change(href),
        pingUrl: change(pingUrl),
      }),
  ),
  "app.delete": row(z.object({ id: text }), ({ id }) => call("apps", "delete", id)),
};
