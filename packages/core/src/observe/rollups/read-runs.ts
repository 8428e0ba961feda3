// Counts the steps of a few runs from their journals: for callers who see only their own, and where no counts are kept.
import { readJournal } from "../../journal/read-journal.ts";
import type { RollupTotal } from "../../store/rollup-store.ts";
import type { Store } from "../../store/store.ts";
import { RollupTally } from "./rollup-tally.ts";

export interface RunsQuery {
  readonly workflowId: string;
  readonly userId?: string | undefined;
  /** Started at this time or later. */
  readonly from: number;
  /** Started before this time. */
  readonly to: number;
  /** At most this many, the newest. */
  readonly limit: number;
}

/** As `totals` of the store returns the steps of all runs. Throws when `signal` is aborted meanwhile. */
export async function stepTotalsOfRuns(
  store: Pick<Store, "list" | "events">,
  query: RunsQuery,
  signal?: AbortSignal,
): Promise<readonly RollupTotal[]> {
  const tally = new RollupTally();
  for (const { executionId, workflowId, startAt } of await store.list(query)) {
    const execution = { workflowId, startAt };
    for await (const { events } of readJournal(store, { executionId, signal }))
      tally.receive(execution, events);
  }
  return tally.take().filter(({ step }) => step !== "");
}
