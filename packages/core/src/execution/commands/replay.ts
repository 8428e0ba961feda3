// Replays an execution from a top-level step: a new execution that takes over what the old one did before that step.
import { v7 as uuid } from "uuid";
import { DefinitionChangedError, ExecutionNotFoundError, ReplayTargetError } from "../../errors/index.ts";
import { Journal, replayEvents } from "../../journal/journal.ts";
import type { ExecutionRow, ExecutionState, JournalEvent, NewEvent } from "../../store/store.ts";
import type { WorkflowDefinition } from "../../workflow/step.ts";
import type { Engine } from "../engine/engine.ts";
import {
  answerExisting,
  checkOptions,
  contextText,
  createExecution,
  type Prepare,
  type Started,
} from "./start.ts";

/** Options of a replay. */
export interface ReplayOptions<StepId extends string = string> {
  /** The top-level step that runs first; what came before it is taken over. */
  readonly stepId: StepId;
  /** Makes the replay idempotent: the same id, source, step and user answer as that execution does. Default: a new id. */
  readonly executionId?: string | undefined;
  /** Whom the new execution is for. Default: nobody; the user of the old one is not taken over. */
  readonly userId?: string | undefined;
  /** Entries of the steps' `context` in place of the old one's, `user` among them; JSON. Default: none. */
  readonly context?: Readonly<Record<string, unknown>> | undefined;
  /** The caller's W3C `traceparent`: the new execution becomes part of that trace. Default: a trace of its own. */
  readonly traceparent?: string | undefined;
}

/** `prepare` is called with the new id before anything is created. */
export async function replayExecution(
  engine: Engine,
  workflow: WorkflowDefinition,
  { execution: source }: ExecutionState,
  options: ReplayOptions,
  prepare: Prepare,
): Promise<Started> {
  const { stepId, ...given } = options;
  checkOptions(given);
  const row = rowOf(source, options);
  const of = { executionId: source.executionId, stepId };
  // The same replay again is answered whatever has become of its source since.
  const known = options.executionId !== undefined && (await engine.store.state(options.executionId));
  if (known) return answerExisting(engine, { row, replay: { of } }, prepare);

  const stepIndex = findStepIndex(workflow, source, stepId);
  const events = await readEvents(engine, source);
  checkReached(events, source, stepId);
  const copies = eventsBefore(events, stepIndex);
  const journal = new Journal();
  // Numbered as they will stand in the new journal, after its first event.
  replayEvents(
    journal,
    copies.map((event, index) => ({ ...event, sequence: index + 2 })),
  );
  const change = await engine.definitions.misfit(source, journal);
  if (change !== undefined) {
    throw new DefinitionChangedError({ executionId: source.executionId, workflowId: workflow.id, change });
  }
  const parsed = events[0]?.value ?? source.input ?? undefined;
  const replay = { of, stepIndex, journal, copies };
  const { traceparent } = options;
  const run = { workflow, row, parsed, tags: source.tags, traceparent, replay };
  return createExecution(engine, run, prepare);
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
  // One that is parked waits for another definition, so it rests too.
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
  if (counting.some((event) => event.path === stepId)) return;
  throw new ReplayTargetError({ executionId, problem: `the step "${stepId}" has not been reached` });
}

/** The events of the steps before an index that still count: what a rewind has left behind does not. */
function eventsBefore(events: readonly JournalEvent[], stepIndex: number): readonly NewEvent[] {
  let kept: NewEvent[] = [];
  for (const { sequence: _, ...event } of events) {
    if (event.type === "execution-rewound") {
      kept = kept.filter((each) => (each.stepIndex ?? 0) < (event.stepIndex ?? 0));
    }
    if (event.path !== null && (event.stepIndex ?? 0) < stepIndex) kept.push(event);
  }
  return kept;
}

const pageSize = 2000;

async function readEvents(engine: Engine, { executionId, sequence }: ExecutionRow): Promise<JournalEvent[]> {
  const read: JournalEvent[] = [];
  while (read.length < sequence) {
    const limit = Math.min(pageSize, sequence - read.length);
    const page = await engine.store.events({ executionId, after: read.length, limit });
    // Retention is deleting it.
    if (page.length === 0) throw new ExecutionNotFoundError({ executionId });
    read.push(...page);
  }
  return read;
}
