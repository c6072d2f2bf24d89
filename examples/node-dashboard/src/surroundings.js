// Icons by name, for apps that are created without one.

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
