// useExecution: the live state of one execution.
import { useState } from "react";
import type { WorkflowTypes } from "../host-types.ts";
import type { ExecutionEvent } from "../responses/events.ts";
import type { ExecutionState } from "../responses/executions.ts";
import type { ExecutionClient } from "../workflow/execution-client.ts";
import { coalesce, useTask } from "./follow.ts";

/** A client, or one of its workflows, which has the types. */
export interface ExecutionSource<W extends WorkflowTypes> {
  execution(executionId: string): ExecutionClient<W>;
}

export interface LiveExecution<W extends WorkflowTypes = WorkflowTypes> {
  /** Undefined until it has been read. */
  readonly state: ExecutionState<W["result"], W["input"]> | undefined;
  /** Every event since the first. */
  readonly events: readonly ExecutionEvent<W["result"]>[];
  /** The error that ended the updates. */
  readonly error: unknown;
}

/**
 * Follows an execution to its end, through suspensions, lost connections and restarts of the server.
 *
 * @example
 * ```ts
 * import { createClient } from "@andante/client";
 * import { useExecution } from "@andante/client/react";
 *
 * const andante = createClient({ baseUrl: "http://localhost:3141" });
 * export const useStatus = (executionId: string) => useExecution(andante, executionId).state?.status;
 * ```
 */
export function useExecution<W extends WorkflowTypes>(
  source: ExecutionSource<W>,
  executionId: string | undefined,
): LiveExecution<W> {
  const [live, setLive] = useState<LiveExecution<W> & { readonly id?: string | undefined }>(nothing);
  const fail = (error: unknown) => setLive((before) => ({ ...before, error }));
  const follow = async (signal: AbortSignal) => {
    const execution = source.execution(executionId ?? "");
    setLive({ ...nothing, id: executionId });
    const read = coalesce(
      async () => {
        const state = await execution.state({ signal });
        if (!signal.aborted) setLive((before) => ({ ...before, state }));
      },
      (error) => !signal.aborted && fail(error),
    );
    read();
    // In batches: with one update per event, a journal of thousands of events would be copied as often.
    const arrived: ExecutionEvent<W["result"]>[] = [];
    const show = () => {
      const events = arrived.splice(0);
      if (!signal.aborted) setLive((before) => ({ ...before, events: [...before.events, ...events] }));
    };
    for await (const event of execution.stream({ signal })) {
      if (arrived.push(event) === 1) setTimeout(show, 16);
      read();
    }
  };
  useTask(executionId, follow, fail);
  const { id, ...shown } = live;
  // The previous execution's data must not be shown, not even for one rendering.
  return id === executionId ? shown : nothing;
}

const nothing = { state: undefined, events: [], error: undefined };
