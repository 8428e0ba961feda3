// Resumes an execution: finds what the resume is for, checks its data, and lets exactly one caller win.
import { DefinitionChangedError, NotSuspendedError, ResumeTargetError } from "../../errors/index.ts";
import { encodeEvents } from "../../journal/codec.ts";
import type { NewEvent } from "../../journal/events.ts";
import { pageOf } from "../../journal/read-journal.ts";
import type { Resume, StoredExecution, Suspension } from "../../store/store.ts";
import { containersOf, stepIdOf } from "../../values/step-path.ts";
import { randomToken } from "../../values/uuid.ts";
import { innerSteps, type WorkflowDefinition } from "../../workflow/step.ts";
import { continueExecution } from "../engine/continue-execution.ts";
import type { Engine } from "../engine/engine.ts";
import type { ResumableExecution } from "../engine/resumed-execution.ts";
import type { Wait } from "../engine/waiters.ts";
import { resumeSchemaOf } from "../stream/views.ts";
import type { ResumeData } from "./resume-data.ts";

/** Options of a resume. */
export interface ResumeOptions {
  /** The waiting step, by id or path; or an earlier top-level step to go back to. Default: what waits. */
  readonly stepId?: string | undefined;
  /** Resumes only this suspension: the one that the caller saw. Default: whichever waits. */
  readonly suspensionId?: string | undefined;
  /** Who resumes; kept in the journal. Default: unknown. */
  readonly userId?: string | undefined;
}

/** What a resume is for. */
type Target =
  | { readonly kind: "resume"; readonly suspensions: readonly Suspension[]; readonly path: string | null }
  | {
      readonly kind: "rewind";
      readonly suspensions: readonly Suspension[];
      readonly path: string;
      readonly stepIndex: number;
    };

/** A resume that has passed its checks. */
interface CheckedResume {
  readonly target: Target;
  /** The resume data as JSON text. */
  readonly value: string;
}

/** A resume that is written. */
export interface AcceptedResume {
  /** Waits for what comes of it. */
  readonly wait: Wait;
  /** Lets the execution continue. */
  continue(): Promise<void>;
}

/** Checks and writes a resume; the execution itself continues only with `continue`. */
export async function acceptResume(
  engine: Engine,
  workflow: WorkflowDefinition,
  state: StoredExecution,
  resumeData: ResumeData,
  options: ResumeOptions,
): Promise<AcceptedResume> {
  const checked = await checkResume(engine, workflow, state, resumeData, options, false);
  const accepted = await writeResume(engine, workflow, state, checked, options);
  if (accepted === undefined) throw new NotSuspendedError({ executionId: state.execution.executionId });
  return accepted;
}

/**
 * The same for an execution that went idle here, without asking the store for it. Undefined when it cannot be resumed so, or
 * others have written to it since: the store then knows more.
 */
export async function acceptIdle(
  engine: Engine,
  workflow: WorkflowDefinition,
  executionId: string,
  resumeData: ResumeData,
  options: ResumeOptions,
): Promise<{ readonly accepted: AcceptedResume; readonly startAt: number } | undefined> {
  const idle = engine.closing ? undefined : engine.folds.idle(executionId);
  if (idle?.state.execution.workflowId !== workflow.id) return undefined;
  const { state, lastAt } = idle;
  const checked = await checkResume(engine, workflow, state, resumeData, options, true).catch(
    () => undefined,
  );
  if (checked === undefined) return undefined;
  const { sequence, startAt } = state.execution;
  const accepted = await writeResume(engine, workflow, state, checked, options, { sequence, at: lastAt });
  return accepted && { accepted, startAt };
}

/** `compared`: the following write compares the held fold with the journal. */
async function checkResume(
  engine: Engine,
  workflow: WorkflowDefinition,
  state: ResumableExecution,
  resumeData: ResumeData,
  options: ResumeOptions,
  compared: boolean,
): Promise<CheckedResume> {
  const { executionId } = state.execution;
  if (state.suspensions.length === 0) throw new NotSuspendedError({ executionId });
  if (!engine.definitions.isCurrent(state.execution)) await checkFits(engine, state, compared);
  const target = findTarget(workflow, state, options);
  const value = await checkFor(workflow, target, resumeData);
  await checkJournal(engine, state, compared);
  return { target, value };
}

