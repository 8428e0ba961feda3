// The updates of a task, for streams and for callers who wait.
import type { A2aCall, TaskSource } from "./a2a-call.ts";
import { type Artifact, hasEnded, isSettled, type Task, viewTask } from "./task.ts";

/** The payload of an event of a stream. */
export type Update = Readonly<Record<string, unknown>>;

interface Following {
  readonly call: A2aCall;
  readonly source: TaskSource;
  /** `settled`: also where it waits for the client. */
  readonly until: "settled" | "ended";
  readonly signal: AbortSignal;
}

/** The task, then its changes as they come. It ends early when the signal is aborted or the process stops. */
export async function* updatesOf(first: Task, following: Following): AsyncGenerator<Update, undefined> {
  yield { task: viewTask(first, {}) };
  for await (const { before, task, text } of changesOf(first, following)) {
    const of = { taskId: task.id, contextId: task.contextId };
    if (text !== undefined) {
      yield { artifactUpdate: { ...of, artifact: { artifactId: "reply", parts: [{ text }] }, append: true } };
      continue;
    }
    if (isSettled(task))
      // The whole of it: a part of the text may have been made elsewhere.
      for (const artifact of changed(before.artifacts, task.artifacts))
        yield { artifactUpdate: { ...of, artifact, append: false, lastChunk: hasEnded(task) } };
    yield { statusUpdate: { ...of, status: task.status } };
  }
}

/** The task once it has settled, or as it is when the signal is aborted. */
export async function settled(first: Task, following: Omit<Following, "until">): Promise<Task> {
  let last = first;
  for await (const { task } of changesOf(first, { ...following, until: "settled" })) last = task;
  return last;
}

interface Change {
  readonly before: Task;
  readonly task: Task;
  /** A piece of the reply; the status is the one before. */
  readonly text?: string;
}

async function* changesOf(
  first: Task,
  { call, source, until, signal }: Following,
): AsyncGenerator<Change, undefined> {
  const isOver = until === "settled" ? isSettled : hasEnded;
  if (isOver(first)) return;
  let before = first;
  for await (const { text } of source.signs(call, first, signal)) {
    if (signal.aborted) return;
    if (text !== undefined) {
      yield { before, task: before, text };
      continue;
    }
    const task = await source.read(call, first.id);
    if (JSON.stringify(task.status) === JSON.stringify(before.status)) continue;
    yield { before, task };
    if (isOver(task)) return;
    before = task;
  }
}

function changed(before: readonly Artifact[], after: readonly Artifact[]): readonly Artifact[] {
  const known = new Set(before.map((artifact) => JSON.stringify(artifact)));
  return after.filter((artifact) => !known.has(JSON.stringify(artifact)));
}
