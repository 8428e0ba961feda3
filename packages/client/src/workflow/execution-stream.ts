// Follows one execution: every journaled event once and in order, over any number of connections.
import { type Connection, part } from "../connection/connection.ts";
import type { CallOptions } from "../connection/options.ts";
import { attach, cutOff, readEvents } from "../connection/read-events.ts";
import type { ExecutionEvent, WorkflowResultEvent } from "../responses/events.ts";
import type { ExecutionResult, ExecutionState } from "../responses/executions.ts";

/** The ids of an execution. */
export interface Place {
  readonly workflowId: string;
  readonly executionId: string;
}

export const pathOf = ({ workflowId, executionId }: Place) =>
  `/workflows/${part(workflowId)}/executions/${part(executionId)}`;

interface Following extends CallOptions {
  /** The number of the last known event. */
  readonly after: number;
  /** The end of the stream: the end of the execution, or also its first suspension. */
  readonly until: "end" | "settled";
  /** The request body that starts the execution. Default: it exists already. */
  readonly start?: unknown;
}

export async function* followExecution(
  connection: Connection,
  place: Place,
  { after, until, start, signal }: Following,
): AsyncGenerator<ExecutionEvent, void> {
  const backoff = connection.backoff(signal);
  const path = pathOf(place);
  const readState = () => connection.repeat<ExecutionState>({ path: `${path}/state`, signal });
  let last = after;
  /** The suspension that ends the stream, if it is still open. */
  let suspended: string | undefined;
  for (;;) {
    let isAttached = false;
    try {
      // Before the first event the execution may not exist. Starting it again with the same id is safe.
      const isStarting = start !== undefined && last === 0;
      if (suspended !== undefined) {
        const state = await readState();
        if (isOpen(state, suspended)) return yield resultOf(state);
        suspended = undefined;
      }
      const sending = isStarting
        ? { method: "POST" as const, path: `/workflows/${part(place.workflowId)}/stream`, body: start }
        : { path: `${path}/stream`, query: { after: last } };
      const response = await attach(connection, { ...sending, signal });
      isAttached = true;
      if (response.status === 204) return yield resultOf(await readState());
      for await (const event of readEvents<ExecutionEvent>(response, { signal })) {
        if ("sequence" in event) {
          if (event.sequence <= last) continue;
          last = event.sequence;
          backoff.succeeded();
          const isOver = until === "settled" && event.type === "workflow-suspended";
          suspended = isOver ? event.suspension.suspensionId : undefined;
        }
        yield event;
        if (event.type === "workflow-result") return;
        // An attached stream continues through suspensions; the stream that started it reports its own end.
        if (suspended !== undefined && !isStarting) {
          const state = await readState();
          if (isOpen(state, suspended)) return yield resultOf(state);
        }
      }
      throw cutOff();
    } catch (error) {
      await backoff.failed(error, () => isAttached);
    }
  }
}

function isOpen({ suspensions = [] }: ExecutionState, suspensionId: string): boolean {
  return suspensions.some((open) => open.suspensionId === suspensionId);
}

/** The last event for a stream that broke before it; it is not in the journal. */
function resultOf(state: ExecutionState): WorkflowResultEvent {
  const timestamp = state.endAt ?? state.suspension?.suspendedAt ?? state.startAt;
  return { type: "workflow-result", timestamp, ...resultIn(state) };
}

/** The part of a state that is its result. */
export function resultIn(state: ExecutionState): ExecutionResult {
  const { workflowId, input, context, suspensions, tags, parked, replayOf, ...result } = state;
  return result;
}
