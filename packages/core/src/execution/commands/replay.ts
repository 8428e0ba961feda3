// Replays an execution from a top-level step: a new execution that takes over the outcomes of the old one before that step.

import { DefinitionChangedError, ExecutionNotFoundError, ReplayTargetError } from "../../errors/index.ts";
import { decodeEvent } from "../../journal/codec.ts";
import type { NewEvent } from "../../journal/events.ts";
import { numberEvents } from "../../journal/events.ts";
import { Journal, replayEvents } from "../../journal/journal.ts";
import { SharedValues } from "../../journal/kept-values.ts";
import { readStored } from "../../journal/read-journal.ts";
import { activeTraceparent } from "../../observe/trace/active-span.ts";
import type { ExecutionRow, Store, StoredExecution } from "../../store/store.ts";
import type { StoredEvent } from "../../store/stored-event.ts";
import { CopyQueue } from "../../values/copy-queue.ts";
import { parseObject } from "../../values/fields.ts";
import type { JsonText } from "../../values/json.ts";
import { uuid } from "../../values/uuid.ts";
import type { WorkflowDefinition } from "../../workflow/step.ts";
import { checkSize, checkWidth } from "../limits/limits.ts";
import {
  checkOptions,
  contextText,
  createExecution,
  findExisting,
  type PreparedStart,
  type StartParts,
} from "./start.ts";

/** Options of a replay. */
export interface ReplayOptions<StepId extends string = string> {
  /** The top-level step that runs first; the outcomes before it are taken over. */
  readonly stepId: StepId;
  /** Makes the replay idempotent: the same id, source, step and user return that execution. Default: a new id. */
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

/** Characters of the events that a replay takes over: they are in memory until they are written. */
const maxCopied = 64 * 1024 * 1024;

/** The queue of replays: one at a time, because each holds its whole copy. */
export function replayQueue(): CopyQueue {
  return new CopyQueue({ atOnce: 1, ofUser: 50, inAll: 500 });
}

export async function prepareReplay(
  engine: StartParts,
  { execution: source }: StoredExecution,
  options: ReplayOptions,
): Promise<PreparedStart> {
  const { stepId, ...given } = options;
  const workflow = engine.workflow(source.workflowId);
  checkOptions(given);
  checkWidth(engine.limits, "context", given.context, "Context");
  const row = rowOf(source, options);
  checkSize(engine.limits, "context", row.context, "Context");
  const of = { executionId: source.executionId, stepId };
  const { executionId } = row;
  const { exclusive, traceparent = activeTraceparent() } = options;
  // A repeated replay finds itself, also when its source has changed since.
  const known = options.executionId !== undefined && (await engine.store.state(executionId));
  if (known)
    return { executionId, create: () => findExisting(engine.store, { row, replay: { of }, exclusive }) };

  const stepIndex = findStepIndex(workflow, source, stepId);
  const { input, copies } = await readBefore(engine.store, source, { stepId, stepIndex });
  const journal = new Journal();
  // Numbered as in the new journal, after its first event.
  replayEvents(journal, numberEvents(copies, 2));
  const change = await engine.definitions.incompatibility(source, journal);
  if (change !== undefined) {
    throw new DefinitionChangedError({ executionId: source.executionId, workflowId: workflow.id, change });
  }
  const parsed = input ?? source.input ?? undefined;
  const replay = { of, stepIndex, journal, copies };
  const run = { workflow, row, parsed, tags: source.tags, traceparent, exclusive, replay };
  return { executionId, create: () => createExecution(engine, run) };
}

/** The new execution's row: the source's input, context and conversation, and the caller's user. */
function rowOf(source: ExecutionRow, { executionId = uuid(), userId, context = {} }: ReplayOptions) {
  const {
    user: _,
    userId: _userId,
    conversationId: _conversationId,
    ...kept
  } = parseObject(source.context, "The context of an execution");
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

/** Events of one path. */
type PathEvent = Extract<NewEvent, { readonly path: unknown }> & { readonly path: string };

interface ReadBefore {
  /** The parsed input, where it differs from the given one. */
  readonly input: JsonText;
  readonly copies: readonly PathEvent[];
}

/**
 * Reads the journal page by page and keeps the events of the steps before one of them, as far as they still count: those
 * that a rewind has left behind do not. The step must have been reached, and not only before a rewind.
 */
async function readBefore(
  store: Store,
  { executionId, sequence }: ExecutionRow,
  { stepId, stepIndex }: { readonly stepId: string; readonly stepIndex: number },
): Promise<ReadBefore> {
  const fail = (problem: string) => new ReplayTargetError({ executionId, problem });
  let shared = new SharedValues();
  let input: JsonText;
  let kept: StoredEvent[] = [];
  let [read, isReached] = [0, false];
  for await (const page of readStored(store, { executionId, upTo: sequence })) {
    for (const stored of page) {
      const event = decodeEvent(stored);
      if (event.type === "workflow-start") ({ input } = event);
      if (event.type === "execution-rewound") {
        shared = new SharedValues();
        kept = kept.filter((each) => isBelow(each, event.stepIndex)).map((each) => shared.share(each));
        isReached &&= stepIndex < event.stepIndex;
      }
      if (!isOfPath(event)) continue;
      if (event.path === stepId) isReached = true;
      if (isBelow(stored, stepIndex)) kept.push(shared.share(stored));
    }
    if (shared.length > maxCopied)
      throw fail(`more than ${maxCopied} characters come before the step "${stepId}"`);
    read += page.length;
  }
  // Retention is deleting it.
  if (read < sequence) throw new ExecutionNotFoundError({ executionId });
  if (!isReached) throw fail(`the step "${stepId}" has not been reached`);
  const copies = kept.map((stored) => {
    const { sequence: _, ...event } = decodeEvent(stored);
    return event;
  });
  return { input, copies: copies.filter(isOfPath) };
}

function isBelow({ stepIndex }: StoredEvent, limit: number): boolean {
  return stepIndex !== null && stepIndex < limit;
}

function isOfPath(event: NewEvent): event is PathEvent {
  return "path" in event && event.path !== null;
}
