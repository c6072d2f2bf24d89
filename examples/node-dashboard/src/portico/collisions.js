// How long a call waits after storage answered `retry`. Transactions that collided would collide again
// if all were retried at once, and the component cannot sleep. So `begin` waits for a random time, whose
// upper bound grows with each collision of the call. Like the database driver, it blocks its thread
// meanwhile.

/** The bound after the first collision, in milliseconds. */
const FIRST = 25;
/** The factor by which it grows with each further collision. */
const GROWTH = 3;
/** The largest bound. */
const LONGEST = 1_000;

const sleeper = new Int32Array(new SharedArrayBuffer(4));

/** The collisions of one call. */
export class Collisions {
  #count = 0;

  /** How long to wait after a further collision, in milliseconds. */
  next() {
    return Math.random() * Math.min(LONGEST, FIRST * GROWTH ** this.#count++);
  }

  /** Waits after a further collision. */
  wait() {
    Atomics.wait(sleeper, 0, 0, this.next());
  }
}
