// Makes ./generated, which the library runs and ships: the component translated by jco, once with synchronous
// imports and once for JSPI (Node 24), each module with counters and bounds (metering.js); the types of the contract with its
// comments; the inputs of the procedures; the types of the router.
//
//     node build/build.js [--out FOLDER] [COMPONENT]
//
// The component is ../../dist/portico.wasm unless another one is named.

import { createHash } from "node:crypto";
import { copyFile, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
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
const [file = join(REPOSITORY, "dist/portico.wasm")] = positionals;
const component = await readFile(file).catch((error) => {
  console.error(`The component cannot be read: ${error.message}\nBuild it in the repository with: make component`);
  process.exit(1);
});
const table = join(REPOSITORY, "contract/procedures.json");
const { procedures } = JSON.parse(await readFile(table, "utf8"));

/** @param {string} path @param {string | Uint8Array} content */
async function write(path, content) {
  const file = join(out, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, content);
}

/**
 * Translates the component.
 * @param {string} folder
 * @param {object} options for jco
 */
async function translate(folder, options) {
  const { files } = await transpileBytes(component, {
    name: "portico",
    instantiation: "sync",
    // Throw refusals as errors with a `payload`, not as plain records.
    noComponentErrorWrapping: false,
    ...options,
  });
  for (const [name, content] of Object.entries(files)) {
    if (name.endsWith(".d.ts")) continue;
    if (name.endsWith(".wasm")) {
      // Both have the same modules, which are kept once.
      if (folder === "sync") await write(name, meter(content, PAGES));
    } else await write(`${folder}/${name}`, PROMISING + Buffer.from(content));
  }
  return files;
}

await rm(out, { recursive: true, force: true });
const files = await translate("sync", {});
await translate("jspi", { asyncMode: "jspi", ...asynchronous(await componentWit(component), files, procedures) });
for (const [name, content] of await contractTypes(join(REPOSITORY, "wit"))) await write(`contract/${name}`, content);
await write("router.d.ts", routerTypes(procedures, await describe()));
await write("component.sha256", createHash("sha256").update(component).digest("hex"));
await copyFile(table, join(out, "procedures.json"));
console.log(`${out}: ${file}`);

/** What the component says of its procedures. */
async function describe() {
  const { instantiate } = await import(`file://${join(out, "sync/portico.js")}`);
  const modules = new Map();
  for (const name of ["portico.core.wasm", "portico.core2.wasm", "portico.core3.wasm"]) {
    modules.set(name, new WebAssembly.Module(await readFile(join(out, name))));
  }
  class Transaction {}
  const nothing = () => undefined;
  const imports = {
    "portico:dashboard/storage": { Transaction, begin: nothing },
    "portico:dashboard/icons": { find: nothing, defaultIcon: nothing },
    "portico:dashboard/log": { write: nothing },
    "portico:dashboard/types": {},
    "wasi:clocks/wall-clock": { now: nothing },
    "wasi:random/random": { getRandomBytes: nothing },
  };
  /** @type {WebAssembly.Instance[]} */
  const instances = [];
  const root = instantiate(
    (name) => modules.get(name),
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
