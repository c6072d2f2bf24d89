// What is examples/python-own-users's own: it has the routes of examples/node-dashboard.

import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

export { path, steps } from "./node_dashboard.mjs";

const file = (name) => fileURLToPath(new URL(`../../../${name}`, import.meta.url));

/** With the packages that `make target/python/installed` installs, or those of the example itself. */
export const start = (data) => ({
  command: [file("target/python/bin/python"), file("examples/python-own-users/.venv/bin/python")].find(existsSync) ?? "python3",
  args: ["main.py"],
  cwd: file("examples/python-own-users"),
  env: { PORT: "0", DATA: data },
});

/** Each call has an instance of its own: nothing stays within those of one user either. */
export const keepsInstances = false;
