// createAndante: the one door to workflows, agents and their executions without a server.
import type { AnyAgent } from "../agent/call/any-agent.ts";
import type { AndanteLimits } from "../execution/body/limits.ts";
import type { RetentionOptions } from "../execution/engine/retention.ts";
import type { LogOptions } from "../observe/log/log-options.ts";
import type { Logger } from "../observe/log/logger.ts";
import type { TracingOptions } from "../observe/trace/tracing-options.ts";
import type { Store } from "../store/store.ts";
import type { Clock } from "../values/clock.ts";
import type { Andante, WorkflowRecord } from "./andante.ts";
import { AndanteService } from "./andante-service.ts";

export interface AndanteOptions<W extends WorkflowRecord = WorkflowRecord> {
  /** The workflows to serve. A workflow's own id counts, not its key. */
  readonly workflows?: W;
  /** The agents to serve: ours, and any of the AI SDK. An agent's own id counts; one without an id takes its key. */
  readonly agents?: Readonly<Record<string, AnyAgent>>;
  /** Where executions and conversations are kept. */
  readonly store: Store;
  /**
   * Default: pino on standard output; pretty on a terminal, JSON lines elsewhere. Its level is ANDANTE_LOG_LEVEL from the
   * environment, else `silent` inside a test (NODE_ENV=test, or Node's test runner) and `info` everywhere else.
   */
  readonly logger?: Logger;
  /** Which log lines are kept in the store, and how long. Default: info and above, 7 days, 100 000 lines. */
  readonly logs?: LogOptions;
  /** Spans of executions, steps, agents and tools; false makes none. Default: all of them, kept for 7 days. */
  readonly tracing?: TracingOptions | false;
  readonly limits?: AndanteLimits;
  /** Which ended executions are kept; the others are deleted. Default: all are kept. */
  readonly retention?: RetentionOptions;
  /** The time as executions see it, for tests. Default: the machine's clock. */
  readonly clock?: Clock;
}

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
export function createAndante<W extends WorkflowRecord = Record<never, never>>(
  options: AndanteOptions<W>,
): Andante<W>;
// The store holds JSON without types. That an execution's values are what its workflow says is checked by the
// workflow's schemas when they are written, so the types are stated here once and asserted nowhere.
export function createAndante(options: AndanteOptions): Andante {
  return new AndanteService(options);
}
