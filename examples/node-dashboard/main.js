// Starts the dashboard:
//
//     npm start                                  on 127.0.0.1:3000, data in ./data
//     PORT=0 DATA=/var/lib/dashboard npm start   port 0 takes a free one and says which

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { dashboard } from "./src/dashboard.js";

const folder = process.env.DATA ?? "data";
mkdirSync(folder, { recursive: true });
const { app, close } = await dashboard(join(folder, "dashboard.db"));

const server = app.listen(Number(process.env.PORT ?? 3000), "127.0.0.1", (error) => {
  if (error) throw error;
  const address = /** @type {import("node:net").AddressInfo} */ (server.address());
  console.log(`listening on http://127.0.0.1:${address.port}`);
});

for (const signal of ["SIGINT", "SIGTERM"]) {
  process.once(signal, () => {
    server.close(() => void close());
    server.closeIdleConnections();
  });
}