/** Undefined when what it would close is no longer open, or there are events after `last`. */
async function writeResume(
  engine: Engine,
  workflow: WorkflowDefinition,
  state: ResumableExecution,
  { target, value }: CheckedResume,
  options: ResumeOptions,
  last?: Resume["last"],
): Promise<AcceptedResume | undefined> {
  const { executionId } = state.execution;
  const token = randomToken();
  const now = engine.clock.now();
  const pause = target.suspensions.find((suspension) => suspension.path === null);
  const closes = {
    suspensionIds: target.suspensions.map((suspension) => suspension.suspensionId),
    rewind: target.kind === "rewind" ? { stepIndex: target.stepIndex } : null,
    ...(pause && { pausedFor: Math.max(0, now - pause.suspendedAt) }),
  };
  const events = encodeEvents(eventsOf(target, value, options, now, closes.pausedFor));
  const claim = { owner: engine.claims.taker, token };
  const resume = { executionId, ...closes, events, claim, byDeadline: false };
  return engine.claims.during(token, async () => {
    const result = await engine.store.resume(last === undefined ? resume : { ...resume, last });
    if (result.kind === "refused") return undefined;
    // Not earlier: an owner that is just going idle would settle it with the suspension that is being resumed here.
    const wait = engine.waiters.wait(executionId);
    engine.observation.resumed(workflow.id);
    const page = pageOf(result.events);
    engine.publish(state.execution, page.events);
    // No time runs out while an execution is paused: now some of it may have.
    if (pause !== undefined) engine.scheduleWakeup(engine.clock.now(), "limit");
    const resumed = engine.folds.resumed.add(state, closes, result.kind, page, last !== undefined);
    const next = { executionId, workflow, claim, user: state.execution.userId, resumed };
    const go = () => continueExecution(engine, next, result);
    return { wait, continue: () => engine.claims.during(token, go) };
  });
}

/**
 * For one of another definition. Refuses before anything is written: an execution that does not fit stays as it is, and can be
 * resumed later.
 */
async function checkFits(
  engine: Engine,
  { execution }: ResumableExecution,
  compared: boolean,
): Promise<void> {
  const { executionId, workflowId } = execution;
  const journal = await engine.folds.read(execution, compared);
  const change = await engine.definitions.incompatibility(execution, journal);
  if (change !== undefined) throw new DefinitionChangedError({ executionId, workflowId, change });
}

/** Refuses before anything is written: data that was accepted for a journal that cannot be read would be used up. */
async function checkJournal(
  engine: Engine,
  { execution }: ResumableExecution,
  compared: boolean,
): Promise<void> {
  // One that is here is read already, or is being read. Whoever continues it finds what is read now.
  if (!engine.has(execution.executionId)) await engine.folds.read(execution, compared);
}

function findTarget(workflow: WorkflowDefinition, state: ResumableExecution, options: ResumeOptions): Target {
  const { executionId } = state.execution;
  const pause = state.suspensions.find((suspension) => suspension.path === null);
  const { suspensionId, stepId } = options;
  if (suspensionId !== undefined) {
    const pinned = state.suspensions.find((suspension) => suspension.suspensionId === suspensionId);
    if (pinned === undefined) throw new NotSuspendedError({ executionId });
    if (stepId === undefined || matches(pinned, stepId) || isInside(pinned, stepId))
      return { kind: "resume", suspensions: [pinned], path: pinned.path };
    // A pinned pause may be lifted together with a step that waits; a pinned step stands for no other.
    if (pinned !== pause) return findRewind(workflow, state, stepId, [pinned]);
  }
  const waiting = state.suspensions.filter((suspension) => suspension.path !== null);
  if (stepId === undefined) {
    // Lifting a pause resumes no step: a gate that waits meanwhile must be named.
    if (pause !== undefined) return { kind: "resume", suspensions: [pause], path: null };
    return { kind: "resume", ...one(executionId, waiting, "several steps are waiting") };
  }
  const named = waiting.filter((suspension) => matches(suspension, stepId));
  // A caller that names a container means what waits in it.
  const inside = named.length > 0 ? [] : waiting.filter((suspension) => isInside(suspension, stepId));
  if (named.length + inside.length === 0) return findRewind(workflow, state, stepId, [pause ?? waiting[0]]);
  const { suspensions, path } =
    named.length > 0
      ? one(executionId, named, `the step id "${stepId}" is ambiguous`)
      : one(executionId, inside, `several steps inside "${stepId}" are waiting`);
  return { kind: "resume", suspensions: pause === undefined ? suspensions : [pause, ...suspensions], path };
}

