// What is examples/rust-dashboard's own.

import { fileURLToPath } from "node:url";

export const path = "/portico/api/trpc";

/** A release build. */
export const start = (data) => ({
  command: fileURLToPath(new URL("../../../target/release/rust-dashboard", import.meta.url)),
  args: ["--listen", "127.0.0.1:0", "--database", `${data}/dashboard.db`],
});

const made = ({ status, body }) => {
  if (status !== 201) throw new Error(`${status} ${JSON.stringify(body)}`);
  return body;
};

export const steps = {
  "sign-in": (own, { username, password }) => own("POST", "/session", { username, password }),
  "put-group": async (own, { name, permissions }) => made(await own("POST", "/teams", { name, may: permissions })),
  "put-invite": async (own) => made(await own("POST", "/invitations", { days: 1 })),
  "put-board": async (own, { name, public: open, apps }) => made(await own("POST", "/pages", { title: name, open, services: apps })),
  "get-board": async (own, { id }) => (await own("GET", `/pages/${id}`)).body.apps.map((app) => app.id),
  "put-search-engine": async (own, { name }) => made(await own("POST", "/engines", { name, url: "https://seek.example/?q=%s" })),
};
