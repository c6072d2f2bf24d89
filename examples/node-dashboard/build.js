// Translates the component into JavaScript and core modules that Node can run, together with the types
// of the contract, and copies the inputs of the procedures. Everything in ./generated comes from those two
// files.
//
//     node build.js [--out FOLDER] [--jspi] [COMPONENT [PROCEDURES]]
//
// The files are ../../dist/portico.wasm and ../../contract/procedures.json unless others are named. With
// --jspi the functions of storage may be asynchronous, and the exports that call them are (Node 24).

import { createHash } from "node:crypto";
import { copyFile, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { transpileBytes } from "@bytecodealliance/jco-transpile";
import { componentWit } from "@bytecodealliance/jco-transpile/wasm-tools";

const { values, positionals } = parseArgs({
  options: { jspi: { type: "boolean" }, out: { type: "string", default: join(import.meta.dirname, "generated") } },
  allowPositionals: true,
});
const [
  file = join(import.meta.dirname, "../../dist/portico.wasm"),
  procedures = join(import.meta.dirname, "../../contract/procedures.json"),
] = positionals;
const { jspi, out } = values;

// Before Node 24, `WebAssembly.promising` is missing. jco's code tries to use it a dozen times for each
// instance and catches the error. To build each error message, V8 parses 20,000 lines again: an instance
// then takes 60 ms instead of 1. This line defines it for the module.
const PROMISING = `const WebAssembly = Object.create(globalThis.WebAssembly, {
  promising: { value: globalThis.WebAssembly.promising ?? ((exported) => exported) },
});
`;

/** The functions of the resource `transaction`. */
const METHODS = `
  has-users get-user get-account list-users count-users insert-user insert-identity set-profile
  set-image set-home-boards set-search-preferences set-color-scheme set-ping-icons-enabled
  set-first-day-of-week set-disabled set-password-if rehash-password-if delete-user
  has-another-admin grant-admin add-to-group has-invite take-invite can-view-board
  has-search-engine get-app get-apps list-apps count-apps insert-apps update-app delete-app
`.trim().split(/\s+/);

/**
 * What suspends a call: the functions of storage, and the exports that call them. The component may be of any 1.x: it
 * says which.
 * @param {string} world of the component, as WIT
 * @param {{ interface: string, function: string }[]} procedures
 */
function asynchronous(world, procedures) {
  const contract = (/** @type {string} */ name) => {
    const found = world.match(new RegExp(`portico:dashboard/${name}@1\\.[\\w.+-]+`));
    if (!found) throw new Error(`The component has no ${name} of portico:dashboard@1`);
    return found[0];
  };
  const storage = contract("storage");
  const exported = [
    ...procedures.map((procedure) => [procedure.interface, procedure.function]),
    ...["password", "external"].map((name) => ["sign-in", name]),
    ...["put-users", "put-apps"].map((name) => ["state", name]),
  ];
  return {
    asyncMode: /** @type {const} */ ("jspi"),
    asyncImports: [
      `${storage}#begin`,
      `${storage}#[static]transaction.commit`,
      ...METHODS.map((method) => `${storage}#[method]transaction.${method}`),
    ],
    asyncExports: exported.map(([of, name]) => `${contract(of)}#${name}`),
  };
}

/**
 * Fails unless every name became a function that suspends: jco says nothing of a name that it does not find, and a call
 * would then get promises instead of values.
 * @param {string} code
 * @param {ReturnType<typeof asynchronous>} names
 */
function requireAsynchronous(code, { asyncImports, asyncExports }) {
  for (const [names, mark] of /** @type {const} */ ([
    [asyncImports, /\.manuallyAsync = true;/g],
    [asyncExports, /isManualAsync: true,/g],
  ])) {
    const found = code.match(mark)?.length ?? 0;
    if (found !== names.length) throw new Error(`jco found ${found} of these ${names.length} functions:\n${names.join("\n")}`);
  }
}

const component = await readFile(file).catch((error) => {
  console.error(`The component cannot be read: ${error.message}\nBuild it in the repository with: make component`);
  process.exit(1);
});
const names = jspi && asynchronous(await componentWit(component), JSON.parse(await readFile(procedures, "utf8")).procedures);
const { files } = await transpileBytes(component, {
  name: "portico",
  instantiation: "sync",
  // Throw refusals as errors with a `payload`, not as plain records.
  noComponentErrorWrapping: false,
  ...names,
});
if (names) requireAsynchronous(Buffer.from(files["portico.js"]).toString(), names);

await rm(out, { recursive: true, force: true });
for (const [name, content] of Object.entries(files)) {
  const path = join(out, name);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, name === "portico.js" ? PROMISING + Buffer.from(content) : content);
}
await copyFile(procedures, join(out, "procedures.json"));
await writeFile(join(out, "component.sha256"), createHash("sha256").update(component).digest("hex"));
console.log(`${Object.keys(files).length} files in ${out}`);
