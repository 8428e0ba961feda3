// One node of the cluster: a separate process, killed without a warning. In a container calls need a token.
import { createLogger, type Store } from "@andante/core";
import { postgresStore } from "@andante/postgres";
import { jwtAuth, serve } from "@andante/server";
import { order } from "./workflows.ts";

const store = await chooseStore();

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
  store,
  // In a container: PORT and HOST from its environment.
  ...(isDemonstration && { port: 0 }),
  logger: createLogger({ level: "warn" }),
});
process.send?.({ url: server.url });

/** On PostgreSQL with a short lease for a quick take-over in the demonstration; 10 seconds are usual. */
async function chooseStore(): Promise<Store> {
  const { DATABASE_URL, RESTATE_INGRESS, RESTATE_ADMIN = "", RESTATE_ENDPOINT = "" } = process.env;
  if (RESTATE_INGRESS !== undefined) {
    const { restateStore } = await import("@andante/restate");
    const endpoint = { port: Number(process.env.RESTATE_PORT), url: RESTATE_ENDPOINT };
    return restateStore({
      ingressUrl: RESTATE_INGRESS.split(","),
      adminUrl: RESTATE_ADMIN,
      endpoint,
    });
  }
  if (DATABASE_URL === undefined) throw new Error("DATABASE_URL is not set");
  return postgresStore({ url: DATABASE_URL, lease: 3000 });
}
