// The users and apps of a dashboard. See README.md.

export { PorticoError, StorageError } from "./errors.js";
export { Portico } from "./portico.js";
