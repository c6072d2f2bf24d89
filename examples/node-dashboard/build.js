// Translates the component into JavaScript and core modules that Node can run, and writes the
// types of the contract beside them: everything in ./generated comes from that one file.
//
//     node build.js [FILE]      (../../dist/portico.wasm)

import { createHash } from "node:crypto";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { transpileBytes } from "@bytecodealliance/jco-transpile";

const file = process.argv[2] ?? join(import.meta.dirname, "../../dist/portico.wasm");
const out = join(import.meta.dirname, "generated");

// Where `WebAssembly.promising` is missing (before Node 24), jco's code tries it a dozen times for
// each instance and catches the error. Only to put that error into words V8 parses 20,000 lines
// again, each time: 60 ms for an instance instead of 1. In this module it shall be there.
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
  // Refusals are thrown as errors with a `payload`, not as bare records.
  noComponentErrorWrapping: false,
});

await rm(out, { recursive: true, force: true });
for (const [name, content] of Object.entries(files)) {
  const path = join(out, name);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, name === "portico.js" ? PROMISING + Buffer.from(content) : content);
}
await writeFile(join(out, "component.sha256"), createHash("sha256").update(component).digest("hex"));
console.log(`${Object.keys(files).length} files in ${out}`);
