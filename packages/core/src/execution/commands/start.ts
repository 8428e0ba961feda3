// Starts an execution: checks its input and options, creates it, and makes a start with a given id idempotent.
import { randomUUID } from "node:crypto";
import {
  ExecutionConflictError,
  ExecutionParkedError,
  InputValidationError,
  InvalidOptionError,
  UnserializableError,
  WorkflowNotFoundError,
} from "../../errors/index.ts";
import { placesOf, scopesOf } from "../../event/awaits.ts";
import { targetOf } from "../../event/match-key.ts";
import { encodeEvent, encodeEvents } from "../../journal/codec.ts";
import { type NewEvent, numberEvents } from "../../journal/events.ts";
import { Journal } from "../../journal/journal.ts";
import { KeptValues } from "../../journal/kept-values.ts";
import { activeTraceparent } from "../../observe/trace/active-span.ts";
import { parseTraceparent } from "../../observe/trace/trace-ids.ts";
import type { NewExecution, ReplayOf, Store } from "../../store/store.ts";
import { storedBytes } from "../../store/stored-event.ts";
import { checkId, checkUrlId, problemOfId } from "../../values/check-id.ts";
import { parseObject } from "../../values/fields.ts";
import { canonicalJson, fromJson, type JsonText, toJson } from "../../values/json.ts";
import { validate } from "../../values/schema.ts";
import { uuid } from "../../values/uuid.ts";
import { requestTries } from "../../values/within-limit.ts";
import type { WorkflowDefinition } from "../../workflow/step.ts";
import { joinTags, maxTags, problemWithTags } from "../../workflow/tags.ts";
import type { HookSubject } from "../engine/call-hooks.ts";
import type { Definitions } from "../engine/definitions.ts";
import type { Engine } from "../engine/engine.ts";
import { checkSize, checkWidth, type SizeLimits } from "../limits/limits.ts";
import { usageOf } from "../run/build-commit.ts";
import { nothingKept } from "../run/execution-fold.ts";

/** Options of a start. */
export interface StartOptions {
  /** Makes the start idempotent: the same id, workflow, input and user return that execution. Default: a new id. */
  readonly executionId?: string | undefined;
  /** An execution that has the `executionId` already is a conflict, also when it is the same. Default: false. */
  readonly exclusive?: boolean | undefined;
  /** The user it belongs to. Default: none. */
  readonly userId?: string | undefined;
  /** The conversation it belongs to. Default: none. */
  readonly conversationId?: string | undefined;
  /** Further data for the steps' `context`; JSON. Default: none. */
  readonly context?: Readonly<Record<string, unknown>> | undefined;
  /** Tags beside those of the workflow: strings of 1 to 100 characters, at most 20 together. Default: none. */
  readonly tags?: readonly string[] | undefined;
  /** The caller's W3C `traceparent`: the execution becomes part of that trace. Default: a trace of its own. */
  readonly traceparent?: string | undefined;
}

export interface Started {
  readonly executionId: string;
  readonly startAt: number;
  /** False when an execution of this id was there before. */
  readonly created: boolean;
  /** True when it was there before and is suspended or has ended. */
  readonly settled: boolean;
}

/** A start that has passed its checks. To wait for the execution or follow it, subscribe before `create`. */
export interface PreparedStart {
  readonly executionId: string;
  /** Creates the execution and runs it; an existing execution with this id is returned instead. */
  create(): Promise<Started>;
}

/** An execution that is about to be created. */
export interface NewRun {
  readonly workflow: WorkflowDefinition;
  readonly row: HookSubject;
  /** The input as the schema returned it. */
  readonly parsed: JsonText;
  readonly tags: readonly string[];
  readonly traceparent?: string | undefined;
  /** Its relations to its parent. */
  readonly links?: string | undefined;
  /** Milliseconds that it may take. Default: those of its workflow. */
  readonly timeout?: number | undefined;
  /** Creates it in a write of more. Default: `create` of the store. */
  readonly write?: ((execution: NewExecution) => Promise<{ readonly created: boolean }>) | undefined;
  /** An existing execution with this id is a conflict. */
  readonly exclusive?: boolean | undefined;
  /** For a replay: its source, and the events that it takes over. */
  readonly replay?: {
    readonly of: ReplayOf;
    readonly stepIndex: number;
    readonly journal: Journal;
    readonly copies: readonly NewEvent[];
  };
}

/** The parts of the engine that create an execution. */
export type CreateParts = Pick<
  Engine,
  | "store"
  | "clock"
  | "definitions"
  | "observation"
  | "storage"
  | "feed"
  | "checkIntake"
  | "workflowKind"
  | "prepare"
  | "admit"
  | "discard"
  | "publish"
  | "scheduleWakeup"
>;

