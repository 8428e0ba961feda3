// Tells a workflow's hooks of what was committed. Nothing waits for them, and nothing they do disturbs a run.

import { readFailure } from "../../journal/journal.ts";
import type { Logger } from "../../observe/log/logger.ts";
import type { ExecutionRow, JournalEvent } from "../../store/store.ts";
import { fromJson } from "../../values/json.ts";
import type { HookContext, StepOutcome, WorkflowHooks } from "../../workflow/hooks.ts";
import { stepIdOf } from "../../workflow/step-path.ts";

/** What of an execution's row hooks are told. */
export type HookSubject = Pick<
  ExecutionRow,
  "executionId" | "workflowId" | "context" | "userId" | "conversationId" | "input"
>;

/** Calls the hooks that these events concern, in order, once the caller has gone on. */
export function tellHooks(
  hooks: WorkflowHooks,
  row: HookSubject,
  events: readonly JournalEvent[],
  logger: Logger,
): void {
  const report = (err: unknown) =>
    logger.error({ err, executionId: row.executionId, workflowId: row.workflowId }, "a hook failed");
  queueMicrotask(() => {
    for (const event of events) {
      try {
        Promise.resolve(tell(hooks, row, event, logger)).catch(report);
      } catch (error) {
        report(error);
      }
    }
  });
}

function tell(hooks: WorkflowHooks, row: HookSubject, event: JournalEvent, logger: Logger): unknown {
  const { type } = event;
  switch (type) {
    case "workflow-start": {
      const { replayOf } = detailOf(event);
      return hooks.onStart?.({
        ...common(row, event, logger),
        input: read(event.value ?? row.input),
        replayOf,
      });
    }
    case "step-complete":
    case "step-skipped":
    case "step-bailed":
    case "step-error": {
      const stepPath = event.path ?? "";
      return hooks.onStepEnd?.({
        ...common(row, event, logger),
        stepId: stepIdOf(stepPath),
        stepPath,
        stepIndex: event.stepIndex ?? 0,
        stepType: event.stepType ?? "",
        outcome: outcomeOf(event),
      });
    }
    case "workflow-suspended": {
      const { suspensionId, reason, userId } = detailOf(event);
      return hooks.onSuspend?.({
        ...common(row, event, logger),
        suspensionId,
        reason,
        data: read(event.value),
        stepIndex: event.stepIndex ?? 0,
        stepPath: event.path ?? undefined,
        suspendedBy: userId ?? undefined,
      });
    }
    case "workflow-complete":
      return end(hooks, row, event, logger, "completed");
    case "workflow-error":
      return end(hooks, row, event, logger, "error");
    case "workflow-cancelled":
      return end(hooks, row, event, logger, "cancelled");
    default:
      return undefined;
  }
}

function end(
  hooks: WorkflowHooks,
  row: HookSubject,
  event: JournalEvent,
  logger: Logger,
  status: "completed" | "error" | "cancelled",
): unknown {
  const { reason, userId } = detailOf(event);
  return hooks.onEnd?.({
    ...common(row, event, logger),
    status,
    result: status === "completed" ? read(event.value) : undefined,
    error: status === "error" ? failureOf(event) : undefined,
    reason,
    cancelledBy: userId,
  });
}

function common(row: HookSubject, event: JournalEvent, logger: Logger): HookContext {
  const { executionId, workflowId, userId, conversationId } = row;
  return {
    executionId,
    workflowId,
    userId: userId ?? undefined,
    conversationId: conversationId ?? undefined,
    context: new Map(Object.entries(JSON.parse(row.context))),
    timestamp: new Date(event.timestamp),
    logger: logger.child({ workflowId, executionId }),
  };
}

function outcomeOf(event: JournalEvent): StepOutcome {
  if (event.type === "step-skipped") return { kind: "skipped" };
  if (event.type === "step-error") return { kind: "error", error: failureOf(event) };
  if (event.type === "step-bailed") return { kind: "bailed", result: read(event.value) };
  return { kind: "output", output: read(event.value) };
}

function failureOf(event: JournalEvent) {
  const { name, message, step } = readFailure(event.value ?? undefined);
  return { name, message, step };
}

function read(value: string | null): unknown {
  return value === null ? undefined : fromJson(value);
}

function detailOf({ detail }: JournalEvent) {
  return Object(detail === null ? undefined : fromJson(detail));
}
