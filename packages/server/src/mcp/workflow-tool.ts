// A call of a workflow as a tool: starts an execution, waits for it, and responds with its result, a task or a question.
import { AndanteError, type ExecutionHandle, type ExecutionResult } from "@andante/core";
import { InvalidOptionError } from "@andante/core/errors";
import { withTimeout } from "@andante/core/internal";
import { visibleState } from "../exposed/executions.ts";
import { rowOf } from "../exposed/inner-call.ts";
import { startOptions } from "../routes/start-options.ts";
import type { McpCall } from "./call.ts";
import { answer, questionsOf, waysToDecide } from "./executions.ts";
import { reportProgress } from "./progress.ts";
import { type ExecutionOutcome, endResult, type Result, waitingResult } from "./results.ts";
import { createdTask } from "./task-shape.ts";

type Fields = Readonly<Record<string, unknown>>;

export async function callWorkflow(call: McpCall, workflowId: string, given: Fields): Promise<Result> {
  const { andante } = call.service;
  if (call.requestState !== undefined) return continueCall(call, workflowId, call.requestState);
  const { type } = andante.workflow(workflowId).inputSchema;
  // Arguments are an object. Other input is a field of it.
  const input = type === "object" ? given : given.input;
  const request = { params: { id: workflowId }, body: { input: input ?? null } };
  const started = await call.perform(rowOf("executeWorkflow"), request, async (context) => {
    const options = startOptions(context, {});
    try {
      return await andante.start(workflowId, input, { ...options, tags: [`mcp:${call.client}`] });
    } catch (error) {
      // A workflow that has as many tags as an execution may have.
      if (!(error instanceof InvalidOptionError)) throw error;
      return andante.start(workflowId, input, options);
    }
  });
  return settle(call, workflowId, started);
}

/** A repeated call with answers to the questions of an earlier result; without them they are asked again. */
async function continueCall(call: McpCall, workflowId: string, executionId: string): Promise<Result> {
  const { ProtocolError, ProtocolErrorCode } = call.sdk;
  const state = await visibleState(call, executionId).catch((error: unknown) => {
    if (!(error instanceof AndanteError) || error.status >= 500) throw error;
  });
  if (state?.workflowId !== workflowId)
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, "Invalid requestState");
  const resumed = await answer(call, state, call.inputResponses);
  return resumed === undefined ? respond(call, state) : settle(call, workflowId, resumed);
}

async function settle(call: McpCall, workflowId: string, handle: ExecutionHandle): Promise<Result> {
  const { executionId, startAt } = handle;
  const progress = handle.settled ? undefined : reportProgress(call, workflowId, executionId);
  try {
    if (!call.supportsTasks) return await respond(call, await handle.result());
    const value = await settledIn(handle, call.options.wait);
    if (value !== undefined && value.status !== "suspended") return endResult(value);
    return createdTask(executionId, startAt);
  } finally {
    progress?.stop();
  }
}

/** The result, or undefined once the time is over. Without a wait every call is a task. */
async function settledIn(handle: ExecutionHandle, wait: number): Promise<ExecutionResult | undefined> {
  if (wait === 0 && !handle.settled) return undefined;
  const { value } = await withTimeout(handle.result(), wait);
  return value;
}

/** The response for a client without tasks. */
async function respond(call: McpCall, outcome: ExecutionOutcome): Promise<Result> {
  // A repeated call that was answered elsewhere meanwhile: the client repeats it once more after a while.
  if (outcome.status === "running")
    return { resultType: "input_required", requestState: outcome.executionId };
  if (outcome.status !== "suspended") return endResult(outcome);
  const state = await visibleState(call, outcome.executionId);
  const inputRequests = await questionsOf(call, state);
  if (Object.keys(inputRequests).length > 0)
    return { resultType: "input_required", inputRequests, requestState: outcome.executionId };
  return waitingResult(state, waysToDecide(call, state));
}
