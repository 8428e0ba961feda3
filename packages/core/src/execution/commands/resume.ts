// Resumes an execution: finds what the answer is for, checks it, and lets exactly one caller win.
import { randomUUID } from "node:crypto";
import {
  DefinitionChangedError,
  NotSuspendedError,
  ResumeTargetError,
  ResumeValidationError,
  UnserializableError,
} from "../../errors/index.ts";
import { executionEvent } from "../../journal/events.ts";
import type { ExecutionState, NewEvent, Suspension } from "../../store/store.ts";
import { toJson } from "../../values/json.ts";
import { type Schema, validate } from "../../values/schema.ts";
import type { WorkflowDefinition } from "../../workflow/step.ts";
import { stepIdOf } from "../../workflow/step-path.ts";
import { checkSize } from "../body/limits.ts";
import type { Engine } from "../engine/engine.ts";
import { resumeSchemaOf } from "../stream/views.ts";

/** Options of a resume. */
export interface ResumeOptions {
  /** The waiting step, by id or path; or an earlier top-level step to go back to. Default: what waits. */
  readonly stepId?: string | undefined;
  /** Answers only this suspension: the one that the caller saw. Default: whichever waits. */
  readonly suspensionId?: string | undefined;
  /** Who resumes; kept in the journal. Default: nobody known. */
  readonly userId?: string | undefined;
}

/** What a resume answers. */
type Target =
  | { readonly kind: "answer"; readonly suspensions: readonly Suspension[]; readonly path: string | null }
  | {
      readonly kind: "rewind";
      readonly suspensions: readonly Suspension[];
      readonly path: string;
      readonly stepIndex: number;
    };

/**
 * `accepted` is called when the answer is written and before anything comes of it: the moment to start waiting. Earlier
 * would be wrong: an owner that is just coming to rest would tell of the suspension that is being answered here.
 */
export async function resumeExecution(
  engine: Engine,
  workflow: WorkflowDefinition,
  state: ExecutionState,
  resumeData: unknown,
  options: ResumeOptions,
  accepted: () => void,
): Promise<void> {
  const { executionId } = state.execution;
  if (state.suspensions.length === 0) throw new NotSuspendedError({ executionId });
  await checkFits(engine, state);
  const target = findTarget(workflow, state, options);
  const schema = target.path === null ? undefined : resumeSchemaOf(workflow, target.path);
  const answered = await checkAnswer(executionId, schema, resumeData);
  const value = checkSize(engine.limits, "resumeData", answered, "Resume data");
  const token = randomUUID();
  const answer = await engine.store.resume({
    executionId,
    suspensionIds: target.suspensions.map((suspension) => suspension.suspensionId),
    rewind: target.kind === "rewind" ? { stepIndex: target.stepIndex } : null,
    events: eventsOf(target, value, options, engine.clock.now()),
    claim: { owner: engine.owner, token },
    byDeadline: false,
  });
  if (answer.kind === "refused") throw new NotSuspendedError({ executionId });
  engine.observation.resumed(workflow.id);
  engine.publish(state.execution, answer.events);
  accepted();
  // No time runs out while an execution is paused: now some of it may have.
  const pause = target.suspensions.some((suspension) => suspension.path === null);
  if (pause) engine.fallsDue(engine.clock.now(), "limit");
  await engine.goOn(executionId, workflow, answer, token);
}

/** Refuses before anything is written: an execution that does not fit stays as it is, and can be answered later. */
async function checkFits(engine: Engine, { execution }: ExecutionState): Promise<void> {
  const { executionId, workflowId } = execution;
  if (engine.definitions.isToday(execution)) return;
  const { journal } = await engine.readJournal(execution);
  const change = await engine.definitions.misfit(execution, journal);
  if (change !== undefined) throw new DefinitionChangedError({ executionId, workflowId, change });
}

function findTarget(workflow: WorkflowDefinition, state: ExecutionState, options: ResumeOptions): Target {
  const { executionId } = state.execution;
  const pause = state.suspensions.find((suspension) => suspension.path === null);
  const { suspensionId, stepId } = options;
  if (suspensionId !== undefined) {
    const pinned = state.suspensions.find((suspension) => suspension.suspensionId === suspensionId);
    if (pinned === undefined) throw new NotSuspendedError({ executionId });
    if (stepId === undefined || matches(pinned, stepId))
      return { kind: "answer", suspensions: [pinned], path: pinned.path };
    // A pinned pause may be lifted together with a step that waits; a pinned step answers no other.
    if (pinned !== pause) return findRewind(workflow, state, stepId, [pinned]);
  }
  const waiting = state.suspensions.filter((suspension) => suspension.path !== null);
  if (stepId === undefined) {
    // Lifting a pause answers no step: a gate that waits meanwhile must be named.
    if (pause !== undefined) return { kind: "answer", suspensions: [pause], path: null };
    return { kind: "answer", ...one(executionId, waiting, "several steps are waiting") };
  }
  const named = waiting.filter((suspension) => matches(suspension, stepId));
  if (named.length === 0) return findRewind(workflow, state, stepId, [pause ?? waiting[0]]);
  const { suspensions, path } = one(executionId, named, `the step id "${stepId}" is ambiguous`);
  return { kind: "answer", suspensions: pause === undefined ? suspensions : [pause, ...suspensions], path };
}

function matches(suspension: Suspension, stepId: string): boolean {
  return suspension.path !== null && (suspension.path === stepId || stepIdOf(suspension.path) === stepId);
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
  state: ExecutionState,
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
  if (stepIndex > state.execution.stepIndex) {
    throw new ResumeTargetError({ executionId, problem: `the step "${stepId}" has not been reached yet` });
  }
  const suspensions = pinned.filter((suspension) => suspension !== undefined);
  return { kind: "rewind", suspensions, path: stepId, stepIndex };
}

/** The answer as JSON text; an absent one arrives as null. */
async function checkAnswer(
  executionId: string,
  schema: Schema | undefined,
  resumeData: unknown,
): Promise<string> {
  const fail = (detail: string) => new ResumeValidationError({ executionId, detail });
  try {
    const data = resumeData === undefined ? null : resumeData;
    if (schema === undefined) return toJson(data, "resumeData") ?? "null";
    const result = await validate(schema, data);
    if (!result.ok) throw fail(result.detail);
    return toJson(result.value, "resumeData") ?? "null";
  } catch (error) {
    throw error instanceof UnserializableError ? fail(error.message) : error;
  }
}

function eventsOf(
  target: Target,
  value: string,
  { userId }: ResumeOptions,
  now: number,
): readonly NewEvent[] {
  if (target.kind === "rewind") {
    const { path, stepIndex } = target;
    return [{ ...executionEvent("execution-rewound", now, value, { userId }), path, stepIndex }];
  }
  return target.suspensions.map(({ suspensionId, path, stepIndex }) => ({
    ...executionEvent("workflow-resumed", now, path === null && target.path !== null ? undefined : value, {
      suspensionId,
      userId,
    }),
    path,
    stepIndex,
  }));
}
