// The PostgreSQL store passes the cases that every store passes.

import { describeStore } from "@andante/core/store-cases";
import { postgresStore } from "@andante/postgres";
import { afterAll, beforeAll } from "vitest";
import { type PostgresServer, startPostgres } from "./postgres-server.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.remove());

let schemas = 0;
describeStore("postgresStore", () => postgresStore({ url: server.url, schema: `cases ${++schemas}` }));
