// Loads an execution that this process has claimed, where its journal ends, when its definition still fits.
import { DefinitionChangedError } from "../../errors/index.ts";
import type { Journal } from "../../journal/journal.ts";
import type { Logger } from "../../observe/log/logger.ts";
import type { Observation } from "../../observe/observation.ts";
import type { ExecutionSpans } from "../../observe/trace/execution-spans.ts";
import type { Store } from "../../store/store.ts";
import type { WorkflowDefinition } from "../../workflow/step.ts";
import type { LoadedExecution } from "../run/loaded-execution.ts";
import type { LoadableState, ResumedExecution } from "./after-resume.ts";
import type { Definitions } from "./definitions.ts";
import type { Folds } from "./folds.ts";
import { logFields } from "./log-fields.ts";

export interface LoadSources {
  readonly store: Store;
  readonly definitions: Definitions;
  readonly folds: Folds;
  readonly observation: Observation;
  readonly logger: Logger;
}

interface LoadedState {
  readonly row: LoadableState["execution"];
  readonly execution: LoadedExecution;
}

/** Undefined when it is gone, has ended while it waited for a slot, or was parked because its definition does not fit. */
export async function loadExecution(
  sources: LoadSources,
  executionId: string,
  workflow: WorkflowDefinition,
  token: string,
  resumed?: ResumedExecution,
): Promise<LoadedState | undefined> {
  const { store, observation, folds, definitions } = sources;
  const state = resumed?.state ?? (await store.state(executionId));
  if (state === undefined || state.execution.endAt !== null) return undefined;
  const { execution: row, suspensions, timers } = state;
  let loaded = false;
  try {
    const begin = (spans?: ExecutionSpans) => observation.load(row, row.startAt, spans);
    // The spans of a turn are its agents' own.
    const traced = row.kind === "turn" ? undefined : begin;
    if (resumed?.fold !== undefined) traced?.(resumed.fold.spans);
    const folded = resumed?.fold ?? (await folds.take(row, traced));
    const isKnown = row.kind === "turn" || definitions.isCurrent(row);
    loaded = isKnown || (await fits(sources, row, folded.journal, token));
    if (!loaded) return undefined;
    const { stepIndex, paused, sequence, timeoutAt } = row;
    const { startAt, journal, values, input, kept, lastAt, bytes } = folded;
    const stored = { suspensions, timers, sequence, stepIndex, paused, timeoutAt };
    const execution = { ...stored, startAt, journal, values, input, kept, lastAt, bytes, workflow, token };
    return { row, execution };
  } finally {
    if (!loaded) observation.leave(executionId);
  }
}

/**
 * Whether the current definition fits an execution of another: one that does is noted as the execution's, one that does not
 * parks it.
 */
async function fits(
  { store, definitions, logger }: LoadSources,
  row: LoadableState["execution"],
  journal: Journal,
  token: string,
): Promise<boolean> {
  const { executionId, workflowId } = row;
  const change = await definitions.incompatibility(row, journal);
  if (change === undefined) {
    await store.adopt({ executionId, token, definition: definitions.current(workflowId) });
    return true;
  }
  const err = new DefinitionChangedError({ executionId, workflowId, change });
  await definitions.park(row, token, err.message);
  const stepPath = lastStarted(journal, row.stepIndex);
  const parked = "execution parked: its workflow has changed incompatibly";
  logger.error({ ...logFields(row), stepPath, err }, parked);
  return false;
}

/** The top-level step that it has reached, as the journal names it: the definition has other ones by now. */
function lastStarted(journal: Journal, stepIndex: number): string | undefined {
  for (const [path, state] of journal.paths) {
    if (state.stepIndex === stepIndex && state.started && !path.includes("/")) return path;
  }
  return undefined;
}
