// How long a call waits after storage refused with `retry`. Transactions that collided would collide again if all were
// retried at once, and the component cannot sleep. So `begin` waits for a random time, whose upper bound grows with each
// collision of the call.

/** The bound after the first collision, in milliseconds. */
const FIRST = 25;
/** The factor by which it grows with each further collision. */
const GROWTH = 3;
/** The largest bound. */
const LONGEST = 1_000;

/** The collisions of one call. */
export class Collisions {
  #count = 0;
  #random;

  /** @param {() => number} random from 0 to 1 */
  constructor(random) {
    this.#random = random;
  }

  /** How long to wait after a further collision, in milliseconds. */
  next() {
    return this.#random() * Math.min(LONGEST, FIRST * GROWTH ** this.#count++);
  }
}
