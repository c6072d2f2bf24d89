// What handlers/node.js has of its own. It has only what speed.mjs asks for.

import { fileURLToPath } from "node:url";

export const path = "/trpc";

export const start = (data) => ({
  command: "node",
  args: [fileURLToPath(new URL("handlers/node.js", import.meta.url))],
  env: { PORT: "0", DATA: data, NODE_ENV: "production" },
});

export const steps = { "sign-in": (own, account) => own("POST", "/session", account) };
