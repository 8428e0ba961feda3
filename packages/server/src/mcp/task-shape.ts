// Tasks as the extension of the protocol shows them. A task is an execution, or a reply of an agent in a conversation: it is
// kept, so it outlives the process, and any node can read and continue it.
import type { Result } from "./results.ts";
import type { Sdk } from "./sdk.ts";

/** A reply as a task. */
export interface ReplyId {
  readonly agentId: string;
  readonly conversationId: string;
  readonly messageId: string;
  /** When it was asked for, ISO 8601. */
  readonly startAt: string;
}

export type TaskStatus = "working" | "input_required" | "completed" | "cancelled";

/** Milliseconds between two polls of a task that runs, and of one that waits for a person. */
const [pollRunning, pollWaiting] = [1000, 5000];
const replyPrefix = "reply/";

/** The fields of every task. `isWaiting`: a person must act, so polling often makes no sense. */
export function taskFields(
  taskId: string,
  status: TaskStatus,
  times: { readonly createdAt: string; readonly lastUpdatedAt?: string | undefined },
  isWaiting = false,
): Result {
  const { createdAt, lastUpdatedAt = createdAt } = times;
  // Tasks are kept as long as executions and conversations are.
  const pollIntervalMs = isWaiting ? pollWaiting : pollRunning;
  return { taskId, status, createdAt, lastUpdatedAt, ttlMs: null, pollIntervalMs };
}

/** The result of a call that continues as a task. */
export function createdTask(taskId: string, createdAt: string): Result {
  return { resultType: "task", ...taskFields(taskId, "working", { createdAt }) };
}

export function replyTaskId({ agentId, conversationId, messageId, startAt }: ReplyId): string {
  return replyPrefix + [agentId, conversationId, messageId, startAt].map(encodeURIComponent).join("/");
}

/** Undefined for the id of an execution. */
export function readReplyTaskId(taskId: string): ReplyId | undefined {
  if (!taskId.startsWith(replyPrefix)) return undefined;
  try {
    const parts = taskId.slice(replyPrefix.length).split("/").map(decodeURIComponent);
    const [agentId = "", conversationId = "", messageId = "", startAt = ""] = parts;
    const isTime = parts.length === 4 && /^\d{4}-\d\d-\d\dT[\d:.]{8,12}Z$/.test(startAt);
    return isTime ? { agentId, conversationId, messageId, startAt } : undefined;
  } catch {
    return undefined;
  }
}

export function taskNotFound({ ProtocolError, ProtocolErrorCode }: Sdk, taskId: string): Error {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, `Task ${taskId} not found`);
}
