// One node of the cluster: a separate process, killed without a warning. In a container calls need a token.
import { createLogger } from "@andante/core";
import { postgresStore } from "@andante/postgres";
import { jwtAuth, serve } from "@andante/server";
import { order } from "./workflows.ts";

const url = process.env.DATABASE_URL;
if (url === undefined) throw new Error("DATABASE_URL is not set");

// Started by main.ts, and reachable only from this machine, it needs no token; anywhere else it does.
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
  // A short lease for a quick take-over in the demonstration; 10 seconds are usual.
  store: postgresStore({ url, lease: 3000 }),
  // In a container: PORT and HOST from its environment.
  ...(isDemonstration && { port: 0 }),
  logger: createLogger({ level: "warn" }),
});
process.send?.({ url: server.url });
