// The inputs of the procedures and how they become calls of the component, as contract/procedures.json of
// the repository states them (build.js copies that file). It also describes its own format. The component
// describes names, kinds and access (`describe`), and checks bounds and rules.

import { readFileSync } from "node:fs";
import { badInput } from "./refusals.js";

/**
 * @import { Issue, PathSegment, TextChange } from "../../generated/interfaces/portico-dashboard-types.js"
 *
 * @typedef {{
 *   type: string | string[],
 *   enum?: string[],
 *   minimum?: number,
 *   maximum?: number,
 *   required?: string[],
 *   properties?: Record<string, Schema>,
 *   items?: Schema,
 * }} Schema the part of JSON Schema that a router has to check
 * @typedef {{ key: string } | { change: string } | { record: Record<string, Expression> } | { input: true }
 *   | { each: Expression }} Expression
 * @typedef {{
 *   name: string,
 *   interface: "users" | "apps",
 *   function: string,
 *   input?: Schema,
 *   optional?: boolean,
 *   parameters: Expression[],
 * }} Procedure
 *
 * A function of the component, with the values that follow the caller or, in `signIn`, the context. It is
 * data, so that a worker can be told to call it.
 * @typedef {{ on: "users" | "apps" | "signIn", name: string, values: unknown[] }} Invocation
 */

const file = new URL("../../generated/procedures.json", import.meta.url);
/** @type {Map<string, Procedure>} */
export const procedures = new Map(
  JSON.parse(readFileSync(file, "utf8")).procedures.map((/** @type {Procedure} */ procedure) => [procedure.name, procedure]),
);

/** The most issues that one error lists. */
const MOST_ISSUES = 50;

/** The types of JSON: what they are called, and which values they have. @type {Record<string, [string, (value: any) => boolean]>} */
const TYPES = {
  string: ["a text", (value) => typeof value === "string" && value.isWellFormed()],
  integer: ["a whole number", Number.isInteger],
  boolean: ["true or false", (value) => typeof value === "boolean"],
  array: ["a list", Array.isArray],
  object: ["an object", (value) => typeof value === "object" && value !== null && !Array.isArray(value)],
  null: ["null", (value) => value === null],
};

/**
 * Adds the rules of a schema that a value breaks.
 * @param {Issue[]} issues
 * @param {Schema} schema
 * @param {any} value
 * @param {PathSegment[]} path
 */
function check(issues, schema, value, path) {
  if (issues.length === MOST_ISSUES) return;
  const types = [schema.type].flat().map((type) => TYPES[type]);
  const { enum: choices, minimum = -Infinity, maximum = Infinity } = schema;
  const nouns = types.map(([noun]) => noun).join(" or ");
  /** @param {string} message */
  const refuse = (message) => void issues.push({ path, message });

  if (value === undefined) return refuse(`is required: ${nouns}`);
  if (!types.some(([, holds]) => holds(value))) return refuse(`must be ${nouns}`);
  if (choices && !choices.includes(value)) return refuse(`must be one of ${choices.join(", ")}`);
  if (value < minimum || value > maximum) return refuse(`must be a whole number from ${minimum} to ${maximum}`);
  if (schema.items && value) {
    for (const [index, item] of value.entries()) check(issues, schema.items, item, [...path, { tag: "index", val: index }]);
  }
  for (const [key, property] of Object.entries((value && schema.properties) ?? {})) {
    if (key in value || schema.required?.includes(key)) {
      check(issues, property, value[key], [...path, { tag: "field", val: key }]);
    }
  }
}

/**
 * The input of a call, if it has the right types.
 * @param {Procedure} procedure
 * @param {unknown} input
 */
export function checked({ input: schema, optional }, input) {
  if (!schema || (optional && input === undefined)) return undefined;
  /** @type {Issue[]} */
  const issues = [];
  check(issues, schema, input, []);
  if (issues.length > 0) throw badInput(issues);
  return input;
}

/** A name of WIT as jco writes it: `email-verified` is `emailVerified`. @param {string} name */
export const camel = (name) => name.replace(/-([a-z])/g, (_, letter) => letter.toUpperCase());

/** @param {string | null | undefined} value @returns {TextChange} */
const change = (value) =>
  value === undefined ? { tag: "keep" } : value === null ? { tag: "clear" } : { tag: "set", val: value };

/**
 * The value of an expression. None is `undefined` to jco.
 * @param {Expression} expression
 * @param {any} input
 * @returns {unknown}
 */
function valueOf(expression, input) {
  if ("key" in expression) return input?.[expression.key] ?? undefined;
  if ("change" in expression) return change(input[expression.change]);
  if ("record" in expression) {
    const fields = Object.entries(expression.record).map(([name, field]) => [camel(name), valueOf(field, input)]);
    return Object.fromEntries(fields);
  }
  if ("each" in expression) return input.map((/** @type {unknown} */ item) => valueOf(expression.each, item));
  return input;
}

/**
 * The call that an input becomes.
 * @param {Procedure} procedure
 * @param {unknown} input as `checked` returned it
 * @returns {Invocation}
 */
export const invocation = (procedure, input) => ({
  on: procedure.interface,
  name: camel(procedure.function),
  values: procedure.parameters.map((expression) => valueOf(expression, input)),
});

/**
 * An answer as clients read it: none is null, and a time is a date.
 * @param {any} value
 * @returns {any}
 */
function plain(value) {
  if (value === undefined) return null;
  if (typeof value === "bigint") return new Date(Number(value));
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plain(item)]));
}

/** @param {any} app */
const created = (app) => ({ appId: app.id, ...plain(app) });
/** @param {string} id */
const reference = (id) => ({ id });

/** The answers that are more than what the component answers. @type {Record<string, (output: any) => unknown>} */
const ANSWERS = {
  "user.initUser": reference,
  "user.register": reference,
  "user.create": reference,
  "app.create": created,
  "app.createMany": (apps) => apps.map(created),
};

/**
 * What a client gets.
 * @param {Procedure} procedure
 * @param {unknown} output of the component; undefined if the procedure answers nothing
 */
export const answer = ({ name }, output) => (output === undefined ? undefined : (ANSWERS[name] ?? plain)(output));