/** The same with the checks of a start. */
export type StartParts = CreateParts & Pick<Engine, "workflow" | "limits">;

export async function prepareStart(
  engine: StartParts,
  workflowId: string,
  input: unknown,
  options: StartOptions,
  child: Pick<NewRun, "links" | "timeout" | "write"> = {},
): Promise<PreparedStart> {
  const workflow = engine.workflow(workflowId);
  if (workflow.onlyChildren === true && child.links === undefined)
    throw new WorkflowNotFoundError({ workflowId });
  checkOptions(options);
  checkWidth(engine.limits, "context", options.context, "Context");
  const tags = tagsOf(workflow, options);
  const { raw, parsed } = await checkInput(engine.limits, workflow, input);
  const executionId = options.executionId ?? uuid();
  const { userId = null, conversationId = null, traceparent = activeTraceparent(), exclusive } = options;
  const context = checkSize(engine.limits, "context", contextText(options), "Context");
  // The id of the definition, not the caller's copy of it: the same string is found in maps without being compared.
  const row = { executionId, workflowId: workflow.id, context, userId, conversationId, input: raw ?? null };
  const run = { workflow, row, parsed, tags, traceparent, exclusive, ...child };
  return { executionId, create: () => createExecution(engine, run) };
}

/** Creates an execution with its first events and runs it; an existing execution with this id is returned instead. */
export async function createExecution(engine: CreateParts, run: NewRun): Promise<Started> {
  const { workflow, row, parsed, replay } = run;
  const { executionId } = row;
  const copies = encodeEvents(replay?.copies ?? []);
  const token = randomUUID();
  const values = new KeptValues(row.input);
  const startAt = engine.clock.now();
  // Nothing is awaited between this check and the driver that counts from then on.
  engine.checkIntake(row.userId);
  const sequence = replay === undefined ? 0 : copies.length + 1;
  const { timeout = workflow.timeout } = run;
  const links = linksOf(run);
  const timeoutAt = timeout === undefined ? null : startAt + timeout;
  const trace = engine.observation.traceOf(executionId, run.traceparent);
  const { driver, claim } = engine.prepare(
    engine.workflowKind,
    { ...row, trace, links: links ?? null, tags: run.tags },
    {
      workflow,
      token,
      startAt,
      lastAt: startAt,
      input: parsed,
      journal: replay?.journal ?? new Journal(),
      suspensions: [],
      timers: [],
      sequence,
      stepIndex: replay?.stepIndex ?? 0,
      paused: false,
      timeoutAt,
      bytes: storedBytes(copies),
      values,
      kept: nothingKept,
    },
  );
  const first = firstEvent(run, startAt);
  const following = driver.takeFirstEvents(copies.length + 2);
  const stored = [encodeEvent(first), ...copies, ...encodeEvents(following)];
  const [events] = values.write(stored);
  let created: boolean;
  try {
    const write = run.write ?? ((execution: NewExecution) => engine.store.create(execution));
    ({ created } = await write(
      newExecution(engine.definitions, { ...run, links }, { startAt, timeoutAt, claim, events, trace }),
    ));
    engine.storage.wrote();
  } catch (error) {
    engine.discard(driver);
    engine.storage.failed(error);
    throw error;
  }
  if (!created) {
    engine.discard(driver);
    return findExisting(engine.store, run);
  }
  values.recorded(stored, 1);
  engine.observation.begin(row, startAt);
  if (replay === undefined) engine.publish(row, numberEvents([first, ...following], 1));
  else {
    engine.publish(row, numberEvents([first], 1));
    // The events taken over happened in another execution: streams show them, hooks and spans received them there.
    engine.feed.show(executionId, numberEvents(replay.copies, 2));
    engine.publish(row, numberEvents(following, copies.length + 2));
  }
  if (timeoutAt !== null) engine.scheduleWakeup(timeoutAt, "limit");
  engine.admit(driver);
  return { executionId, startAt, created: true, settled: false };
}

/** Its relations to a parent, a schedule or an event, and the events that cancel it. */
function linksOf({ workflow, row, parsed, links }: NewRun): string | undefined {
  if (workflow.cancelOn === undefined) return links;
  const { events, key } = workflow.cancelOn;
  const input = fromJson(parsed);
  let made: string | null;
  try {
    made = key?.({ input }) ?? null;
  } catch (error) {
    throw new InputValidationError({
      detail: `cancelOn: ${error instanceof Error ? error.message : String(error)}`,
    });
  }
  const problem = made === null ? undefined : problemOfId(made);
  if (problem !== undefined) throw new InputValidationError({ detail: `cancelOn: the key: ${problem}` });
  const awaited = events.map((event) => {
    return { name: event.name, key: made, scopes: scopesOf(event, row.userId ?? undefined) };
  });
  const cancelOn = { target: targetOf({ workflowId: workflow.id }), keys: placesOf(awaited) };
  return JSON.stringify({
    ...(links !== undefined && parseObject(links, "The links of an execution")),
    cancelOn,
  });
}

