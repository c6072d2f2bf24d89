// What is examples/python-dashboard's own: its routes are those of examples/node-dashboard, and it signs in by Portico.

import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { steps as of_node } from "./node_dashboard.mjs";

export const path = "/portico/trpc";

export const steps = {
  ...of_node,
  "sign-in": (own, { username, password }) => own("POST", "/portico/session", { username, password }),
};

const file = (name) => fileURLToPath(new URL(`../../../${name}`, import.meta.url));

/** With the packages that `make target/python/installed` installs, or those of the example itself. */
export const starting = (example) => (data) => ({
  command: [file("target/python/bin/python"), file(`examples/${example}/.venv/bin/python`)].find(existsSync) ?? "python3",
  args: ["main.py"],
  cwd: file(`examples/${example}`),
  env: { PORT: "0", DATA: data, PYTHONPATH: file("bindings/python") },
});

export const start = starting("python-dashboard");

/** What speed.mjs compares it with. */
export const handlers = "python_handlers";

/** Each call has an instance of its own: nothing stays within those of one user either. */
export const keepsInstances = false;
