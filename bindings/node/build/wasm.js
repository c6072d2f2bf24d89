// Reads the binary format of WebAssembly core modules as far as `metering.js` needs it: sections, and where each
// instruction ends. It knows WebAssembly 2.0 and refuses what it does not know.

/** What an instruction does that a host could not put back, or count. @type {Record<number, string>} */
const REFUSED = { 0x12: "has tail calls", 0x13: "has tail calls", 0x26: "writes a table" };
/** The same of the instructions that begin with fc. @type {Record<number, string>} */
const REFUSED_BULK = {
  ...{ 9: "drops data", 12: "writes a table", 13: "drops elements" },
  ...{ 14: "writes a table", 15: "writes a table", 17: "writes a table" },
};

/** Reads a module, or a part of it. */
export class Reader {
  position = 0;

  /** @param {Uint8Array} bytes */
  constructor(bytes) {
    this.bytes = bytes;
  }

  get isAtEnd() {
    return this.position >= this.bytes.length;
  }

  byte() {
    if (this.isAtEnd) throw new Error("the module ends too early");
    return this.bytes[this.position++];
  }

  /** @param {number} length */
  skip(length) {
    this.position += length;
    if (this.position > this.bytes.length) throw new Error("the module ends too early");
  }

  /** @param {number} length */
  take(length) {
    const start = this.position;
    this.skip(length);
    return this.bytes.subarray(start, this.position);
  }

  u32() {
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.byte();
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
    throw new Error("a number that is too long");
  }

  /** Skips a number of any length. */
  leb() {
    while (this.byte() >= 0x80);
  }

  /**
   * @template T
   * @param {(reader: this) => T} read
   * @returns {T[]}
   */
  vector(read) {
    return Array.from({ length: this.u32() }, () => read(this));
  }

  valueType() {
    const type = this.byte();
    if (![0x7f, 0x7e, 0x7d, 0x7c, 0x7b, 0x70, 0x6f].includes(type)) throw new Error(`an unknown type ${type}`);
    return type;
  }

  /** The bytes of the type that follows: one. */
  valueTypeLength() {
    this.valueType();
    this.position--;
    return 1;
  }

  exported() {
    const name = Buffer.from(this.take(this.u32())).toString();
    return { name, kind: this.byte(), index: this.u32() };
  }

  memoryArgument() {
    if (this.u32() & 0x40) this.u32();
    this.leb();
  }

  /**
   * Reads one instruction, without what is inside of a block.
   * @returns {{ opcode: number, isLoop?: boolean, isBulk?: boolean, refused?: string }}
   */
  instruction() {
    const opcode = this.byte();
    if (REFUSED[opcode]) return { opcode, refused: REFUSED[opcode] };
    if (opcode === 0xfc) return this.#bulk();
    if (opcode === 0xfd) this.#vector128();
    else if (opcode >= 0x02 && opcode <= 0x04) this.leb();
    else if (opcode === 0x0c || opcode === 0x0d || opcode === 0x10 || (opcode >= 0x20 && opcode <= 0x25)) this.u32();
    else if (opcode === 0x0e) {
      this.vector((reader) => reader.u32());
      this.u32();
    } else if (opcode === 0x11) {
      this.u32();
      this.u32();
    } else if (opcode === 0x1c) this.vector((reader) => reader.valueType());
    else if (opcode >= 0x28 && opcode <= 0x3e) this.memoryArgument();
    else if (opcode === 0x3f || opcode === 0x40) this.u32();
    else if (opcode === 0x41 || opcode === 0x42 || opcode === 0xd0 || opcode === 0xd2) this.leb();
    else if (opcode === 0x43) this.skip(4);
    else if (opcode === 0x44) this.skip(8);
    else if (!isPlain(opcode)) throw new Error(`an unknown instruction ${opcode.toString(16)}`);
    return { opcode, isLoop: opcode === 0x03 };
  }

  #bulk() {
    const sub = this.u32();
    const refused = REFUSED_BULK[sub];
    if (sub > 17) throw new Error(`an unknown instruction fc ${sub}`);
    if (sub >= 8) this.u32();
    if ([8, 10, 12, 14].includes(sub)) this.u32();
    return { opcode: 0xfc, isBulk: [8, 10, 11].includes(sub), refused };
  }

  #vector128() {
    const sub = this.u32();
    if (sub <= 11 || sub === 92 || sub === 93) this.memoryArgument();
    else if (sub === 12 || sub === 13) this.skip(16);
    else if (sub >= 21 && sub <= 34) this.skip(1);
    else if (sub >= 84 && sub <= 91) {
      this.memoryArgument();
      this.skip(1);
    } else if (sub > 255) throw new Error(`an unknown instruction fd ${sub}`);
  }
}

/** Whether an instruction has nothing after its opcode. @param {number} opcode */
const isPlain = (opcode) =>
  [0x00, 0x01, 0x05, 0x0b, 0x0f, 0x1a, 0x1b, 0xd1].includes(opcode) || (opcode >= 0x45 && opcode <= 0xc4);

/** @param {Uint8Array} module */
export function sections(module) {
  const reader = new Reader(module);
  if (Buffer.from(reader.take(8)).toString("hex") !== "0061736d01000000") throw new Error("not a core module");
  const all = [];
  while (!reader.isAtEnd) all.push({ id: reader.byte(), content: reader.take(reader.u32()) });
  return all;
}

/** @param {number} value @returns {number[]} */
export function unsigned(value) {
  const bytes = [];
  for (; value >= 0x80; value = Math.floor(value / 0x80)) bytes.push((value % 0x80) + 0x80);
  return [...bytes, value];
}

/** A small number, from -64 to 63. @param {number} value */
export const signed = (value) => [value & 0x7f];

/** @param {(Uint8Array | number[])[]} items */
export const vector = (items) => Buffer.concat([Buffer.from(unsigned(items.length)), ...items.map((item) => Buffer.from(item))]);
