// The inputs of the procedures, as contract/procedures.json of the repository states them, and how they become calls of the
// component: from the input of a client, or from the arguments of a function. The component checks bounds and rules.

import { readFileSync } from "node:fs";
import { PorticoError } from "./errors.js";

/**
 * @typedef {{
 *   type: string | string[],
 *   enum?: string[],
 *   minimum?: number,
 *   maximum?: number,
 *   required?: string[],
 *   properties?: Record<string, Schema>,
 *   items?: Schema,
 * }} Schema the part of JSON Schema that has to be checked here
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
 * @typedef {{ path: (string | number)[], message: string }} Issue
 */

const file = new URL("../generated/procedures.json", import.meta.url);
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
 * @param {(string | number)[]} path
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
    for (const [index, item] of value.entries()) check(issues, schema.items, item, [...path, index]);
  }
  for (const [key, property] of Object.entries((value && schema.properties) ?? {})) {
    if (key in value || schema.required?.includes(key)) check(issues, property, value[key], [...path, key]);
  }
}

/** @param {Issue[]} issues */
function refuse(issues) {
  if (issues.length > 0) throw new PorticoError("bad-request", "The input breaks rules", { issues });
}

/**
 * The input of a client, if it has the right types.
 * @param {Procedure} procedure
 * @param {unknown} input
 */
export function checked({ input: schema, optional }, input) {
  if (!schema || (optional && input === undefined)) return undefined;
  /** @type {Issue[]} */
  const issues = [];
  check(issues, schema, input, []);
  refuse(issues);
  return input;
}

/** A name of WIT as jco writes it: `email-verified` is `emailVerified`. @param {string} name */
export const camel = (name) => name.replace(/-([a-z])/g, (_, letter) => letter.toUpperCase());

/** @param {string | null | undefined} value */
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
 * The call that the input of a client becomes.
 * @param {Procedure} procedure
 * @param {unknown} input as `checked` returned it
 */
export const invocation = (procedure, input) => ({
  on: procedure.interface,
  name: camel(procedure.function),
  values: procedure.parameters.map((expression) => valueOf(expression, input)),
});

/**
 * The call that the arguments of a function become: a parameter each, records with the names of the contract.
 * @param {Procedure} procedure
 * @param {any[]} values
 */
export function invocationOf(procedure, values) {
  /** @type {Issue[]} */
  const issues = [];
  const invocation = {
    on: procedure.interface,
    name: camel(procedure.function),
    values: procedure.parameters.map((expression, index) => {
      const path = "key" in expression ? [expression.key] : [];
      return argumentOf(issues, expression, procedure.input, values[index], path);
    }),
  };
  refuse(issues);
  return invocation;
}

/**
 * @param {Issue[]} issues
 * @param {Expression} expression
 * @param {Schema | undefined} schema of the input
 * @param {any} value of this expression
 * @param {(string | number)[]} path
 * @returns {any}
 */
function argumentOf(issues, expression, schema, value, path) {
  if ("record" in expression) {
    if (!TYPES.object[1](value)) return void issues.push({ path, message: "must be an object" });
    const fields = Object.entries(expression.record).map(([name, field]) => {
      const key = camel(name);
      return [key, argumentOf(issues, field, schema, value[key], [...path, key])];
    });
    return Object.fromEntries(fields);
  }
  if ("each" in expression) {
    if (!Array.isArray(value)) return void issues.push({ path, message: "must be a list" });
    return value.map((item, index) => argumentOf(issues, expression.each, schema?.items, item, [...path, index]));
  }
  if ("input" in expression) {
    if (schema) check(issues, schema, value, path);
    return value;
  }
  const key = "key" in expression ? expression.key : expression.change;
  const property = schema?.properties?.[key];
  const isAbsent = value === undefined || value === null;
  const isRequired = schema?.required?.includes(key) && property && !nullable(property);
  if (property && (isRequired || !isAbsent)) check(issues, property, isAbsent ? undefined : value, path);
  return "change" in expression ? change(value) : (value ?? undefined);
}

/** @param {Schema} schema */
const nullable = (schema) => [schema.type].flat().includes("null");

/**
 * An answer as clients and callers read it: none is null, and a time is a date.
 * @param {any} value
 * @returns {any}
 */
export function plain(value) {
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

/** The answers to clients that are more than what the component answers. @type {Record<string, (output: any) => unknown>} */
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
