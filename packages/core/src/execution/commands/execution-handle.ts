// The handle that callers who start, resume or replay an execution receive at once; the result follows when it ends or is suspended.
import { ExecutionNotFoundError, ExecutionParkedError, ShuttingDownError } from "../../errors/index.ts";
import { isoTime } from "../../values/iso-time.ts";
import { fromJson } from "../../values/json.ts";
import { asksAgents } from "../../workflow/step.ts";
import type { Engine } from "../engine/engine.ts";
import type { Wait } from "../engine/waiters.ts";
import type { Settlement } from "../run/settlement.ts";
import { type ExecutionResult, publicText, viewResult, viewSuspension } from "../stream/views.ts";
import type { PreparedStart } from "./start.ts";

/** An execution that was started or resumed. */
export interface ExecutionHandle<Result = unknown> {
  readonly executionId: string;
  /** ISO 8601. */
  readonly startAt: string;
  /** True when it was there before and is suspended or has ended: the result is at hand. */
  readonly settled: boolean;
  /** The W3C header that names its root span; absent when it is not traced here. */
  readonly traceparent?: string | undefined;
  /** Resolves when the execution ends or is suspended. */
  result(): Promise<ExecutionResult<Result>>;
}

/** The parts of the engine that results are awaited with. */
export type ResultParts = Pick<Engine, "store" | "waiters" | "keepAlive" | "workflow">;

/** Creates an execution and starts waiting for it before it can end. */
export async function beginExecution(
  engine: ResultParts & Pick<Engine, "observation">,
  workflowId: string,
  prepared: PreparedStart,
  { traceparent: given }: { readonly traceparent?: string | undefined },
): Promise<ExecutionHandle> {
  const wait = engine.waiters.wait(prepared.executionId);
  try {
    const { executionId, startAt, created, settled } = await prepared.create();
    if (created) {
      const traceparent = engine.observation.tracing?.traceparent(executionId, given);
      return { ...handleOf(engine, workflowId, executionId, startAt, wait), traceparent };
    }
    wait.cancel();
    return { executionId, startAt: isoTime(startAt), settled, result: () => resultOf(engine, executionId) };
  } catch (error) {
    wait.cancel();
    throw error;
  }
}

/** The handle of an execution that a caller already waits for. */
export function handleOf(
  engine: ResultParts,
  workflowId: string,
  executionId: string,
  startAt: number,
  wait: Wait,
): ExecutionHandle {
  const started = isoTime(startAt);
  return {
    executionId,
    startAt: started,
    settled: false,
    result: () => awaitResult(engine, workflowId, executionId, started, wait),
  };
}

/** The result of an execution that existed before: its current one, or the one when it has settled. */
async function resultOf(engine: ResultParts, executionId: string): Promise<ExecutionResult> {
  const wait = engine.waiters.wait(executionId);
  try {
    const state = await engine.store.state(executionId);
    if (state === undefined) throw new ExecutionNotFoundError({ executionId });
    const { execution } = state;
    const workflow = engine.workflow(execution.workflowId);
    if (execution.status !== "running") return viewResult(workflow, state);
    if (execution.parked !== null) throw new ExecutionParkedError({ executionId, reason: execution.parked });
    return await awaitResult(engine, workflow.id, executionId, isoTime(execution.startAt), wait);
  } finally {
    wait.cancel();
  }
}

/** The result for a caller who waited for the execution. */
async function awaitResult(
  engine: ResultParts,
  workflowId: string,
  executionId: string,
  startAt: string,
  wait: Wait,
): Promise<ExecutionResult> {
  engine.keepAlive.hold();
  let settlement: Settlement;
  try {
    settlement = await wait.settled;
  } finally {
    engine.keepAlive.release();
  }
  const common = { executionId, startAt };
  const workflow = engine.workflow(workflowId);
  switch (settlement.kind) {
    case "ended": {
      // The store knows the usage of its agents.
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
    case "stopped":
      throw new ShuttingDownError({ executionId });
  }
}
