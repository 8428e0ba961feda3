// Calls a workflow's hooks with committed events. Nothing waits for them, and nothing they do disturbs a run.
import {
  type EndEvent,
  endStatus,
  isEnd,
  type JournalEvent,
  type OutcomeEvent,
  unknownEvent,
} from "../../journal/events.ts";
import type { Failure } from "../../journal/failure.ts";
import type { Logger } from "../../observe/log/logger.ts";
import type { ExecutionRow } from "../../store/store.ts";
import { parseObject } from "../../values/fields.ts";
import { fromJson } from "../../values/json.ts";
import { stepIdOf } from "../../values/step-path.ts";
import type { HookContext, StepOutcome, WorkflowHooks } from "../../workflow/hooks.ts";

/** The columns of an execution that hooks receive. */
export type HookSubject = Pick<
  ExecutionRow,
  "executionId" | "workflowId" | "context" | "userId" | "conversationId" | "input"
>;

/** Calls the hooks that these events concern, in order, once the caller has returned. */
export function callHooks(
  hooks: WorkflowHooks,
  row: HookSubject,
  events: readonly JournalEvent[],
  logger: Logger,
): void {
  const { executionId, workflowId } = row;
  const report = (err: unknown) =>
    logger.error({ err, executionId, workflowId, ...userOf(row) }, "a hook failed");
  queueMicrotask(() => {
    for (const event of events) {
      try {
        Promise.resolve(call(hooks, row, event, logger)).catch(report);
      } catch (error) {
        report(error);
      }
    }
  });
}

function call(hooks: WorkflowHooks, row: HookSubject, event: JournalEvent, logger: Logger): unknown {
  if (isEnd(event)) return callEnd(hooks, row, event, logger);
  switch (event.type) {
    case "workflow-start": {
      const { replayOf } = event;
      const input = fromJson(event.input ?? row.input ?? undefined);
      return hooks.onStart?.({ ...common(row, event, logger), input, replayOf });
    }
    case "step-complete":
    case "step-skipped":
    case "step-bailed":
    case "step-error": {
      const { path: stepPath, stepIndex, stepType } = event;
      const outcome = outcomeOf(event);
      const step = { stepId: stepIdOf(stepPath), stepPath, stepIndex, stepType };
      return hooks.onStepEnd?.({ ...common(row, event, logger), ...step, outcome });
    }
    case "workflow-suspended": {
      const { suspensionId, reason, data, stepIndex, path, userId: suspendedBy } = event;
      const stepPath = path ?? undefined;
      const suspension = { suspensionId, reason, data: fromJson(data), stepIndex, stepPath, suspendedBy };
      return hooks.onSuspend?.({ ...common(row, event, logger), ...suspension });
    }
    case "step-start":
    case "step-evaluated":
    case "step-retry":
    case "step-suspended":
    case "state-changed":
    case "emitted":
    case "checkpoint-complete":
    case "checkpoint-retry":
    case "workflow-resumed":
    case "execution-rewound":
      return undefined;
    default:
      return unknownEvent(event);
  }
}

function callEnd(hooks: WorkflowHooks, row: HookSubject, event: EndEvent, logger: Logger): unknown {
  const { type } = event;
  return hooks.onEnd?.({
    ...common(row, event, logger),
    status: endStatus[type],
    result: type === "workflow-complete" ? fromJson(event.result) : undefined,
    error: type === "workflow-error" ? failureOf(event.error) : undefined,
    reason: type === "workflow-cancelled" ? event.reason : undefined,
    cancelledBy: type === "workflow-cancelled" ? event.userId : undefined,
  });
}

function common(row: HookSubject, { timestamp }: { timestamp: number }, logger: Logger): HookContext {
  const { executionId, workflowId, userId, conversationId } = row;
  return {
    executionId,
    workflowId,
    userId: userId ?? undefined,
    conversationId: conversationId ?? undefined,
    context: new Map(Object.entries(parseObject(row.context, "The context of an execution"))),
    timestamp: new Date(timestamp),
    logger: logger.child({ workflowId, executionId, ...userOf(row) }),
  };
}

function userOf({ userId }: HookSubject): { readonly userId?: string } {
  return userId === null ? {} : { userId };
}

function outcomeOf(event: OutcomeEvent): StepOutcome {
  switch (event.type) {
    case "step-skipped":
      return { kind: "skipped" };
    case "step-error":
      return { kind: "error", error: failureOf(event.error) };
    case "step-bailed":
      return { kind: "bailed", result: fromJson(event.result) };
    case "step-complete":
    case "step-evaluated":
      return { kind: "output", output: fromJson(event.output) };
  }
}

function failureOf({ name, message, step }: Failure) {
  return { name, message, step };
}
