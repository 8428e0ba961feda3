// Loads an execution that this process has claimed, at the end of its journal, when its definition still fits.
import type { Observation } from "../../observe/observation.ts";
import type { Store } from "../../store/store.ts";
import type { LoadedExecution } from "../run/loaded-execution.ts";
import type { ResumedExecution } from "./after-resume.ts";
import type { EngineKind, LoadableState } from "./engine-kind.ts";
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
  const { fold, spans } = resumed?.journal ?? (await folds.take(row));
  if (!(await kind.fits(row, fold.journal, token))) return undefined;
  if (kind.hasSpans) observation.load(row, spans);
  const { stepIndex, paused, sequence, timeoutAt } = row;
  const stored = { suspensions, timers, sequence, stepIndex, paused, timeoutAt };
  return { row, execution: { ...fold, ...stored, workflow, token } };
}
