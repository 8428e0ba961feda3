// Tasks and messages in the shapes of the protocol.

export const taskStates = [
  "TASK_STATE_SUBMITTED",
  "TASK_STATE_WORKING",
  "TASK_STATE_COMPLETED",
  "TASK_STATE_FAILED",
  "TASK_STATE_CANCELED",
  "TASK_STATE_INPUT_REQUIRED",
  "TASK_STATE_REJECTED",
  "TASK_STATE_AUTH_REQUIRED",
] as const;
export type TaskState = (typeof taskStates)[number];

type Fields = Readonly<Record<string, unknown>>;
export type Part = Fields;

export interface Message {
  readonly messageId: string;
  readonly role: "ROLE_USER" | "ROLE_AGENT";
  readonly parts: readonly Part[];
  readonly contextId?: string;
  readonly taskId?: string;
}

export interface Artifact {
  readonly artifactId: string;
  readonly parts: readonly Part[];
}

export interface Task {
  readonly id: string;
  readonly contextId: string;
  readonly status: { readonly state: TaskState; readonly timestamp: string; readonly message?: Message };
  readonly artifacts: readonly Artifact[];
  readonly history: readonly Message[];
}

/** A question to the client, which a message with its id in `metadata.questionId` answers. */
export interface Question {
  readonly questionId: string;
  readonly reason: string;
  readonly data?: unknown;
  /** The JSON Schema of the answer. */
  readonly schema?: unknown;
}

const ended: readonly TaskState[] = ["TASK_STATE_COMPLETED", "TASK_STATE_FAILED", "TASK_STATE_CANCELED"];

export function hasEnded({ status }: Task): boolean {
  return ended.includes(status.state);
}

/** It has ended, or waits for the client. */
export function isSettled(task: Task): boolean {
  return hasEnded(task) || task.status.state === "TASK_STATE_INPUT_REQUIRED";
}

/** The status with a message about it: words, and questions as data. */
export function statusOf(
  { id, contextId }: Pick<Task, "id" | "contextId">,
  state: TaskState,
  timestamp: string,
  text: string,
  questions: readonly Question[] = [],
): Task["status"] {
  if (text === "" && questions.length === 0) return { state, timestamp };
  const words = text === "" ? questions.map(({ reason }) => reason).join("\n") : text;
  const parts = [
    { text: words || "It waits for an answer" },
    ...questions.map((data) => ({ data, mediaType: "application/json" })),
  ];
  // One id for one status: a client that reads it twice sees one message.
  const messageId = `${id}:${questions.map(({ questionId }) => questionId).join() || state}`;
  const message = { messageId, role: "ROLE_AGENT", parts, contextId, taskId: id } as const;
  return { state, timestamp, message };
}

export interface TaskView {
  /** Default: the whole history. */
  readonly historyLength?: number | undefined;
  /** Default: true. */
  readonly includeArtifacts?: boolean | undefined;
}

/** The task as a client has asked for it. */
export function viewTask(
  { history, artifacts, ...task }: Task,
  { historyLength, includeArtifacts = true }: TaskView,
) {
  const shown = historyLength === 0 ? [] : history.slice(-(historyLength ?? history.length));
  return {
    ...task,
    ...(includeArtifacts && { artifacts }),
    ...(shown.length > 0 && { history: shown }),
  };
}
