// Instances for calls that overlap. A call takes an idle one or a new one; beyond the greatest number it waits its turn.

import { PorticoError } from "./errors.js";

/** @template {{ isClean: boolean }} T what it makes may be there later only */
export class Pool {
  /** @type {T[]} */
  #idle = [];
  /** @type {((item: T | Promise<T>) => void)[]} */
  #waiting = [];
  #busy = 0;
  #make;
  #most;
  #mostWaiting;

  /**
   * @param {() => T | Promise<T>} make
   * @param {{ most: number, waiting: number }} limits how many there are, and how many calls may wait for one
   */
  constructor(make, { most, waiting }) {
    this.#make = make;
    this.#most = most;
    this.#mostWaiting = waiting;
  }

  /** One that is free now. The thread cannot wait for another. @returns {T | Promise<T>} */
  takeNow() {
    this.#busy++;
    for (let item = this.#idle.pop(); item; item = this.#idle.pop()) if (item.isClean) return item;
    return this.#made();
  }

  /** A new one. If it cannot be made, its place is free again. @returns {T | Promise<T>} */
  #made() {
    const failed = (/** @type {unknown} */ error) => {
      this.#leave();
      throw error;
    };
    try {
      const item = this.#make();
      return item instanceof Promise ? item.catch(failed) : item;
    } catch (error) {
      return failed(error);
    }
  }

  /** One that is free, now or later. @returns {T | Promise<T>} */
  take() {
    if (this.#busy < this.#most) return this.takeNow();
    if (this.#waiting.length >= this.#mostWaiting) throw new PorticoError("unavailable", "Too many calls at once: try again");
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Those that are idle. They are no longer in the pool. */
  drain() {
    return this.#idle.splice(0);
  }

  /** @param {T} item after its call */
  giveBack(item) {
    this.#leave(item.isClean ? item : undefined);
  }

  /** Gives a place to the call that waits longest. @param {T} [item] that is in it */
  #leave(item) {
    const next = this.#waiting.shift();
    if (next) return next(item ?? Promise.resolve().then(() => this.#made()));
    this.#busy--;
    if (item && this.#idle.length < this.#most) this.#idle.push(item);
  }
}
