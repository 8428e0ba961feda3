// Resumes an execution: finds the suspension, checks the data, and lets exactly one caller win.
import { randomUUID } from "node:crypto";
import type { SchemaChecker } from "../../agent/schema/schema-checker.ts";
import {
  DefinitionChangedError,
  NotSuspendedError,
  ResumeTargetError,
  ShuttingDownError,
} from "../../errors/index.ts";
import { encodeEvents } from "../../journal/codec.ts";
import type { NewEvent } from "../../journal/events.ts";
import type { Resume, Suspension } from "../../store/store.ts";
import { isChildWait } from "../../store/suspension.ts";
import { checkId } from "../../values/check-id.ts";
import type { Schema } from "../../values/schema.ts";
import { containersOf, stepIdOf } from "../../values/step-path.ts";
import { resumeSchemaOf } from "../../workflow/find-step.ts";
import { innerSteps, type WorkflowDefinition } from "../../workflow/step.ts";
import type { Engine } from "../engine/engine.ts";
import type { LoadableRow, LoadableState } from "../engine/engine-kind.ts";
import type { TracedFold } from "../engine/folds.ts";
import type { Wait } from "../engine/waiters.ts";
import { type WriteResumeParts, writeResume } from "../engine/write-resume.ts";
import { checkResumeData } from "../limits/resume-data.ts";
import { type ExecutionHandle, handleOf, type ResultParts } from "./execution-handle.ts";

/** Options of a resume. */
export interface ResumeOptions {
  /** The waiting step, by id or path; or an earlier top-level step to go back to. Default: the step that waits. */
  readonly stepId?: string | undefined;
  /** Resumes only this suspension: the one that the caller saw. Default: whichever waits. */
  readonly suspensionId?: string | undefined;
  /** Who resumes; kept in the journal. Default: unknown. */
  readonly userId?: string | undefined;
}

/** With the label of the link that it was decided by. */
export interface DecisionOptions extends ResumeOptions {
  readonly link?: string;
}

/** The suspensions that a resume closes, or the step that it goes back to. */
type Target =
  | { readonly kind: "resume"; readonly suspensions: readonly Suspension[]; readonly path: string | null }
  | {
      readonly kind: "rewind";
      readonly suspensions: readonly Suspension[];
      readonly path: string;
      readonly stepIndex: number;
    };

/** Refuses ids that cannot name anything, before any look-up. */
export function checkResumeOptions({ stepId, suspensionId, userId }: ResumeOptions): void {
  checkId(stepId, "stepId");
  checkId(suspensionId, "suspensionId");
  checkId(userId, "userId");
}

/** The parts of the engine that a resume uses. */
export type ResumeParts = WriteResumeParts &
  ResultParts &
  Pick<Engine, "definitions" | "folds" | "limits" | "clock" | "scheduleWakeup">;

/** Checks and writes a resume of an execution in this state, and continues the execution. */
export async function resumeExecution(
  engine: ResumeParts,
  schemas: SchemaChecker,
  state: LoadableState,
  resumeData: unknown,
  options: DecisionOptions,
): Promise<ExecutionHandle> {
  const { execution, suspensions } = state;
  const { executionId, startAt } = execution;
  const workflow = engine.workflow(execution.workflowId);
  if (engine.closing) throw new ShuttingDownError({ executionId });
  if (suspensions.length === 0) throw new NotSuspendedError({ executionId });
  let journal = engine.definitions.isCurrent(execution) ? undefined : await fittingFold(engine, execution);
  const target = findTarget(workflow, state, options);
  const checks = { executionId, limits: engine.limits, schemas };
  const value = await checkResumeData(checks, resumeData, schemaOf(workflow, target));
  // Data that was accepted for a journal that cannot be read would be used up. A driver here has read it already.
  if (!engine.has(executionId)) journal ??= await engine.folds.take(execution);
  const { resume, liftsPause } = resumeOf(engine, executionId, target, value, options);
  let wait: Wait | undefined;
  try {
    const written = await writeResume(engine, { resume, state, journal }, () => {
      // Not earlier: an owner that is just going idle would settle it with the suspension that is being resumed here.
      wait = engine.waiters.wait(executionId);
      // Timeouts do not elapse during a pause: some may be due now.
      if (liftsPause) engine.scheduleWakeup(engine.clock.now(), "limit");
    });
    if (!written || wait === undefined) throw new NotSuspendedError({ executionId });
    const { tracing } = engine.observation;
    const traceparent = tracing?.isLive(executionId) && tracing.traceparent(executionId, undefined);
    return {
      ...handleOf(engine, workflow.id, executionId, startAt, wait),
      traceparent: traceparent || undefined,
    };
  } catch (error) {
    wait?.cancel();
    throw error;
  }
}

