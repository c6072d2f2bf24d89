// What is examples/node-dashboard's own.

import { fileURLToPath } from "node:url";

export const path = "/trpc";
/** An instance serves many callers, and nothing is left in it. */
export const keepsInstances = false;

/** What speed.mjs compares it with. */
export const handlers = "node_handlers";

/** Installed and built before. */
export const start = (data) => ({
  command: "node",
  args: ["main.js"],
  cwd: fileURLToPath(new URL("../../../examples/node-dashboard", import.meta.url)),
  env: { PORT: "0", DATA: data, NODE_ENV: "production" },
});

const made = ({ status, body }) => {
  if (status !== 201) throw new Error(`${status} ${JSON.stringify(body)}`);
  return body;
};

export const steps = {
  "sign-in": (own, { username, password }) => own("POST", "/session", { username, password }),
  "put-group": async (own, { name, permissions }) => made(await own("POST", "/teams", { name, may: permissions, members: [] })),
  "put-invite": async (own) => made(await own("POST", "/invitations", { days: 1 })),
  "put-board": async (own, { name, public: open, apps }) => made(await own("POST", "/panels", { title: name, open, tiles: apps })),
  "get-board": async (own, { id }) => (await own("GET", `/panels/${id}`)).body.tiles.map((tile) => tile.id),
  "put-search-engine": async (own, { name }) => made(await own("POST", "/engines", { name, url: "https://seek.example/?q=%s" })),
};
