// The methods of the extension for tasks.
import { AndanteError } from "@andante/core";
import { cancelExecution, visibleState } from "../exposed/executions.ts";
import { rowOf } from "../exposed/inner-call.ts";
import { stopReply } from "../exposed/replies.ts";
import { readReply } from "./agent-tool.ts";
import { type McpCall, tasksExtension } from "./call.ts";
import { answer, questionsOf, waysToDecide } from "./executions.ts";
import { endResult, type Result } from "./results.ts";
import { type ReplyId, readReplyTaskId, taskFields, taskNotFound } from "./task-shape.ts";

type Fields = Readonly<Record<string, unknown>>;

export const taskMethods = ["tasks/get", "tasks/update", "tasks/cancel"] as const;
export type TaskMethod = (typeof taskMethods)[number];

export async function handleTask(call: McpCall, method: TaskMethod, params: Fields): Promise<Result> {
  const { MissingRequiredClientCapabilityError, ProtocolError, ProtocolErrorCode } = call.sdk;
  if (!call.declaresTasks)
    throw new MissingRequiredClientCapabilityError({
      requiredCapabilities: { extensions: { [tasksExtension]: {} } },
    });
  const { taskId } = params;
  if (typeof taskId !== "string" || taskId === "")
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, "taskId: expected a string");
  const reply = readReplyTaskId(taskId);
  return reply === undefined
    ? handleExecution(call, method, taskId)
    : handleReply(call, method, reply, taskId);
}

async function handleExecution(call: McpCall, method: TaskMethod, executionId: string): Promise<Result> {
  const state = await visibleState(call, executionId);
  if (!call.isExposed("workflow", state.workflowId)) throw taskNotFound(call.sdk, executionId);
  if (method === "tasks/update") {
    await answer(call, state, call.inputResponses);
    return {};
  }
  if (method === "tasks/cancel") {
    // One that has ended is acknowledged too.
    await cancelExecution(call, executionId);
    return {};
  }
  const { status, startAt, endAt, suspension, parked } = state;
  const times = { createdAt: startAt, lastUpdatedAt: endAt ?? suspension?.suspendedAt };
  if (status === "cancelled") return taskFields(executionId, "cancelled", times);
  if (status === "completed" || status === "error")
    return { ...taskFields(executionId, "completed", times), result: endResult(state) };
  if (status === "running") {
    const about = parked === undefined ? {} : { statusMessage: `Not runnable: ${parked.reason}` };
    return { ...taskFields(executionId, "working", times), ...about };
  }
  const inputRequests = await questionsOf(call, state);
  if (Object.keys(inputRequests).length > 0)
    return { ...taskFields(executionId, "input_required", times, true), inputRequests };
  const reason = suspension?.reason || "It waits for a person";
  const statusMessage = `${reason}. ${waysToDecide(call, state)}`;
  return { ...taskFields(executionId, "working", times, true), statusMessage };
}

async function handleReply(
  call: McpCall,
  method: TaskMethod,
  reply: ReplyId,
  taskId: string,
): Promise<Result> {
  if (!call.isExposed("agent", reply.agentId)) throw taskNotFound(call.sdk, taskId);
  const { status, agentId, asked, queued, result } = await readReply(call, reply).catch((error: unknown) => {
    if (error instanceof AndanteError && [400, 404].includes(error.status))
      throw taskNotFound(call.sdk, taskId);
    throw error;
  });
  if (asked?.role !== "user" || agentId !== reply.agentId) throw taskNotFound(call.sdk, taskId);
  if (method === "tasks/cancel") {
    const { agentId: id, conversationId, messageId } = reply;
    if (queued) await call.ask(rowOf("withdrawMessage"), { params: { id, conversationId, messageId } });
    else if (status === "running" || status === "waiting") await stopReply(call, id, conversationId);
    return {};
  }
  // People decide about the tools of a reply in its chat and in the inbox.
  if (method === "tasks/update") return {};
  const times = { createdAt: reply.startAt };
  if (status === "running") return taskFields(taskId, "working", times);
  if (status !== "waiting") return { ...taskFields(taskId, "completed", times), result };
  const statusMessage = "A tool of the reply waits for a decision in the inbox";
  return { ...taskFields(taskId, "working", times, true), statusMessage };
}
