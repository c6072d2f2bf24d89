// Rewrites a core module so that its host can bound it and put it back:
//
// - A counter goes down at the begin of each function and each loop, and with the size of each copy and fill. Below
//   zero, the call traps. So every call ends, whatever the module does.
// - Its memory has a maximum.
// - Its memories and mutable globals are exported, so that a host can put them back between calls.
//
// It refuses modules whose state is more than memory and globals: those that write tables or drop segments. It refuses
// tail calls too, which are loops.

import { Reader, sections, signed, unsigned, vector } from "./wasm.js";

/** The name of the counter among the exports. The globals and memories are `portico:global:N` and `portico:memory:N`. */
export const COUNTER = "portico:counter";

/** The sections, by their numbers in a module. */
const TYPE = 1;
const IMPORT = 2;
const FUNCTION = 3;
const MEMORY = 5;
const GLOBAL = 6;
const EXPORT = 7;
const CODE = 10;
const I32 = 0x7f;
/** A copy or fill of so many bytes (as a power of two) costs as much as a loop. */
const BYTES_SHIFT = 6;

/**
 * @param {Uint8Array} module
 * @param {number} maximum of each memory, in pages of 64 KiB
 * @returns {Uint8Array}
 */
export function meter(module, maximum) {
  const all = sections(module);
  const section = (id) => all.find((one) => one.id === id)?.content;
  const imported = countImports(section(IMPORT));
  const parameters = readParameters(section(TYPE));
  const globals = readGlobals(section(GLOBAL));
  const functions = section(FUNCTION) ? new Reader(section(FUNCTION)).vector((reader) => reader.u32()) : [];
  const memories = section(MEMORY) ? new Reader(section(MEMORY)).vector(readLimits) : [];
  const code = bodies(section(CODE));
  // What only fills the tables of another module has nothing to bound and nothing to put back.
  if (code.length === 0 && memories.length === 0 && !globals.some(({ isMutable }) => isMutable)) return module;
  const counter = imported.globals + globals.length;

  const exports = section(EXPORT) ? new Reader(section(EXPORT)).vector((reader) => reader.exported()) : [];
  exports.push({ name: COUNTER, kind: 3, index: counter });
  globals.forEach(({ isMutable }, index) => {
    const number = imported.globals + index;
    if (isMutable) exports.push({ name: `portico:global:${number}`, kind: 3, index: number });
  });
  memories.forEach((_, index) => exports.push({ name: `portico:memory:${index}`, kind: 2, index: imported.memories + index }));

  const replaced = new Map([
    [MEMORY, vector(memories.map(({ minimum, most = maximum }) => [1, ...unsigned(minimum), ...unsigned(Math.min(most, maximum))]))],
    [GLOBAL, vector([...globals.map(({ bytes }) => bytes), [I32, 1, 0x41, ...signed(0), 0x0b]])],
    [EXPORT, vector(exports.map(({ name, kind, index }) => [...text(name), kind, ...unsigned(index)]))],
    [
      CODE,
      vector(
        code.map((body, index) => {
          const rewritten = rewrite(body, parameters[functions[index]], counter);
          return Buffer.concat([Buffer.from(unsigned(rewritten.length)), rewritten]);
        }),
      ),
    ],
  ]);
  const parts = [module.subarray(0, 8)];
  const add = (/** @type {number} */ id, /** @type {Uint8Array} */ bytes) => parts.push(Buffer.from([id, ...unsigned(bytes.length)]), bytes);
  // Sections come in the order of their numbers, but for those of no meaning (0), and some after these two.
  const missing = [GLOBAL, EXPORT].filter((id) => !section(id));
  const addMissing = (/** @type {number} */ id) => {
    while (missing.length > 0 && missing[0] < id) add(missing[0], replaced.get(missing.shift()));
  };
  for (const { id, content } of all) {
    addMissing(id);
    add(id, replaced.get(id) ?? content);
  }
  addMissing(Infinity);
  return Buffer.concat(parts);
}

