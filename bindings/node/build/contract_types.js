// The types of the contract with its comments, from the files in wit/. (The component that ships has no comments.)

import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import {
  $init,
  generateTypes,
} from "../node_modules/@bytecodealliance/jco-transpile/vendor/js-component-bindgen-component.js";

/** A package that is imported, nested in the text of another. @param {string} text */
const nested = (text) => text.replace(/^package ([^;]+);/m, "package $1 {") + "\n}\n";

/**
 * @param {string} folder with the files of the package, and `deps`
 * @param {string} world
 * @param {string[]} others folders of packages that it imports, each with its `deps`
 * @returns {Promise<[string, string][]>} files and their contents
 */
export async function contractTypes(folder, world, others = []) {
  const read = async (folder, recursive) =>
    Promise.all(
      (await readdir(folder, { recursive })).filter((name) => name.endsWith(".wit")).sort().map((name) => readFile(join(folder, name), "utf8")),
    );
  const files = await read(folder, false);
  const [, name] = files[0].match(/^package ([^;]+);/m);
  const own = files.map((text) => text.replace(/^(\/\/\/.*\n)*package .*$/m, ""));
  const packages = new Map();
  const imports = await Promise.all([
    ...others.map((other) => read(other, false)),
    ...[folder, ...others].map((one) => (existsSync(join(one, "deps")) ? read(join(one, "deps"), true) : [])),
  ]);
  for (const text of imports.flat()) {
    const [line] = text.match(/^package .*$/m);
    packages.set(line, (packages.get(line) ?? "") + text.replace(/^(\/\/\/.*\n)*package .*$/m, ""));
  }
  const imported = [...packages].map(([line, text]) => nested(`${line}\n${text}`));
  await $init;
  const types = generateTypes("portico", {
    wit: { tag: "source", val: `package ${name};\n${own.join("\n")}\n${imported.join("\n")}` },
    world,
    features: { tag: "list", val: [] },
    instantiation: { tag: "sync" },
  });
  // `delete` is declared under another name, without the word that a file of declarations needs.
  return types.map(([path, content]) => [path, Buffer.from(content).toString().replace(/^function /gm, "declare function ")]);
}
