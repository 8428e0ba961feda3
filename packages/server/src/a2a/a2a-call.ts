// One message of an A2A client to one agent, and the source of the tasks of such agents.

import type { Exposed } from "../exposed/exposed.ts";
import { InnerCall } from "../exposed/inner-call.ts";
import type { CheckedA2aOptions } from "./a2a-options.ts";
import type { MessageIn } from "./params.ts";
import type { Message, Task, TaskState } from "./task.ts";

export class A2aCall extends InnerCall {
  readonly options: CheckedA2aOptions;
  readonly agent: Exposed;

  constructor(from: Pick<A2aCall, "service" | "http" | "caller" | "options" | "agent">) {
    super(from);
    this.options = from.options;
    this.agent = from.agent;
  }
}

export interface ListedTasks {
  readonly tasks: readonly Task[];
  readonly next: string | undefined;
}

export interface ListQuery {
  readonly contextId: string | undefined;
  readonly state: TaskState | undefined;
  readonly limit: number;
  readonly cursor: string | undefined;
}

/** A piece of a reply, or the sign that the task may have changed. */
export interface Sign {
  readonly text?: string;
}

/** The tasks of an agent or of a workflow. Ids of tasks that the caller may not see are those of none. */
export interface TaskSource {
  read(call: A2aCall, taskId: string): Promise<Task>;
  /** A message in place of a task: a reply that nothing keeps. */
  start(call: A2aCall, message: MessageIn): Promise<Task | Message>;
  /** Answers the question of a task. */
  answer(call: A2aCall, task: Task, message: MessageIn): Promise<void>;
  /** False for one that has ended. */
  cancel(call: A2aCall, task: Task): Promise<boolean>;
  list(call: A2aCall, query: ListQuery): Promise<ListedTasks>;
  signs(call: A2aCall, task: Task, signal: AbortSignal): AsyncIterable<Sign>;
}

/** The events of a source that is left when the client is gone, also while the next one is awaited. */
export async function* whileOpen<Event>(
  source: AsyncIterableIterator<Event>,
  signal: AbortSignal,
): AsyncGenerator<Event, undefined> {
  const leave = () => void source.return?.().catch(() => undefined);
  signal.addEventListener("abort", leave, { once: true });
  try {
    if (signal.aborted) leave();
    else yield* source;
  } finally {
    signal.removeEventListener("abort", leave);
  }
}