/** @param {string} name */
const text = (name) => [...unsigned(Buffer.byteLength(name)), ...Buffer.from(name)];

/** @param {Reader} reader */
function readLimits(reader) {
  const flags = reader.byte();
  if (flags > 1) throw new Error("a memory that is shared or has 64 bits");
  return { minimum: reader.u32(), most: flags === 1 ? reader.u32() : undefined };
}

/** How many parameters each type of a function has. @param {Uint8Array | undefined} content */
function readParameters(content) {
  if (!content) return [];
  return new Reader(content).vector((reader) => {
    if (reader.byte() !== 0x60) throw new Error("a type that is no function's");
    const parameters = reader.vector((one) => one.valueType()).length;
    reader.vector((one) => one.valueType());
    return parameters;
  });
}

/** @param {Uint8Array | undefined} content */
function countImports(content) {
  const count = { globals: 0, memories: 0 };
  if (!content) return count;
  new Reader(content).vector((reader) => {
    reader.skip(reader.u32());
    reader.skip(reader.u32());
    const kind = reader.byte();
    if (kind === 0) reader.u32();
    else if (kind === 1) {
      reader.valueType();
      if (reader.byte() & 1) reader.u32();
      reader.u32();
    } else if (kind === 2) {
      readLimits(reader);
      count.memories++;
    } else if (kind === 3) {
      reader.valueType();
      // A mutable one is another module's, or jco's, which notes in it whether an instance may be entered.
      reader.byte();
      count.globals++;
    } else throw new Error(`an import of kind ${kind}`);
  });
  return count;
}

/** @param {Uint8Array | undefined} content */
function readGlobals(content) {
  if (!content) return [];
  return new Reader(content).vector((reader) => {
    const start = reader.position;
    reader.valueType();
    const isMutable = reader.byte() === 1;
    while (reader.instruction().opcode !== 0x0b);
    return { isMutable, bytes: [...content.subarray(start, reader.position)] };
  });
}

/** @param {Uint8Array | undefined} content */
const bodies = (content) => (content ? new Reader(content).vector((reader) => reader.take(reader.u32())) : []);

/**
 * The body of a function with counters.
 * @param {Uint8Array} body
 * @param {number} parameters how many the function has
 * @param {number} counter the global
 */
function rewrite(body, parameters, counter) {
  const reader = new Reader(body);
  let local = parameters;
  const locals = reader.vector((one) => {
    const count = one.u32();
    local += count;
    return [...unsigned(count), ...one.take(one.valueTypeLength())];
  });
  const [get, set] = [0x23, 0x24].map((opcode) => [opcode, ...unsigned(counter)]);
  const [localGet, localTee] = [0x20, 0x22].map((opcode) => [opcode, ...unsigned(local)]);
  // What is left goes to the counter; below zero it traps.
  const store = [...localTee, ...set, ...localGet, 0x41, 0, 0x48, 0x04, 0x40, 0x00, 0x0b];
  const one = Buffer.from([...get, 0x41, 1, 0x6b, ...store]);
  // The length is on the stack, and stays there.
  const asManyBytes = Buffer.from([...localTee, ...get, ...localGet, 0x41, BYTES_SHIFT, 0x76, 0x6b, ...store]);

  const parts = [vector([...locals, [1, I32]]), one];
  let copied = reader.position;
  while (!reader.isAtEnd) {
    const start = reader.position;
    const { isLoop, isBulk, refused } = reader.instruction();
    if (refused) throw new Error(`the module ${refused}`);
    if (isBulk) {
      parts.push(body.subarray(copied, start), asManyBytes);
      copied = start;
    } else if (isLoop) {
      parts.push(body.subarray(copied, reader.position), one);
      copied = reader.position;
    }
  }
  parts.push(body.subarray(copied));
  return Buffer.concat(parts);
}
