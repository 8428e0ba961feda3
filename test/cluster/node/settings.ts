// The settings of a node of the cluster at its start.
import { z } from "zod";

const restateSchema = z.object({
  adminUrl: z.string(),
  /** The node's own port, and the address at which the servers reach any of the nodes. */
  endpoint: z.object({ port: z.int(), url: z.string() }),
});

export type RestateSettings = z.infer<typeof restateSchema>;

export const nodeSettingsSchema = z.object({
  /** The database, or the addresses of Restate's ingress with commas between them. */
  url: z.string(),
  /** The schema of the database, or the namespace on Restate. */
  schema: z.string(),
  /** Undefined on PostgreSQL. */
  restate: restateSchema.optional(),
  /** Milliseconds after which the others take over. */
  lease: z.int(),
  /** Where bodies note that they run. */
  log: z.string(),
  /** Milliseconds that bodies in flight get on SIGTERM. */
  grace: z.int(),
  /** Sabotage, to prove the checks: a commit that is refused because the claim was lost is made all the same. */
  unfenced: z.boolean(),
  /** Which release of the workflows that change it has. */
  release: z.enum(["old", "new"]),
  /** Executions that it runs at once; undefined for the default. */
  running: z.int().optional(),
  /** Whether callers need tokens, of which only the operator's shows everything. */
  auth: z.boolean(),
  /** Where the package of the store is imported from: another release of it has another place. */
  postgres: z.string(),
});

export type NodeSettings = z.infer<typeof nodeSettingsSchema>;

/** The message of a node once it serves. */
export const readySchema = z.object({ url: z.string() });
