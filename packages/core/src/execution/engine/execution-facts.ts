// What the bodies of an execution are given of it.
import type { Journal } from "../../journal/journal.ts";
import type { ExecutionFacts } from "../body/body-run.ts";
import type { Engine } from "./engine.ts";
import { logFields } from "./log-fields.ts";
import type { RunRow } from "./resumed-execution.ts";

type FactSources = Pick<Engine, "store" | "clock" | "logger" | "limits" | "observation" | "feed">;

export function executionFacts(
  { store, clock, logger, limits, observation, feed }: FactSources,
  row: RunRow,
  journal: Journal,
): ExecutionFacts {
  const { executionId, workflowId, context } = row;
  return {
    executionId,
    workflowId,
    userId: row.userId ?? undefined,
    conversationId: row.conversationId ?? undefined,
    context,
    journal,
    clock,
    logger: logger.child(logFields(row)),
    limits,
    observation,
    used: async () => (await store.state(executionId))?.usage ?? null,
    publishLive: (text) => feed.publishLive(executionId, text),
  };
}
