// Makes ./generated, which the library runs and ships: the component (`rules`), and the one composed with the ready storage
// (`ready`), translated by jco, each once with synchronous imports and once for JSPI (Node 24), each module with counters and
// bounds (metering.js); the types of the contract with its comments; the inputs of the procedures; the types of the router.
//
//     node build/build.js [--out FOLDER] [COMPONENT]
//
// The files are ../../dist/portico.wasm and ../../dist/portico-with-sql.wasm. With another component only `rules` is made.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { copyFile, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { transpileBytes } from "@bytecodealliance/jco-transpile";
import { componentWit } from "../node_modules/@bytecodealliance/jco-transpile/dist/wasm-tools.js";
import { asynchronous } from "./asynchronous.js";
import { contractTypes } from "./contract_types.js";
import { meter } from "./metering.js";
import { routerTypes } from "./router_types.js";

const REPOSITORY = join(import.meta.dirname, "../../..");
/** The largest memory of an instance: 256 MiB, as in Portico's own host. */
const PAGES = 4096;

// Before Node 24, `WebAssembly.promising` is missing. jco's code tries to use it a dozen times for each
// instance and catches the error. To build each error message, V8 parses 20,000 lines again: an instance
// then takes 60 ms instead of 1. This line defines it for the module.
const PROMISING = `const WebAssembly = Object.create(globalThis.WebAssembly, {
  promising: { value: globalThis.WebAssembly.promising ?? ((exported) => exported) },
});
`;

const { values, positionals } = parseArgs({
  options: { out: { type: "string", default: join(import.meta.dirname, "../generated") } },
  allowPositionals: true,
});
const { out } = values;
const [given] = positionals;
const rules = await read(given ?? join(REPOSITORY, "dist/portico.wasm"));
const ready = given ? undefined : await read(join(REPOSITORY, "dist/portico-with-sql.wasm"));
const table = join(REPOSITORY, "contract/procedures.json");
const { procedures } = JSON.parse(await readFile(table, "utf8"));

/** @param {string} file */
function read(file) {
  return readFile(file).catch((error) => {
    console.error(`The component cannot be read: ${error.message}\nBuild it in the repository with: make storage-component`);
    process.exit(1);
  });
}

/** @param {string} path @param {string | Uint8Array} content */
async function write(path, content) {
  const file = join(out, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, content);
}

/**
 * The code, with decoders of the library, which count the texts that a call copies out of the sandbox: many of them may be
 * the same bytes there.
 * @param {Uint8Array} code
 */
const counting = (code) => Buffer.from(code).toString().replaceAll("new TextDecoder(", "imports.decoder(");

/**
 * Translates a component, in both ways.
 * @param {string} folder
 * @param {Uint8Array} component
 */
async function translate(folder, component) {
  const options = {
    name: "portico",
    instantiation: /** @type {const} */ ("sync"),
    // Throw refusals as errors with a `payload`, not as plain records.
    noComponentErrorWrapping: false,
  };
  const { files } = await transpileBytes(component, options);
  for (const [name, content] of Object.entries(files)) {
    if (name.endsWith(".wasm")) await write(`${folder}/${name}`, meter(content, PAGES));
  }
  await write(`${folder}/sync.js`, PROMISING + counting(files["portico.js"]));
  // It has the same modules.
  const suspending = asynchronous(await componentWit(component), files, procedures);
  const { files: jspi } = await transpileBytes(component, { ...options, asyncMode: "jspi", ...suspending });
  await write(`${folder}/jspi.js`, PROMISING + counting(jspi["portico.js"]));
}

await rm(out, { recursive: true, force: true });
await translate("rules", rules);
if (ready) await translate("ready", ready);
const [contract, sql] = ["wit", "component/sql/wit"].map((folder) => join(REPOSITORY, folder));
for (const [name, content] of await contractTypes(contract, "plugin")) await write(`contract/${name}`, content);
for (const [name, content] of await contractTypes(sql, "ready-plugin", [contract])) await write(`ready-contract/${name}`, content);
await write("router.d.ts", routerTypes(procedures, await describe()));
await write("component.sha256", createHash("sha256").update(rules).digest("hex"));
await copyFile(table, join(out, "procedures.json"));
console.log(`${out} is built`);

/** What the component says of its procedures. */
async function describe() {
  const { instantiate } = await import(pathToFileURL(join(out, "rules/sync.js")).href);
  class Transaction {}
  const nothing = () => undefined;
  const imports = {
    "portico:dashboard/storage": { Transaction, begin: nothing },
    "portico:dashboard/icons": { find: nothing, defaultIcon: nothing },
    "portico:dashboard/log": { write: nothing },
    "portico:dashboard/types": {},
    "wasi:clocks/wall-clock": { now: nothing },
    "wasi:random/random": { getRandomBytes: nothing },
    decoder: (/** @type {string} */ form) => new TextDecoder(form),
  };
  /** @type {WebAssembly.Instance[]} */
  const instances = [];
  const root = instantiate(
    (name) => new WebAssembly.Module(readFileSync(join(out, "rules", name))),
    imports,
    (module, given) => {
      const instance = new WebAssembly.Instance(module, given);
      instances.push(instance);
      return instance;
    },
  );
  for (const { exports } of instances) if (exports["portico:counter"]) exports["portico:counter"].value = 1e9;
  return root.procedures.describe();
}
