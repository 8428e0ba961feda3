// Rows of executions and conversations as the contract names them, in any SQL database.
import type { ConversationRow, StoredMessage } from "../conversation-store.ts";
import type {
  ClaimedExecution,
  ExecutionHead,
  ExecutionKind,
  ExecutionRow,
  ListedExecution,
  Suspension,
  Timer,
} from "../store.ts";
import type { WaitingSuspension } from "../suspension.ts";
import { fromNanos, moneyDetails, usageDetails } from "../usage.ts";
import { integer, nullableInteger, nullableText, type Row, status, text } from "./columns.ts";

/** Values that databases keep differently. */
export interface ColumnReaders {
  truth(row: Row, column: string): boolean;
  /** Free text by users, of any characters. */
  freeText(row: Row, column: string): string;
}

/** The columns of an execution with short values: those of a claim, and with the error those of a list. */
export const shortColumns: readonly string[] = [
  "execution_id",
  "kind",
  "workflow_id",
  "agent_id",
  "status",
  "user_id",
  "conversation_id",
  "start_at",
  "timeout_at",
  "end_at",
  "sequence",
  "step_index",
  "paused",
  "resumes",
  "recoveries",
  "tags",
  "definition",
  "parked",
  "replay_of",
  "replay_step",
  "trace",
  "links",
];

export function rowReaders({ truth, freeText }: ColumnReaders) {
  const common = (row: Row): Omit<ClaimedExecution, "kind" | "agentId"> => ({
    executionId: text(row, "execution_id"),
    workflowId: text(row, "workflow_id"),
    status: status(row),
    userId: nullableText(row, "user_id"),
    conversationId: nullableText(row, "conversation_id"),
    startAt: integer(row, "start_at"),
    timeoutAt: nullableInteger(row, "timeout_at"),
    endAt: nullableInteger(row, "end_at"),
    sequence: integer(row, "sequence"),
    stepIndex: integer(row, "step_index"),
    paused: truth(row, "paused"),
    resumes: integer(row, "resumes"),
    recoveries: integer(row, "recoveries"),
    tags: readTags(nullableText(row, "tags")),
    definition: nullableText(row, "definition"),
    parked: row.parked === null ? null : freeText(row, "parked"),
    replayOf:
      row.replay_of === null
        ? null
        : { executionId: text(row, "replay_of"), stepId: text(row, "replay_step") },
    trace: nullableText(row, "trace"),
    links: nullableText(row, "links"),
  });
  const toSuspension = (row: Row): Suspension => ({
    suspensionId: text(row, "suspension_id"),
    path: nullableText(row, "path"),
    stepIndex: integer(row, "step_index"),
    reason: freeText(row, "reason"),
    data: nullableText(row, "data"),
    suspendedAt: integer(row, "suspended_at"),
    deadline: nullableInteger(row, "deadline"),
    onDeadline: nullableText(row, "on_deadline"),
    ...(row.resume_schema !== null && { resumeSchema: text(row, "resume_schema") }),
    ...(row.awaits != null && { awaits: text(row, "awaits") }),
    ...(row.recipient != null && { to: text(row, "recipient") }),
  });
  const toListed = (row: Row): ListedExecution => ({ ...common(row), error: nullableText(row, "error") });
  return {
    toListed,
    toClaimed: (row: Row): ClaimedExecution => ({ ...ofKind(row), ...common(row) }),
    toExecution: (row: Row): ExecutionRow => ({
      ...ofKind(row),
      ...toListed(row),
      input: nullableText(row, "input"),
      context: text(row, "context"),
      result: nullableText(row, "result"),
    }),
    toHead: (row: Row): ExecutionHead => ({
      ...ofKind(row),
      executionId: text(row, "execution_id"),
      workflowId: text(row, "workflow_id"),
      userId: nullableText(row, "user_id"),
      conversationId: nullableText(row, "conversation_id"),
      status: status(row),
      sequence: integer(row, "sequence"),
      paused: truth(row, "paused"),
      parked: row.parked !== null,
      owner: nullableText(row, "owner"),
    }),
    toSuspension,
    toWaiting: (row: Row): WaitingSuspension => ({
      executionId: text(row, "execution_id"),
      workflowId: text(row, "workflow_id"),
      agentId: nullableText(row, "agent_id"),
      userId: nullableText(row, "user_id"),
      conversationId: nullableText(row, "conversation_id"),
      startAt: integer(row, "start_at"),
      suspension: toSuspension(row),
    }),
    toConversation: (row: Row): ConversationRow => ({
      conversationId: text(row, "conversation_id"),
      agentId: text(row, "agent_id"),
      userId: nullableText(row, "user_id"),
      title: row.title === null ? null : freeText(row, "title"),
      metadata: nullableText(row, "metadata"),
      createdAt: integer(row, "created_at"),
      updatedAt: integer(row, "updated_at"),
      usage: {
        inputTokens: integer(row, "input_tokens"),
        outputTokens: integer(row, "output_tokens"),
        totalTokens: integer(row, "total_tokens"),
        calls: integer(row, "calls"),
        ...usageDetails(
          integer(row, "cached_input_tokens"),
          integer(row, "reasoning_tokens"),
          integer(row, "cache_write_tokens"),
        ),
        ...moneyDetails(
          row.nanos === null ? undefined : fromNanos(integer(row, "nanos")),
          nullableInteger(row, "unpriced_calls") ?? 0,
        ),
      },
    }),
    toMessage: (row: Row): StoredMessage => ({
      sequence: integer(row, "sequence"),
      messageId: text(row, "message_id"),
      body: text(row, "body"),
      partial: truth(row, "partial"),
      createdAt: integer(row, "created_at"),
    }),
  };
}

function ofKind(row: Row) {
  const kind: ExecutionKind = row.kind === "turn" ? "turn" : "workflow";
  return { kind, agentId: nullableText(row, "agent_id") };
}

export function readTags(column: string | null): readonly string[] {
  const tags: unknown = column === null ? [] : JSON.parse(column);
  return Array.isArray(tags) ? tags.map(String) : [];
}

export function toTimer(row: Row): Timer {
  return { path: text(row, "path"), dueAt: integer(row, "due_at") };
}
