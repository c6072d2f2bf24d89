// This dashboard's rows as records of the contract, and its words for those of the contract.

/** @import { contract, types } from "@portico/dashboard" */

export const REALMS = { credentials: "local", oidc: "sso", ldap: "directory" };
export const THEMES = { light: "day", dark: "night", auto: "system" };

/** The team that `grantAdmin` makes accounts members of. */
export const ADMINS = "admins";

/**
 * @template {string} K
 * @param {Record<K, string>} words
 * @param {string} word
 */
const back = (words, word) => /** @type {K} */ (Object.keys(words).find((key) => words[/** @type {K} */ (key)] === word));

/** The contract's word for a theme. @param {string} theme @returns {types.ColorScheme} */
export const colorScheme = (theme) => back(THEMES, theme);

/** `undefined` is none in the contract, null in the database. @param {string | undefined} text */
export const orNull = (text) => text ?? null;

/** No moment is beyond the year 9999. @param {bigint | undefined} moment */
export const momentOrNull = (moment) => (moment === undefined ? null : Number(moment));

/** @param {number | string | null} moment */
const orNone = (moment) => (moment === null ? undefined : BigInt(moment));

/** What identifies an account and shows it. @param {any} row */
const person = (row) => ({
  id: row.uid,
  name: row.login,
  email: row.mail ?? undefined,
  emailVerified: orNone(row.mail_checked_at),
  image: row.avatar ?? undefined,
  provider: back(REALMS, row.realm),
});

/** @returns {contract.ListedUser} */
export const listedUser = (/** @type {any} */ row) => ({ ...person(row), disabled: Boolean(row.blocked) });

/** @returns {types.User} */
export const user = (/** @type {any} */ row) => ({
  ...person(row),
  homeBoardId: row.panel ?? undefined,
  mobileHomeBoardId: row.panel_small ?? undefined,
  firstDayOfWeek: row.week_begins_on,
  pingIconsEnabled: Boolean(row.shows_state),
  defaultSearchEngineId: row.engine ?? undefined,
  openSearchInNewTab: Boolean(row.searches_in_new_tab),
});

/** @returns {contract.Account} */
export const account = (/** @type {any} */ row) => ({
  id: row.uid,
  name: row.login,
  provider: back(REALMS, row.realm),
  disabled: Boolean(row.blocked),
  passwordHash: row.secret ?? undefined,
  passwordVersion: BigInt(row.secret_version),
});

/** @returns {types.App} */
export const app = (/** @type {any} */ row) => ({
  id: row.uid,
  name: row.title,
  description: row.note ?? undefined,
  iconUrl: row.icon,
  href: row.link ?? undefined,
  pingUrl: row.probe ?? undefined,
});

/** The values of an app's columns, the uid last. @param {contract.StoredApp} stored */
export const tile = ({ app, nameKey }) => [
  app.name,
  nameKey,
  orNull(app.description),
  app.iconUrl,
  orNull(app.href),
  orNull(app.pingUrl),
  app.id,
];

/** The most bytes of text in an answer. */
export const LARGEST_ANSWER = 100_000_000;
