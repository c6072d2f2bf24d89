// Limits how often people may try to sign in: at one account, and from one address. What is counted is bounded, and every
// limit ends by itself. An attempt counts from its beginning, so that many at once do not pass.

import { isIPv6 } from "node:net";
import { PorticoError } from "./errors.js";

/** How many attempts there may be in a time. */
const PER_ACCOUNT = 10;
const PER_ADDRESS = 50;
const WINDOW_MILLISECONDS = 5 * 60_000;
/** The most accounts and addresses that are counted. */
const COUNTED = 20_000;
/** The most code units of a name that are looked at, and of its key that are kept. No user has a longer name. */
const LONGEST_NAME = 8_192;
const LONGEST_KEY = 255;

const isWhite = (/** @type {string} */ character) => /^\p{White_Space}$/u.test(character);

/**
 * What the component compares: the trimmed name in NFC, in lower case character by character, in NFC. Names with one key in
 * the component have one here, or else each way to write a name would have attempts of its own.
 * @param {string} name
 */
export function nameKey(name) {
  let [start, end] = [0, name.length];
  // U+0085 is white space, too, and `trim` leaves it.
  while (start < end && isWhite(name[start])) start++;
  while (start < end && isWhite(name[end - 1])) end--;
  const composed = name.slice(start, Math.min(end, start + LONGEST_NAME)).normalize("NFC");
  const lower = Array.from(composed, (character) => character.toLowerCase()).join("");
  return lower.normalize("NFC").slice(0, LONGEST_KEY);
}

/** The address as it is counted: an IPv6 network (/64) belongs to one client. @param {string} address */
export function sourceOf(address) {
  const [plain] = address.split("%");
  if (!isIPv6(plain)) return address.slice(0, LONGEST_KEY);
  const [left, right] = new URL(`http://[${plain}]`).hostname.slice(1, -1).split("::");
  const [head, tail] = [left, right ?? ""].map((groups) => groups.split(":").filter(Boolean));
  const groups = [...head, ...Array(8 - head.length - tail.length).fill("0"), ...tail];
  // An IPv4 address, as a socket of IPv6 has it.
  const isMapped = groups.slice(0, 6).join(":") === "0:0:0:0:0:ffff";
  return isMapped ? `v4 ${groups.slice(6).join(":")}` : groups.slice(0, 4).join(":");
}

export class Throttle {
  /** The one that was used longest ago is first. @type {Map<string, { attempts: number, until: number }>} */
  #counts = new Map();
  #now;

  /** @param {() => number} now in milliseconds */
  constructor(now = Date.now) {
    this.#now = now;
  }

  /**
   * Begins an attempt, or refuses it. One that is refused counts nowhere.
   * @param {string} username
   * @param {string | undefined} address
   */
  begin(username, address) {
    const account = `account ${nameKey(username)}`;
    const counts = [{ count: this.#count(account), most: PER_ACCOUNT }];
    if (address) counts.push({ count: this.#count(`address ${sourceOf(address)}`), most: PER_ADDRESS });
    for (const { count, most } of counts) {
      if (count.attempts < most) continue;
      const seconds = Math.ceil((count.until - this.#now()) / 1_000);
      throw new PorticoError("too-many-requests", `Too many attempts: try again in ${seconds} seconds`);
    }
    for (const { count } of counts) count.attempts++;
    /** The password was right: the account's attempts are forgotten. */
    return { succeeded: () => void this.#counts.delete(account) };
  }

  /** @param {string} key */
  #count(key) {
    let count = this.#counts.get(key);
    this.#counts.delete(key);
    if (!count || count.until <= this.#now()) count = { attempts: 0, until: this.#now() + WINDOW_MILLISECONDS };
    this.#counts.set(key, count);
    const [oldest] = this.#counts.keys();
    if (this.#counts.size > COUNTED) this.#counts.delete(oldest);
    return count;
  }
}
