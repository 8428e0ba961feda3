// What callers get who start, resume or replay an execution: a handle at once, the result when it ends or is suspended.
import { ExecutionNotFoundError, ExecutionParkedError, ShuttingDownError } from "../../errors/index.ts";
import { fromJson } from "../../values/json.ts";
import { asksAgents } from "../../workflow/asks-agents.ts";
import type { Engine, Wait } from "../engine/engine.ts";
import { type ExecutionResult, isoTime, publicText, viewResult, viewSuspension } from "../stream/views.ts";
import type { Prepare, Started } from "./start.ts";

/** An execution that is under way. */
export interface ExecutionHandle<Result = unknown> {
  readonly executionId: string;
  /** ISO 8601. */
  readonly startAt: string;
  /** True when it was there before and is suspended or has ended: the result is at hand. */
  readonly rests: boolean;
  /** The W3C header that names its root span; absent when it is not traced here. */
  readonly traceparent?: string | undefined;
  /** Resolves when the execution ends or is suspended. */
  result(): Promise<ExecutionResult<Result>>;
}

/** Creates an execution and starts waiting for it before it can end. */
export async function beginExecution(
  engine: Engine,
  workflowId: string,
  options: { readonly traceparent?: string | undefined },
  create: (prepare: Prepare) => Promise<Started>,
): Promise<ExecutionHandle> {
  let wait: Wait | undefined;
  try {
    const started = await create((id) => {
      wait ??= engine.wait(id);
    });
    const { executionId, startAt, rests } = started;
    if (started.created) {
      const traceparent = engine.observation.tracing?.traceparent(executionId, options.traceparent);
      return { ...handleOf(engine, workflowId, executionId, startAt, wait), traceparent };
    }
    wait?.cancel();
    return { executionId, startAt: isoTime(startAt), rests, result: () => resultOf(engine, executionId) };
  } catch (error) {
    wait?.cancel();
    throw error;
  }
}

/** The handle of an execution that somebody has begun to wait for. */
export function handleOf(
  engine: Engine,
  workflowId: string,
  executionId: string,
  startAt: number,
  wait: Wait | undefined,
): ExecutionHandle {
  return {
    executionId,
    startAt: isoTime(startAt),
    rests: false,
    result: () => answerOf(engine, workflowId, executionId, startAt, wait),
  };
}

/** An execution that was there before answers as it stands, or when it comes to rest. */
async function resultOf(engine: Engine, executionId: string): Promise<ExecutionResult> {
  const wait = engine.wait(executionId);
  try {
    const state = await engine.store.state(executionId);
    if (state === undefined) throw new ExecutionNotFoundError({ executionId });
    const { execution } = state;
    const workflow = engine.workflow(execution.workflowId);
    if (execution.status !== "running") return viewResult(workflow, state);
    if (execution.parked !== null) throw new ExecutionParkedError({ executionId, reason: execution.parked });
    return await answerOf(engine, workflow.id, executionId, execution.startAt, wait);
  } finally {
    wait.cancel();
  }
}

/** What a caller gets who waited for the execution. */
async function answerOf(
  engine: Engine,
  workflowId: string,
  executionId: string,
  startAt: number,
  wait: Wait | undefined,
): Promise<ExecutionResult> {
  const settlement = wait && (await engine.keepAlive.during(wait.settled));
  const common = { executionId, startAt: isoTime(startAt) };
  const workflow = engine.workflow(workflowId);
  switch (settlement?.kind) {
    case "ended": {
      // What its agents used is told by the store.
      if (asksAgents(workflow.steps)) return resultOf(engine, executionId);
      const { status, endAt, result, error } = settlement;
      const failure = error && { error: publicText(error) };
      return { ...common, endAt: isoTime(endAt), status, result: fromJson(result) ?? null, ...failure };
    }
    case "suspended": {
      const suspension = viewSuspension(workflow, settlement.suspension);
      return { ...common, endAt: null, status: "suspended", result: null, suspension };
    }
    case "elsewhere":
      return resultOf(engine, executionId);
    default:
      throw new ShuttingDownError({ executionId });
  }
}
