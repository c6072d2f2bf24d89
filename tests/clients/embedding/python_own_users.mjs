// What is examples/python-own-users' own: it has the routes of examples/node-dashboard.

import { starting } from "./python_dashboard.mjs";

export { path, steps } from "./node_dashboard.mjs";
export { keepsInstances } from "./python_dashboard.mjs";

export const start = starting("python-own-users");
