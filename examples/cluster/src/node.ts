// One node of the cluster: started as a process of its own, killed without a warning.
import { createLogger } from "@andante/core";
import { postgresStore } from "@andante/postgres";
import { serve } from "@andante/server";
import { order } from "./workflows.ts";

const url = process.env.DATABASE_URL;
if (url === undefined) throw new Error("DATABASE_URL is not set");

const server = await serve({
  workflows: { order },
  // A short lease, so that a spectator does not wait long for the take-over; 10 seconds are usual.
  store: postgresStore({ url, lease: 3000 }),
  // In a container: PORT and HOST from its environment.
  ...(process.send !== undefined && { port: 0 }),
  logger: createLogger({ level: "warn" }),
});
process.send?.({ url: server.url });
