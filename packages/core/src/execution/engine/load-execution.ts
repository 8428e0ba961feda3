// Loads an execution that this process has claimed, where its journal ends, when its definition still fits.
import { DefinitionChangedError } from "../../errors/index.ts";
import type { JournalEvent } from "../../journal/events.ts";
import { Journal, replayEvents } from "../../journal/journal.ts";
import { KeptValues } from "../../journal/kept-values.ts";
import { readJournal } from "../../journal/read-journal.ts";
import type { Logger } from "../../observe/log/logger.ts";
import type { Observation } from "../../observe/observation.ts";
import type { ExecutionRow, Store } from "../../store/store.ts";
import type { JsonText } from "../../values/json.ts";
import type { WorkflowDefinition } from "../../workflow/step.ts";
import type { LoadedExecution } from "../run/loaded-execution.ts";
import type { Definitions } from "./definitions.ts";
import { logFields } from "./log-fields.ts";

export interface LoadSources {
  readonly store: Store;
  readonly definitions: Definitions;
  readonly observation: Observation;
  readonly logger: Logger;
}

/** Undefined when it is gone, has ended while it waited for a slot, or was parked because its definition does not fit. */
export async function loadExecution(
  sources: LoadSources,
  executionId: string,
  workflow: WorkflowDefinition,
  token: string,
): Promise<{ readonly row: ExecutionRow; readonly execution: LoadedExecution } | undefined> {
  const { store, observation } = sources;
  const state = await store.state(executionId);
  if (state === undefined || state.execution.endAt !== null) return undefined;
  const { execution: row, suspensions, timers } = state;
  const observe = observation.load(row, row.startAt);
  let loaded = false;
  try {
    const folded = await foldJournal(store, row, observe);
    loaded = await fits(sources, row, folded.journal, token);
    if (!loaded) return undefined;
    const { stepIndex, paused, sequence, timeoutAt } = row;
    const stored = { suspensions, timers, sequence, stepIndex, paused, timeoutAt };
    return { row, execution: { workflow, token, ...stored, ...folded } };
  } finally {
    if (!loaded) observation.leave(executionId);
  }
}

/**
 * What the journal holds up to the row's number and no further: what comes later is not in the row either, and arrives
 * from the process that wrote it.
 */
export async function foldJournal(
  store: Store,
  { executionId, sequence, input: given }: ExecutionRow,
  observe: (events: readonly JournalEvent[]) => void = () => undefined,
): Promise<{ journal: Journal; input: JsonText; bytes: number; values: KeptValues }> {
  const journal = new Journal();
  const values = new KeptValues(given);
  let input: JsonText = given ?? undefined;
  let total = 0;
  for await (const { events, stored, bytes } of readJournal(store, { executionId, upTo: sequence })) {
    const [first] = events;
    if (first !== undefined) values.recorded(stored, first.sequence);
    // The first event holds the input as the schema returned it, when that differs from what was sent.
    if (first?.type === "workflow-start" && first.input !== undefined) input = first.input;
    replayEvents(journal, events);
    total += bytes;
    observe(events);
  }
  return { journal, input, bytes: total, values };
}

/** Whether the current definition fits; one that does is noted as the execution's, one that does not parks it. */
async function fits(
  { store, definitions, logger }: LoadSources,
  row: ExecutionRow,
  journal: Journal,
  token: string,
): Promise<boolean> {
  if (definitions.isCurrent(row)) return true;
  const { executionId, workflowId } = row;
  const definition = definitions.current(workflowId);
  const change = await definitions.incompatibility(row, journal);
  if (change === undefined) {
    await store.adopt({ executionId, token, definition });
    return true;
  }
  const err = new DefinitionChangedError({ executionId, workflowId, change });
  await store.park({ executionId, token, reason: err.message, definition });
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
