// Which imports and exports of a component suspend a call (JSPI): all functions of what a dashboard implements, and the
// exports that call them. jco takes names, and ignores in silence those that match nothing: here they fail the build.

/** The interfaces that a dashboard implements, if the component imports them. */
const IMPLEMENTED = /^(storage|icons|database|surroundings)#/;

/**
 * @param {string} wit of the component
 * @param {Record<string, Uint8Array>} files its types in TypeScript
 * @param {{ interface: string, function: string }[]} procedures
 */
export function asynchronous(wit, files, procedures) {
  const functions = readFunctions(wit, files);
  const exported = [
    ...procedures.map((procedure) => [procedure.interface, procedure.function]),
    ...["password", "external"].map((name) => ["sign-in", name]),
    ...["find-icons", "put-users", "put-apps"].map((name) => ["state", name]),
  ];
  // Of these interfaces all functions, because they are found in the component.
  const imported = [...functions.keys()].filter((name) => IMPLEMENTED.test(name));
  const isReady = functions.has("database#begin");
  const people = [...functions.keys()].filter((name) => name.startsWith("people#"));
  return {
    asyncImports: [isReady ? "database#begin" : "storage#begin", ...imported].map((name) => found(functions, name)),
    asyncExports: [...exported.map(([of, name]) => `${of}#${name}`), ...people].map((name) => found(functions, name)),
  };
}

/**
 * The name as jco wants it, with the package's version.
 * @param {Map<string, string>} functions
 * @param {string} name
 */
export function found(functions, name) {
  const full = functions.get(name);
  if (!full) throw new Error(`The component has no function ${name}, so it cannot be made asynchronous`);
  return full;
}

/**
 * The functions of the package's interfaces: `apps#by-id`, `storage#[method]transaction.get-app`, each with its full name.
 * @param {string} wit what the component imports and exports, with versions
 * @param {Record<string, Uint8Array>} files its types in TypeScript, by their paths
 */
export function readFunctions(wit, files) {
  const interfaces = [...wit.matchAll(/(portico:[\w-]+)\/([\w-]+)@([^;\s]+);/g)];
  const full = new Map(interfaces.map(([, of, name, version]) => [name, `${of}/${name}@${version}`]));
  const functions = new Map();
  for (const [path, content] of Object.entries(files)) {
    const [, of] = path.match(/portico-(?:dashboard|sql)-([\w-]+)\.d\.ts$/) ?? [];
    if (!full.has(of)) continue;
    const add = (member) => functions.set(`${of}#${member}`, `${full.get(of)}#${member}`);
    let resource = "";
    for (const line of Buffer.from(content).toString().split("\n")) {
      const [, type] = line.match(/^export class (\w+)/) ?? [];
      if (type) resource = kebab(type);
      const [, name] = line.match(/^(?:export )?function _?(\w+)\(/) ?? [];
      if (name) add(kebab(name));
      const [, isStatic, method] = line.match(/^ {2}(static )?(\w+)\(/) ?? [];
      if (method && method !== "constructor") add(`[${isStatic ? "static" : "method"}]${resource}.${kebab(method)}`);
      if (line === "}") resource = "";
    }
  }
  return functions;
}

/** A name of TypeScript as WIT has it. @param {string} name */
const kebab = (name) => name.replace(/(?!^)[A-Z]/g, "-$&").toLowerCase();
