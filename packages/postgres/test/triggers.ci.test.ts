// Events, deliveries and links on PostgreSQL: the cases of every store.
import { postgresStore } from "@andante/postgres";
import { afterAll } from "vitest";
import { eventCases } from "../../core/test/events/event-cases.ts";
import { linkCases } from "../../core/test/links/link-cases.ts";
import { webhookCases } from "../../core/test/webhooks/webhook-cases.ts";
import { startPostgres } from "./postgres-server.ts";

const server = await startPostgres();
afterAll(() => server.remove());

let schemas = 0;
const makeStore = () => postgresStore({ url: server.url, schema: `t${++schemas}`, writers: 1, readers: 2 });

eventCases("PostgreSQL", makeStore);
webhookCases("PostgreSQL", makeStore);
linkCases("PostgreSQL", makeStore);
