// The values that storage returns: checked, and brought into the form that jco passes on. None may be null or undefined, a
// number of 64 bits a number, a bigint or (a time) a Date. A wrong value costs the call a TypeError that names the field.

/** @typedef {(value: any, at: string) => any} Check returns the value that is passed on */

/** @param {string} at @param {string} wanted @param {any} value @returns {never} */
function wrong(at, wanted, value) {
  const got = value === null ? "null" : Array.isArray(value) ? "a list" : `a ${typeof value}`;
  throw new TypeError(`returned ${at === "" ? "" : `${at}: `}${got} where the contract wants ${wanted}`);
}

/** @type {Check} */
const text = (value, at) => (typeof value === "string" ? value : wrong(at, "a text", value));
/** @type {Check} */
const truth = (value, at) => (typeof value === "boolean" ? value : wrong(at, "true or false", value));
/** @type {Check} */
const nothing = () => undefined;

/** A whole number. @param {number} most @returns {Check} */
const number = (most) => (value, at) => {
  const plain = typeof value === "bigint" ? Number(value) : value;
  return Number.isInteger(plain) && plain >= 0 && plain <= most ? plain : wrong(at, `a whole number up to ${most}`, value);
};

/** A whole number of 64 bits, or a time. @type {Check} */
const long = (value, at) => {
  const plain = value instanceof Date ? value.getTime() : value;
  if (typeof plain === "bigint" ? plain >= 0n && plain < 2n ** 64n : Number.isSafeInteger(plain) && plain >= 0) return BigInt(plain);
  return wrong(at, "a whole number or a date", value);
};

/** @param {string[]} choices @returns {Check} */
const oneOf = (...choices) => (value, at) => (choices.includes(value) ? value : wrong(at, `one of ${choices.join(", ")}`, value));
/** @param {Check} check @returns {Check} */
const option = (check) => (value, at) => (value === undefined || value === null ? undefined : check(value, at));
/** @param {Check} check @returns {Check} */
const list = (check) => (value, at) =>
  Array.isArray(value) ? value.map((item, index) => check(item, `${at}[${index}]`)) : wrong(at, "a list", value);

/** @param {Record<string, Check>} fields @returns {Check} */
const record = (fields) => {
  const entries = Object.entries(fields);
  return (value, at) => {
    if (typeof value !== "object" || value === null) return wrong(at, "a record", value);
    /** @type {Record<string, any>} */
    const plain = {};
    for (const [key, check] of entries) plain[key] = check(value[key], at === "" ? key : `${at}.${key}`);
    return plain;
  };
};

const PROVIDER = oneOf("credentials", "oidc", "ldap");
const APP = record({ id: text, name: text, description: option(text), iconUrl: text, href: option(text), pingUrl: option(text) });
const USER = record({
  ...{ id: text, name: text, email: option(text), emailVerified: option(long), image: option(text), provider: PROVIDER },
  ...{ homeBoardId: option(text), mobileHomeBoardId: option(text), firstDayOfWeek: number(6), pingIconsEnabled: truth },
  ...{ defaultSearchEngineId: option(text), openSearchInNewTab: truth },
});
const ACCOUNT = record({
  ...{ id: text, name: text, provider: PROVIDER, disabled: truth, passwordHash: option(text), passwordVersion: long },
});
const LISTED_USER = record({
  ...{ id: text, name: text, email: option(text), emailVerified: option(long), provider: PROVIDER, disabled: truth },
  image: option(text),
});
const COUNT = number(4_294_967_295);

/** What each function of a transaction returns, without `commit`. @type {Record<string, Check>} */
export const RESULTS = {
  hasUsers: truth,
  getUser: option(USER),
  getAccount: option(ACCOUNT),
  listUsers: list(LISTED_USER),
  countUsers: COUNT,
  insertUser: nothing,
  insertIdentity: nothing,
  setProfile: truth,
  setImage: truth,
  setHomeBoards: truth,
  setSearchPreferences: truth,
  setColorScheme: truth,
  setPingIconsEnabled: truth,
  setFirstDayOfWeek: truth,
  setDisabled: truth,
  setPasswordIf: truth,
  rehashPasswordIf: truth,
  deleteUser: truth,
  hasAnotherAdmin: truth,
  grantAdmin: nothing,
  addToGroup: truth,
  hasInvite: truth,
  takeInvite: truth,
  canViewBoard: truth,
  hasSearchEngine: truth,
  getApp: option(APP),
  getApps: list(APP),
  listApps: list(APP),
  countApps: COUNT,
  insertApps: nothing,
  updateApp: truth,
  deleteApp: truth,
};

/** Which apps a caller sees. @type {Check} */
const visibleApps = (value, at) => {
  if (value?.tag === "all") return { tag: "all" };
  if (value?.tag === "only") return { tag: "only", val: list(text)(value.val, "val") };
  return wrong(at, '{ tag: "all" } or { tag: "only", val }', value);
};

/** What the functions of the surroundings return. @type {Record<string, Check>} */
export const SURROUNDINGS = { canViewBoard: truth, hasSearchEngine: truth, visibleAppsOf: visibleApps };
/** @type {Check} */
export const ICONS = list(option(text));
/** @type {Check} */
export const ICON = text;
