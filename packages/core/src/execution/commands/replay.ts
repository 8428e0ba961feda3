// Replays an execution from a top-level step: a new execution that takes over what the old one did before that step.

import { DefinitionChangedError, ExecutionNotFoundError, ReplayTargetError } from "../../errors/index.ts";
import type { JournalEvent, NewEvent } from "../../journal/events.ts";
import { numberEvents } from "../../journal/events.ts";
import { Journal, replayEvents } from "../../journal/journal.ts";
import { readJournal } from "../../journal/read-journal.ts";
import type { ExecutionRow, StoredExecution } from "../../store/store.ts";
import { CopyQueue } from "../../values/copy-queue.ts";
import { uuid } from "../../values/uuid.ts";
import type { WorkflowDefinition } from "../../workflow/step.ts";
import { checkSize } from "../body/limits.ts";
import type { Engine } from "../engine/engine.ts";
import { checkOptions, contextText, createExecution, findExisting, type PreparedStart } from "./start.ts";

/** Options of a replay. */
export interface ReplayOptions<StepId extends string = string> {
  /** The top-level step that runs first; what came before it is taken over. */
  readonly stepId: StepId;
  /** Makes the replay idempotent: the same id, source, step and user stand for that execution. Default: a new id. */
  readonly executionId?: string | undefined;
  /** An execution that has the `executionId` already is a conflict, also when it is the same. Default: false. */
  readonly exclusive?: boolean | undefined;
  /** The user it belongs to. Default: none; the user of the old one is not taken over. */
  readonly userId?: string | undefined;
  /** Entries of the steps' `context` in place of the old one's, `user` among them; JSON. Default: none. */
  readonly context?: Readonly<Record<string, unknown>> | undefined;
  /** The caller's W3C `traceparent`: the new execution becomes part of that trace. Default: a trace of its own. */
  readonly traceparent?: string | undefined;
}

/** The queue of replays that copy a journal, which is held as a whole until it is written: a few at once. */
export function replayQueue(): CopyQueue {
  return new CopyQueue({ atOnce: 2, waitingOfUser: 50, waiting: 500 });
}

export async function prepareReplay(
  engine: Engine,
  { execution: source }: StoredExecution,
  options: ReplayOptions,
): Promise<PreparedStart> {
  const { stepId, ...given } = options;
  const workflow = engine.workflow(source.workflowId);
  checkOptions(given);
  const row = rowOf(source, options);
  checkSize(engine.limits, "context", row.context, "Context");
  const of = { executionId: source.executionId, stepId };
  const { executionId } = row;
  const { exclusive, traceparent } = options;
  // The same replay again finds itself, whatever happened to its source since.
  const known = options.executionId !== undefined && (await engine.store.state(executionId));
  if (known) return { executionId, create: () => findExisting(engine, { row, replay: { of }, exclusive }) };

  const stepIndex = findStepIndex(workflow, source, stepId);
  const events = await readEvents(engine, source);
  checkReached(events, source, stepId);
  const copies = eventsBefore(events, stepIndex);
  const journal = new Journal();
  // Numbered as they will stand in the new journal, after its first event.
  replayEvents(journal, numberEvents(copies, 2));
  const change = await engine.definitions.incompatibility(source, journal);
  if (change !== undefined) {
    throw new DefinitionChangedError({ executionId: source.executionId, workflowId: workflow.id, change });
  }
  const [first] = events;
  const parsed = (first?.type === "workflow-start" ? first.input : undefined) ?? source.input ?? undefined;
  const replay = { of, stepIndex, journal, copies };
  const run = { workflow, row, parsed, tags: source.tags, traceparent, exclusive, replay };
  return { executionId, create: () => createExecution(engine, run) };
}

/** The new execution's row: the source's input, context and conversation, and the caller's user. */
function rowOf(source: ExecutionRow, { executionId = uuid(), userId, context = {} }: ReplayOptions) {
  const { user: _, userId: _userId, conversationId: _conversationId, ...kept } = JSON.parse(source.context);
  const { workflowId, conversationId, input } = source;
  const whose = { userId, conversationId: conversationId ?? undefined };
  const text = contextText({ context: { ...kept, ...context }, ...whose });
  return { executionId, workflowId, context: text, userId: userId ?? null, conversationId, input };
}

function findStepIndex(workflow: WorkflowDefinition, source: ExecutionRow, stepId: unknown): number {
  const { executionId } = source;
  // One that is parked waits for another definition, so it does not run either.
  if (source.status === "running" && source.parked === null) {
    throw new ReplayTargetError({ executionId, problem: "it is still running" });
  }
  const stepIndex = workflow.steps.findIndex((step) => step.id === stepId);
  if (stepIndex !== -1) return stepIndex;
  throw new ReplayTargetError({ executionId, problem: `the workflow has no top-level step "${stepId}"` });
}

/** The step has begun, and not only before the execution went back behind it. */
function checkReached(events: readonly JournalEvent[], { executionId }: ExecutionRow, stepId: string): void {
  const counting = eventsBefore(events, Number.POSITIVE_INFINITY);
  if (counting.some(({ path }) => path === stepId)) return;
  throw new ReplayTargetError({ executionId, problem: `the step "${stepId}" has not been reached` });
}

/** Events of one path. */
type PathEvent = Extract<NewEvent, { readonly path: unknown }> & { readonly path: string };

/** The events of the steps before an index that still count: what a rewind has left behind does not. */
function eventsBefore(events: readonly JournalEvent[], stepIndex: number): readonly PathEvent[] {
  let kept: PathEvent[] = [];
  for (const { sequence: _, ...event } of events) {
    if (event.type === "execution-rewound") kept = kept.filter((each) => each.stepIndex < event.stepIndex);
    if (isOfPath(event) && event.stepIndex < stepIndex) kept.push(event);
  }
  return kept;
}

function isOfPath(event: NewEvent): event is PathEvent {
  return "path" in event && event.path !== null;
}

async function readEvents(engine: Engine, { executionId, sequence }: ExecutionRow): Promise<JournalEvent[]> {
  const read: JournalEvent[] = [];
  for await (const { events } of readJournal(engine.store, { executionId, upTo: sequence }))
    read.push(...events);
  // Retention is deleting it.
  if (read.length < sequence) throw new ExecutionNotFoundError({ executionId });
  return read;
}