function firstEvent({ row, parsed, replay, traceparent }: NewRun, timestamp: number): NewEvent {
  return {
    type: "workflow-start",
    timestamp,
    // The parsed input is kept only where the schema changed it: defaults, transforms, fields left out.
    input: (parsed ?? null) === row.input ? undefined : parsed,
    // Kept with the first event, so that every process continues the execution in the same trace.
    traceparent: parseTraceparent(traceparent) === undefined ? undefined : traceparent,
    replayOf: replay?.of,
  };
}

function newExecution(
  definitions: Definitions,
  { workflow, row, tags, replay, links }: NewRun,
  made: Pick<NewExecution, "startAt" | "timeoutAt" | "claim" | "events" | "trace">,
): NewExecution {
  const { executionId, workflowId, input, context, userId, conversationId } = row;
  const { startAt, timeoutAt, claim, events, trace = null } = made;
  const execution = {
    executionId,
    workflowId,
    input,
    context,
    userId,
    conversationId,
    startAt,
    timeoutAt,
    claim,
    events,
    trace,
    tags,
    definition: definitions.current(workflow.id),
    ...(links !== undefined && { links }),
  };
  if (replay === undefined) return execution;
  const { of, stepIndex, journal, copies } = replay;
  return {
    ...execution,
    usage: usageOf(copies, "step-complete"),
    replay: { of, stepIndex, resumes: journal.resumes },
  };
}

/** An execution with this id exists: the same one is returned instead; a different one is not disclosed. */
export async function findExisting(
  store: Store,
  {
    row,
    replay,
    exclusive = false,
  }: Pick<NewRun, "row" | "exclusive"> & { readonly replay?: { readonly of: ReplayOf } | undefined },
): Promise<Started> {
  const { executionId } = row;
  const state = exclusive ? undefined : await store.state(executionId);
  const same =
    state !== undefined &&
    state.execution.workflowId === row.workflowId &&
    state.execution.userId === row.userId &&
    state.execution.replayOf?.executionId === replay?.of.executionId &&
    state.execution.replayOf?.stepId === replay?.of.stepId &&
    canonicalJson(state.execution.input ?? undefined) === canonicalJson(row.input ?? undefined);
  if (!same) throw new ExecutionConflictError({ executionId });
  const { startAt, status, parked } = state.execution;
  if (status === "running" && parked !== null)
    throw new ExecutionParkedError({ executionId, reason: parked });
  return { executionId, startAt, created: false, settled: status !== "running" };
}

function tagsOf(workflow: WorkflowDefinition, { tags }: StartOptions): readonly string[] {
  if (tags === undefined) return workflow.tags ?? [];
  const fail = (problem: string) => new InvalidOptionError({ option: "tags", problem });
  const problem = problemWithTags(tags);
  if (problem !== undefined) throw fail(problem);
  const all = joinTags(workflow.tags ?? [], tags);
  if (all.length > maxTags) throw fail(`at most ${maxTags} tags are allowed, including the workflow's own`);
  return all;
}

async function checkInput(
  limits: SizeLimits,
  workflow: WorkflowDefinition,
  input: unknown,
): Promise<{ raw: JsonText; parsed: JsonText }> {
  try {
    const raw = checkSize(limits, "input", toJson(input, "input"), "Input");
    const checked = validate(workflow.inputSchema, input, requestTries);
    const result = checked instanceof Promise ? await checked : checked;
    if (!result.ok) throw new InputValidationError({ detail: result.detail });
    return { raw, parsed: checkSize(limits, "input", toJson(result.value, "input"), "Input") };
  } catch (error) {
    if (error instanceof UnserializableError) throw new InputValidationError({ detail: error.message });
    throw error;
  }
}

export function checkOptions(options: StartOptions): void {
  checkUrlId(options.executionId, "executionId");
  checkId(options.userId, "userId");
  checkId(options.conversationId, "conversationId");
  const { context } = options;
  if (context !== undefined && (typeof context !== "object" || context === null || Array.isArray(context))) {
    throw new InvalidOptionError({ option: "context", problem: "expected an object" });
  }
}

export function contextText({ context, userId, conversationId }: StartOptions): string {
  if (context === undefined && !userId && !conversationId) return "{}";
  try {
    const known = { ...(userId && { userId }), ...(conversationId && { conversationId }) };
    return toJson({ ...context, ...known }, "context") ?? "{}";
  } catch (error) {
    if (error instanceof UnserializableError) {
      throw new InvalidOptionError({ option: "context", problem: error.message });
    }
    throw error;
  }
}
