// Reads a page of an execution's journal, as callers see it.
import { type ExecutionEvent, viewEvent } from "../execution/stream/views.ts";
import { decodeEvent } from "../journal/codec.ts";
import type { Store } from "../store/store.ts";
import { callerPageLength } from "../store/text-length.ts";
import type { WorkflowDefinition } from "../workflow/step.ts";
import type { EventsOptions } from "./andante.ts";

/** It ends early when it is long; only an empty page is the end of the journal. */
export async function readEvents(
  store: Store,
  workflow: WorkflowDefinition | undefined,
  executionId: string,
  { after = 0, limit = 1000 }: EventsOptions,
): Promise<readonly ExecutionEvent[]> {
  const stored = await store.events({ executionId, after, limit, length: callerPageLength });
  return stored.map((event) => viewEvent(workflow, executionId, decodeEvent(event), "full"));
}
