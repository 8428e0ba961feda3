// Follows executions: a new one from its first event, any other from where the caller left off.
import { prepareStart, type StartOptions, type StartParts } from "../execution/commands/start.ts";
import type { Engine } from "../execution/engine/engine.ts";
import { EventStream } from "../execution/stream/event-stream.ts";
import type { StoredExecution } from "../store/store.ts";
import type { ExecutionStream } from "./andante.ts";

/** The parts of the engine that a stream reads from. */
type StreamParts = Pick<Engine, "store" | "feed" | "keepAlive" | "clock" | "workflow">;

/** Starts an execution and follows it until it ends or is suspended. */
export async function streamExecution(
  engine: StreamParts & StartParts,
  workflowId: string,
  input: unknown,
  options: StartOptions,
): Promise<ExecutionStream> {
  const prepared = await prepareStart(engine, workflowId, input, options);
  const { executionId } = prepared;
  const how = { after: 0, until: "settled" } as const;
  // Followed before it exists: everything will come through the feed.
  const events = eventsOf(engine, workflowId, executionId, { ...how, catchUp: false });
  try {
    const { created } = await prepared.create();
    if (created) {
      const traceparent = engine.observation.tracing?.traceparent(executionId, options.traceparent);
      return { executionId, traceparent, events };
    }
    await events.return();
    return { executionId, events: eventsOf(engine, workflowId, executionId, { ...how, catchUp: true }) };
  } catch (error) {
    await events.return();
    throw error;
  }
}

/** Follows an execution from after the given event to its end; undefined when it has ended and nothing is left. */
export function attachExecution(
  engine: StreamParts,
  { execution }: StoredExecution,
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
  engine: StreamParts,
  workflowId: string,
  executionId: string,
  how: { after: number; catchUp: boolean; until: "settled" | "end" },
): EventStream {
  const { store, feed, keepAlive, clock } = engine;
  return new EventStream({
    store,
    feed,
    clock,
    keepAlive,
    workflow: engine.workflow(workflowId),
    executionId,
    ...how,
  });
}
