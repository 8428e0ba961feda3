// A node of the cluster, as a host application would be: serves the workflows on PostgreSQL until a signal.
import { createLogger } from "@andante/core";
import { type Authorize, serve } from "@andante/server";
import { provider } from "../../support/tokens.ts";
import { nodeSettingsSchema } from "./settings.ts";
import { unfencedStore } from "./unfenced-store.ts";
import { workflowsFor } from "./workflows.ts";

process.once("disconnect", () => process.exit());
const settings = nodeSettingsSchema.parse(JSON.parse(process.argv[2] ?? ""));
const { url, schema, lease, grace, running } = settings;
const { postgresStore }: typeof import("@andante/postgres") = await import(settings.postgres);
// A frozen node leaves a transaction open for a third of the last: no longer than its lease.
const store = postgresStore({
  url,
  schema,
  lease,
  readers: 2,
  statementTimeout: lease * 3,
});
/** Users other than the operator see their own executions, except those of the workflow `fan`. */
const authorize: Authorize = ({ user, action, resource }) => {
  if (user?.id === "operator" || action.startsWith("workflows.")) return true;
  return resource.workflowId === "fan" ? false : "own";
};
const server = await serve({
  workflows: workflowsFor(settings),
  store: settings.unfenced ? unfencedStore(store, settings) : store,
  port: 0,
  hostname: "127.0.0.1",
  grace,
  ...(settings.auth && { auth: provider(), authorize }),
  ...(running !== undefined && { limits: { running } }),
  logger: createLogger({ level: "silent" }),
});
process.send?.({ url: server.url });
