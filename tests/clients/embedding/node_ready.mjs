// What is ready.mjs's own: its routes are those of examples/node-dashboard, and it signs in by Portico.

import { steps as of_node } from "./node_dashboard.mjs";

export const path = "/trpc";

export const steps = {
  ...of_node,
  "sign-in": (own, account) => own("POST", "/trpc/session.signIn", account),
};
