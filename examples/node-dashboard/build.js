// Translates the component into JavaScript and core modules that Node can run, together with the types
// of the contract, and copies the inputs of the procedures. Everything in ./generated comes from those two
// files.
//
//     node build.js [COMPONENT [PROCEDURES]]      (../../dist/portico.wasm ../../contract/procedures.json)

import { createHash } from "node:crypto";
import { copyFile, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { transpileBytes } from "@bytecodealliance/jco-transpile";

const file = process.argv[2] ?? join(import.meta.dirname, "../../dist/portico.wasm");
const procedures = process.argv[3] ?? join(import.meta.dirname, "../../contract/procedures.json");
const out = join(import.meta.dirname, "generated");

// Before Node 24, `WebAssembly.promising` is missing. jco's code tries to use it a dozen times for each
// instance and catches the error. To build each error message, V8 parses 20,000 lines again: an instance
// then takes 60 ms instead of 1. This line defines it for the module.
const PROMISING = `const WebAssembly = Object.create(globalThis.WebAssembly, {
  promising: { value: globalThis.WebAssembly.promising ?? ((exported) => exported) },
});
`;

const component = await readFile(file).catch((error) => {
  console.error(`The component cannot be read: ${error.message}\nBuild it in the repository with: make component`);
  process.exit(1);
});
const { files } = await transpileBytes(component, {
  name: "portico",
  instantiation: "sync",
  // Throw refusals as errors with a `payload`, not as plain records.
  noComponentErrorWrapping: false,
});

await rm(out, { recursive: true, force: true });
for (const [name, content] of Object.entries(files)) {
  const path = join(out, name);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, name === "portico.js" ? PROMISING + Buffer.from(content) : content);
}
await copyFile(procedures, join(out, "procedures.json"));
await writeFile(join(out, "component.sha256"), createHash("sha256").update(component).digest("hex"));
console.log(`${Object.keys(files).length} files in ${out}`);
