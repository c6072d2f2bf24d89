// Refusals: what a call of Portico ends in, and what storage refuses with.

/** The status of HTTP for each code of the contract. @type {Record<string, number>} */
const STATUSES = {
  "bad-request": 400,
  unauthorized: 401,
  forbidden: 403,
  "not-found": 404,
  conflict: 409,
  "too-many-requests": 429,
  internal: 500,
  unavailable: 503,
};

/** A call was refused, or it failed. Nothing was changed, unless its own commit came first. */
export class PorticoError extends Error {
  name = "PorticoError";

  /**
   * @param {string} code of the contract's `error-code`
   * @param {string} message
   * @param {{ issues?: { path: (string | number)[], message: string }[], cause?: unknown }} [details]
   */
  constructor(code, message, { issues = [], cause } = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code in STATUSES ? code : "internal";
    this.issues = issues;
    this.httpStatus = STATUSES[this.code];
  }
}

/**
 * A refusal of the component, as jco throws it.
 * @param {{ code: { tag: string }, message: string, issues: { path: { val: string | number }[], message: string }[] }} payload
 */
export const refused = ({ code, message, issues }) =>
  new PorticoError(code.tag, message, { issues: issues.map(({ path, message }) => ({ path: path.map(({ val }) => val), message })) });

/** Storage refuses. Everything else that it throws is a fault of the storage. */
export class StorageError extends Error {
  name = "StorageError";

  /** @param {any} payload as the contract's `storage.error` */
  constructor(payload) {
    super(JSON.stringify(payload));
    this.payload = payload;
  }

  /** Another transaction won: the whole transaction may be tried again. */
  static retry() {
    return new StorageError({ tag: "retry" });
  }

  /** A rule that storage itself enforces is violated. @param {"user-name" | "identity" | "reference" | "id"} constraint */
  static constraint(constraint) {
    return new StorageError({ tag: "constraint", val: { tag: constraint } });
  }

  /** The records of the answer have more than 100,000,000 bytes of text. */
  static tooLarge() {
    return new StorageError({ tag: "too-large" });
  }

  /** Storage cannot work now. @param {string} text for the log only */
  static unavailable(text) {
    return new StorageError({ tag: "unavailable", val: text });
  }
}

/** @param {unknown} error */
export const isRetry = (error) => error instanceof StorageError && error.payload.tag === "retry";
