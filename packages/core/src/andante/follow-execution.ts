// Follows executions: a new one from its first event, any other from where the caller left off.
import { type StartOptions, startExecution } from "../execution/commands/start.ts";
import type { Engine } from "../execution/engine/engine.ts";
import { EventStream } from "../execution/stream/event-stream.ts";
import type { ExecutionState as StoredState } from "../store/store.ts";
import type { ExecutionStream } from "./andante.ts";

/** Starts an execution and follows it until it ends or is suspended. */
export async function streamExecution(
  engine: Engine,
  workflowId: string,
  input: unknown,
  options: StartOptions,
): Promise<ExecutionStream> {
  let events: EventStream | undefined;
  const follow = (executionId: string, existed: boolean) => {
    events?.return();
    events = eventsOf(engine, workflowId, executionId, { after: 0, catchUp: existed, until: "rest" });
    return events;
  };
  try {
    const { executionId, created } = await startExecution(engine, workflowId, input, options, follow);
    const traceparent = created
      ? engine.observation.tracing?.traceparent(executionId, options.traceparent)
      : undefined;
    return { executionId, traceparent, events: events ?? follow(executionId, true) };
  } catch (error) {
    events?.return();
    throw error;
  }
}

/** Follows an execution from after the given event to its end; undefined when it has ended and nothing is left. */
export function attachExecution(
  engine: Engine,
  { execution }: StoredState,
  after: number,
): ExecutionStream | undefined {
  const { executionId, workflowId, sequence } = execution;
  if (execution.endAt !== null && after >= sequence) return undefined;
  // A number beyond the journal counts as its end: the stream would wait for it for ever.
  const last = Math.min(after, sequence);
  const how = { after: last, catchUp: true, until: "end" } as const;
  return { executionId, events: eventsOf(engine, workflowId, executionId, how) };
}

function eventsOf(
  engine: Engine,
  workflowId: string,
  executionId: string,
  how: { after: number; catchUp: boolean; until: "rest" | "end" },
): EventStream {
  const { store, feed, keepAlive } = engine;
  return new EventStream({
    store,
    feed,
    keepAlive,
    workflow: engine.workflow(workflowId),
    executionId,
    ...how,
  });
}