/** The journal of an execution of another definition. Refuses before anything is written, so it can be resumed later. */
async function fittingFold(
  engine: Pick<ResumeParts, "folds" | "definitions">,
  execution: LoadableRow,
): Promise<TracedFold> {
  const { executionId, workflowId } = execution;
  const journal = await engine.folds.take(execution);
  const change = await engine.definitions.incompatibility(execution, journal.fold.journal);
  if (change !== undefined) throw new DefinitionChangedError({ executionId, workflowId, change });
  return journal;
}

function resumeOf(
  engine: Pick<ResumeParts, "clock" | "claims">,
  executionId: string,
  target: Target,
  value: string,
  options: DecisionOptions,
): { readonly resume: Resume; readonly liftsPause: boolean } {
  const now = engine.clock.now();
  const pause = target.suspensions.find((suspension) => suspension.path === null);
  const pausedFor = pause && Math.max(0, now - pause.suspendedAt);
  const resume = {
    executionId,
    suspensionIds: target.suspensions.map((suspension) => suspension.suspensionId),
    rewind: target.kind === "rewind" ? { stepIndex: target.stepIndex } : null,
    ...(pausedFor !== undefined && { pausedFor }),
    events: encodeEvents(eventsOf(target, value, options, now, pausedFor)),
    claim: { owner: engine.claims.taker, token: randomUUID() },
    byDeadline: false,
  };
  return { resume, liftsPause: pause !== undefined };
}

function findTarget(workflow: WorkflowDefinition, state: LoadableState, options: ResumeOptions): Target {
  const { executionId } = state.execution;
  const pause = state.suspensions.find((suspension) => suspension.path === null);
  const { suspensionId, stepId } = options;
  if (suspensionId !== undefined) {
    const pinned = state.suspensions.find((suspension) => suspension.suspensionId === suspensionId);
    if (pinned === undefined || isChildWait(pinned)) throw new NotSuspendedError({ executionId });
    if (stepId === undefined || matches(pinned, stepId) || isInside(pinned, stepId))
      return { kind: "resume", suspensions: [pinned], path: pinned.path };
    // A pinned pause may be lifted together with a step that waits; a pinned step is resumed alone.
    if (pinned !== pause) return findRewind(workflow, state, stepId, [pinned]);
  }
  // The end of a child is reported by the child alone.
  const waiting = state.suspensions.filter((each) => each.path !== null && !isChildWait(each));
  if (stepId === undefined) {
    // Lifting a pause resumes no step: a gate that waits meanwhile must be named.
    if (pause !== undefined) return { kind: "resume", suspensions: [pause], path: null };
    return { kind: "resume", ...requireSingle(executionId, waiting, "several steps are waiting") };
  }
  const named = waiting.filter((suspension) => matches(suspension, stepId));
  // A caller that names a container means the step that waits in it.
  const inside = named.length > 0 ? [] : waiting.filter((suspension) => isInside(suspension, stepId));
  if (named.length + inside.length === 0) return findRewind(workflow, state, stepId, [pause ?? waiting[0]]);
  const { suspensions, path } =
    named.length > 0
      ? requireSingle(executionId, named, `the step id "${stepId}" is ambiguous`)
      : requireSingle(executionId, inside, `several steps inside "${stepId}" are waiting`);
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

function requireSingle(executionId: string, suspensions: readonly Suspension[], problem: string) {
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
  state: LoadableState,
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
  // Beginning the container again would repeat steps that have ended inside it, which the caller did not request.
  if (stepIndex === state.execution.stepIndex && step !== undefined && innerSteps(step).length > 0) {
    throw new ResumeTargetError({ executionId, problem: `nothing inside "${stepId}" waits` });
  }
  if (stepIndex > state.execution.stepIndex) {
    throw new ResumeTargetError({ executionId, problem: `the step "${stepId}" has not been reached yet` });
  }
  const suspensions = pinned.filter((suspension) => suspension !== undefined);
  return { kind: "rewind", suspensions, path: stepId, stepIndex };
}

/** The schema of the resume data; a JSON Schema as text for a call of an agent, which no definition describes. */
function schemaOf(workflow: WorkflowDefinition, target: Target): Schema | string | undefined {
  const { path } = target;
  if (path === null) return undefined;
  if (target.kind === "rewind" || !path.includes("#")) return resumeSchemaOf(workflow, path);
  return target.suspensions.find((each) => each.path === path)?.resumeSchema ?? undefined;
}

function eventsOf(
  target: Target,
  resumeData: string,
  { userId, link }: DecisionOptions,
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
    ...(link !== undefined && { link }),
    ...(path === null && pausedFor !== undefined && { pausedFor }),
  }));
}
