// Reads columns of a result row, checking the types that the schema promises.
import type {
  ClaimedExecution,
  ExecutionKind,
  ExecutionRow,
  ExecutionStatus,
  ListedExecution,
  StoredUsage,
  Suspension,
  Timer,
} from "@andante/core/store";

export type Row = Readonly<Record<string, unknown>>;

export function text(row: Row, column: string): string {
  const value = row[column];
  if (typeof value !== "string") throw new TypeError(`column ${column} is not text`);
  return value;
}

export function integer(row: Row, column: string): number {
  const value = row[column];
  if (typeof value !== "number") throw new TypeError(`column ${column} is not a number`);
  return value;
}

export function truth(row: Row, column: string): boolean {
  const value = row[column];
  if (typeof value !== "boolean") throw new TypeError(`column ${column} is not a boolean`);
  return value;
}

export function nullableText(row: Row, column: string): string | null {
  return row[column] === null ? null : text(row, column);
}

export function nullableInteger(row: Row, column: string): number | null {
  return row[column] === null ? null : integer(row, column);
}

const statuses: readonly string[] = [
  "running",
  "suspended",
  "completed",
  "error",
  "cancelled",
] satisfies ExecutionStatus[];

export function status(row: Row): ExecutionStatus {
  const value = text(row, "status");
  if (!isStatus(value)) throw new TypeError(`unknown status ${value}`);
  return value;
}

function isStatus(value: string): value is ExecutionStatus {
  return statuses.includes(value);
}

/** What anybody may write is kept as a JSON string, because a column of text cannot hold a NUL. */
export function writeFreeText(value: string): string {
  return JSON.stringify(value);
}

export function readFreeText(column: string): string {
  return String(JSON.parse(column));
}

/** The columns of an execution whose values are short: what a claim is read from, and with the error a list. */
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
];

/** The columns of a table, each with its name before it. */
export function columnsOf(table: string, columns: readonly string[]): string {
  return columns.map((column) => `${table}.${column}`).join(", ");
}

export function toExecution(row: Row): ExecutionRow {
  return {
    ...ofKind(row),
    ...toListed(row),
    input: nullableText(row, "input"),
    context: text(row, "context"),
    result: nullableText(row, "result"),
  };
}

export function toListed(row: Row): ListedExecution {
  return { ...common(row), error: nullableText(row, "error") };
}

export function toClaimed(row: Row): ClaimedExecution {
  return { ...ofKind(row), ...common(row) };
}

export function ofKind(row: Row) {
  const kind: ExecutionKind = row.kind === "turn" ? "turn" : "workflow";
  return { kind, agentId: nullableText(row, "agent_id") };
}

function common(row: Row): Omit<ClaimedExecution, "kind" | "agentId"> {
  return {
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
    parked: row.parked === null ? null : readFreeText(text(row, "parked")),
    replayOf:
      row.replay_of === null
        ? null
        : { executionId: text(row, "replay_of"), stepId: text(row, "replay_step") },
    trace: nullableText(row, "trace"),
  };
}

function readTags(column: string | null): readonly string[] {
  const tags: unknown = column === null ? [] : JSON.parse(column);
  return Array.isArray(tags) ? tags.map(String) : [];
}

/** What agents used, from a column of JSON text; null when nothing was. */
export function readUsage(column: unknown): StoredUsage | null {
  return typeof column === "string" ? JSON.parse(column) : null;
}

export function toSuspension(row: Row): Suspension {
  return {
    suspensionId: text(row, "suspension_id"),
    path: nullableText(row, "path"),
    stepIndex: integer(row, "step_index"),
    reason: readFreeText(text(row, "reason")),
    data: nullableText(row, "data"),
    suspendedAt: integer(row, "suspended_at"),
    deadline: nullableInteger(row, "deadline"),
    onDeadline: nullableText(row, "on_deadline"),
    ...(row.resume_schema !== null && { resumeSchema: text(row, "resume_schema") }),
  };
}

export function toTimer(row: Row): Timer {
  return { path: text(row, "path"), dueAt: integer(row, "due_at") };
}
