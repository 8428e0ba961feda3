// createAndante: the one door to workflows, agents and their executions without a server.
import type { Andante, WorkflowRecord } from "./andante.ts";
import type { AndanteOptions } from "./andante-options.ts";
import { AndanteService } from "./andante-service.ts";
import type { AgentRecord, EventRecord } from "./host-types.ts";

/**
 * Runs workflows and agents without a server. Unfinished executions that the store holds continue at once.
 *
 * @example
 * ```ts
 * import { createAndante, createWorkflow, memoryStore } from "@andante/core";
 * import { z } from "zod";
 *
 * const double = createWorkflow({ id: "double", input: z.object({ n: z.number() }) })
 *   .andThen({ id: "times-two", execute: ({ data }) => data.n * 2 });
 * const andante = createAndante({ workflows: { double }, store: memoryStore() });
 *
 * const { status, result } = await andante.execute("double", { n: 21 });
 * console.log(status, result); // completed 42
 * await andante.close();
 * ```
 */
export function createAndante<
  W extends WorkflowRecord = Record<never, never>,
  A extends AgentRecord = Record<never, never>,
  E extends EventRecord = Record<never, never>,
>(options: AndanteOptions<W, A, E>): Andante<W, A, E>;
// The store holds JSON without types. That an execution's values have the types of its workflow is checked by the
// workflow's schemas when they are written, so the types are stated here once and asserted nowhere.
export function createAndante(options: AndanteOptions): Andante {
  return new AndanteService(options);
}
