// A node of the cluster, as a host application would be: serves the workflows until a signal.
import { createLogger, type Store } from "@andante/core";
import { type Authorize, serve } from "@andante/server";
import { provider } from "../../support/tokens.ts";
import { nodeSettingsSchema } from "./settings.ts";
import { unfencedPostgres, unfencedRestate } from "./unfenced-store.ts";
import { workflowsFor } from "./workflows.ts";

process.once("disconnect", () => process.exit());
const settings = nodeSettingsSchema.parse(JSON.parse(process.argv[2] ?? ""));
const { grace, running } = settings;
/** Users other than the operator see their own executions, except those of the workflow `fan`. */
const authorize: Authorize = ({ user, action, resource }) => {
  if (user?.id === "operator" || action.startsWith("workflows.")) return true;
  return resource.workflowId === "fan" ? false : "own";
};
const server = await serve({
  workflows: workflowsFor(settings),
  store: await chooseStore(),
  port: 0,
  hostname: "127.0.0.1",
  grace,
  ...(settings.auth && { auth: provider(), authorize }),
  ...(running !== undefined && { limits: { running } }),
  logger: createLogger({ level: "silent" }),
});
process.send?.({ url: server.url });

async function chooseStore(): Promise<Store> {
  const { url, schema, lease, unfenced, restate } = settings;
  if (restate !== undefined) {
    const { restateStore } = await import("@andante/restate");
    const store = restateStore({ ingressUrl: url.split(","), namespace: schema, lease, ...restate });
    return unfenced ? unfencedRestate(store, settings) : store;
  }
  const { postgresStore }: typeof import("@andante/postgres") = await import(settings.postgres);
  // A frozen node leaves a transaction open for a third of the last: no longer than its lease.
  const store = postgresStore({ url, schema, lease, readers: 2, statementTimeout: lease * 3 });
  return unfenced ? unfencedPostgres(store, settings) : store;
}
