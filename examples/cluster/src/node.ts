// One node of the cluster: started as a process of its own, killed without a warning. In a container calls need a token.
import { createLogger } from "@andante/core";
import { postgresStore } from "@andante/postgres";
import { jwtAuth, serve } from "@andante/server";
import { order } from "./workflows.ts";

const url = process.env.DATABASE_URL;
if (url === undefined) throw new Error("DATABASE_URL is not set");

// Started by main.ts, on this machine only, it is open to everyone; anywhere else it asks for tokens.
const isDemonstration = process.send !== undefined;
const secret = process.env.JWT_SECRET;
if (secret === undefined && !isDemonstration) throw new Error("JWT_SECRET is not set");
const auth = secret !== undefined && {
  auth: jwtAuth({
    secret,
    defaultPrivate: true,
    publicRoutes: ["GET /health", "GET /ready", "GET /console*"],
    webSocket: "protect",
  }),
};

const server = await serve({
  ...auth,
  workflows: { order },
  // A short lease, so that a spectator does not wait long for the take-over; 10 seconds are usual.
  store: postgresStore({ url, lease: 3000 }),
  // In a container: PORT and HOST from its environment.
  ...(isDemonstration && { port: 0 }),
  logger: createLogger({ level: "warn" }),
});
process.send?.({ url: server.url });
