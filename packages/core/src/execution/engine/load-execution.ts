// Loads an execution that this process has claimed, at the end of its journal, when its definition still fits.
import type { Observation } from "../../observe/observation.ts";
import type { ExecutionSpans } from "../../observe/trace/execution-spans.ts";
import type { Store } from "../../store/store.ts";
import type { LoadedExecution } from "../run/loaded-execution.ts";
import type { LoadableState, ResumedExecution } from "./after-resume.ts";
import type { EngineKind } from "./engine-kind.ts";
import type { Folds } from "./folds.ts";

export interface LoadSources {
  readonly store: Store;
  readonly folds: Folds;
  readonly observation: Observation;
}

interface LoadedState {
  readonly row: LoadableState["execution"];
  readonly execution: LoadedExecution;
}

/** Undefined when it is gone, has ended while it waited for a slot, or was parked because its definition does not fit. */
export async function loadExecution(
  { store, folds, observation }: LoadSources,
  executionId: string,
  kind: EngineKind,
  token: string,
  resumed?: ResumedExecution,
): Promise<LoadedState | undefined> {
  const state = resumed?.state ?? (await store.state(executionId));
  if (state === undefined || state.execution.endAt !== null) return undefined;
  const { execution: row, suspensions, timers } = state;
  const workflow = kind.definition(row);
  let loaded = false;
  try {
    const begin = (spans?: ExecutionSpans) => observation.load(row, row.startAt, spans);
    const traced = kind.hasSpans ? begin : undefined;
    if (resumed?.fold !== undefined) traced?.(resumed.fold.spans);
    const folded = resumed?.fold ?? (await folds.take(row, traced));
    loaded = await kind.fits(row, folded.journal, token);
    if (!loaded) return undefined;
    const { stepIndex, paused, sequence, timeoutAt } = row;
    const { startAt, journal, values, input, kept, lastAt, bytes } = folded;
    const stored = { suspensions, timers, sequence, stepIndex, paused, timeoutAt };
    const fold = { startAt, journal, values, input, kept, lastAt, bytes };
    return { row, execution: { ...stored, ...fold, workflow, token } };
  } finally {
    if (!loaded) observation.leave(executionId);
  }
}
