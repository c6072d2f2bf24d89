// What is the `portico` binary's own.

import { fileURLToPath } from "node:url";

export const path = "/api/trpc";

/** A release build, or the binary that the environment names. */
export const start = (data) => ({
  command: process.env.PORTICO_BIN ?? fileURLToPath(new URL("../../../target/release/portico", import.meta.url)),
  args: ["serve", "--listen", "127.0.0.1:0", "--data", `${data}/data`],
  env: { PORTICO_ICON_SOURCES: "" },
});

const input = (value) => `?input=${encodeURIComponent(JSON.stringify(value))}`;

async function data(answer) {
  const { status, body } = await answer;
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
  return body.result.data;
}

export const steps = {
  "sign-in": (own, { username, password }) => own("POST", "/api/auth/sign-in", { username, password }),
  "put-group": async (own, { name, permissions }) => {
    const { id } = await data(own("POST", `${path}/group.createGroup`, { name }));
    await data(own("POST", `${path}/group.savePermissions`, { groupId: id, permissions }));
    return { id };
  },
  "put-invite": (own) =>
    data(own("POST", `${path}/invite.createInvite`, { expirationDate: new Date(Date.now() + 86_400_000).toISOString() })),
  "put-board": (own, { name, public: isPublic, apps }) =>
    data(own("POST", `${path}/board.create`, { name, isPublic, items: apps.map((appId) => ({ kind: "app", appId })) })),
  "get-board": async (own, { id }) => (await data(own("GET", `${path}/board.byId${input({ id })}`))).items.map((item) => item.appId),
  "put-search-engine": (own, { name }) =>
    data(own("POST", `${path}/searchEngine.create`, { name, short: "s", urlTemplate: "https://seek.example/?q=%s", iconUrl: "/s.svg" })),
};
