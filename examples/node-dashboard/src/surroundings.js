// The other imports of the component: icons by name, and a log.

/** @import { Level } from "../generated/interfaces/portico-dashboard-log.js" */

/** The files in public/icons, by common names of services. */
const ICONS = new Map([
  ["router", "/icons/router.svg"],
  ["home assistant", "/icons/home.svg"],
  ["nas", "/icons/disk.svg"],
]);

export const icons = {
  /** @param {string[]} names */
  find: (names) => names.map((name) => ICONS.get(name.trim().toLowerCase())),
  defaultIcon: () => "/icons/default.svg",
};

/**
 * @param {Level} level
 * @param {string} message
 */
export const log = (level, message) => console.error(`[portico] ${level}: ${JSON.stringify(message)}`);
