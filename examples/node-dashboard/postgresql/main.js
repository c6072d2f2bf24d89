// Starts the dashboard over PostgreSQL:
//
//     PGHOST=/run/postgresql PGDATABASE=dashboard npm start      on 127.0.0.1:3000
//
// PORT=0 takes a free port and says which.

import { dashboard } from "./dashboard.js";

const { app, close } = await dashboard();

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