function matches(suspension: Suspension, stepId: string): boolean {
  return suspension.path !== null && (suspension.path === stepId || stepIdOf(suspension.path) === stepId);
}

/** True when it waits inside the container of this id or path. */
function isInside({ path }: Suspension, stepId: string): boolean {
  if (path === null) return false;
  return containersOf(path).some((container) => container === stepId || stepIdOf(container) === stepId);
}

function one(executionId: string, suspensions: readonly Suspension[], problem: string) {
  const [first, ...others] = suspensions;
  if (first === undefined) throw new NotSuspendedError({ executionId });
  if (others.length > 0) {
    const paths = suspensions.map((suspension) => suspension.path).join(", ");
    throw new ResumeTargetError({ executionId, problem: `${problem}: name one with stepId (${paths})` });
  }
  return { suspensions: [first], path: first.path };
}

/** No suspension has this id: it may be a top-level step to go back to. */
function findRewind(
  workflow: WorkflowDefinition,
  state: ResumableExecution,
  stepId: string,
  pinned: readonly (Suspension | undefined)[],
): Target {
  const { executionId } = state.execution;
  const stepIndex = workflow.steps.findIndex((step) => step.id === stepId);
  if (stepIndex === -1) {
    throw new ResumeTargetError({
      executionId,
      problem: `the workflow has no waiting or earlier step "${stepId}"`,
    });
  }
  const step = workflow.steps[stepIndex];
  // Beginning the container again would repeat what has ended inside it, which nobody asked for.
  if (stepIndex === state.execution.stepIndex && step !== undefined && innerSteps(step).length > 0) {
    throw new ResumeTargetError({ executionId, problem: `nothing inside "${stepId}" waits` });
  }
  if (stepIndex > state.execution.stepIndex) {
    throw new ResumeTargetError({ executionId, problem: `the step "${stepId}" has not been reached yet` });
  }
  const suspensions = pinned.filter((suspension) => suspension !== undefined);
  return { kind: "rewind", suspensions, path: stepId, stepIndex };
}

/** The resume data as JSON text, checked against the schema of whatever waits. */
function checkFor(workflow: WorkflowDefinition, target: Target, resumeData: ResumeData): Promise<string> {
  const { path } = target;
  // A call of an agent: no definition knows it, its suspension has the schema.
  if (target.kind === "resume" && path?.includes("#"))
    return resumeData.text(target.suspensions.find((each) => each.path === path)?.resumeSchema ?? undefined);
  return resumeData.text(path === null ? undefined : resumeSchemaOf(workflow, path));
}

function eventsOf(
  target: Target,
  resumeData: string,
  { userId }: ResumeOptions,
  timestamp: number,
  pausedFor: number | undefined,
): readonly NewEvent[] {
  if (target.kind === "rewind") {
    const { path, stepIndex } = target;
    return [{ type: "execution-rewound", timestamp, path, stepIndex, resumeData, userId }];
  }
  return target.suspensions.map(({ suspensionId, path, stepIndex }) => ({
    type: "workflow-resumed",
    timestamp,
    path,
    stepIndex,
    suspensionId,
    // A pause that is lifted together with a waiting step has no data of its own.
    resumeData: path === null && target.path !== null ? undefined : resumeData,
    userId,
    byDeadline: false,
    expired: false,
    ...(path === null && pausedFor !== undefined && { pausedFor }),
  }));
}
