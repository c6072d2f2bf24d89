// What handlers/python.py has of its own. It has only what speed.mjs asks for.

import { fileURLToPath } from "node:url";
import { starting } from "./python_dashboard.mjs";

export { path, steps } from "./node_handlers.mjs";

export const start = (data) => ({
  ...starting("python-dashboard")(data),
  args: [fileURLToPath(new URL("handlers/python.py", import.meta.url))],
});
