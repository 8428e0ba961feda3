// Makes the journal events of a step, and its suspension, from its place in the plan.
import type {
  CheckpointCompleteEvent,
  CheckpointRetryEvent,
  EmittedEvent,
  OutcomeEvent,
  StateChangedEvent,
  StepRetryEvent,
  StepStartEvent,
  StepSuspendedEvent,
  WorkflowSuspendedEvent,
} from "../../journal/events.ts";
import type { Failure } from "../../journal/failure.ts";
import type { Outcome } from "../../journal/outcome.ts";
import type { Suspension } from "../../store/store.ts";
import type { JsonText } from "../../values/json.ts";
import type { DoneCheckpoint, FailedCheckpoint } from "../body/checkpoint-log.ts";
import type { CallSuspension, SuspendRequest } from "../body/control-flow-signal.ts";
import type { Place, RunCommand } from "../interpreter/commands.ts";

export function startEvent(place: Place, timestamp: number): StepStartEvent {
  // Field by field, as the next one: most events are these two, and a spread takes as long as all the rest.
  const { path, scope, step, data: input } = place;
  return { type: "step-start", timestamp, path, stepIndex: scope.stepIndex, stepType: step.type, input };
}

/** How a step, or a function beside it, ended. */
export function outcomeEvent(place: Place, path: string, outcome: Outcome, timestamp: number): OutcomeEvent {
  const address = addressOf(place, path);
  switch (outcome.kind) {
    case "output": {
      const { value: output, usage } = outcome;
      if (path === place.path) {
        const { stepIndex, stepType } = address;
        return { type: "step-complete", timestamp, path, stepIndex, stepType, output, usage };
      }
      return { ...address, type: "step-evaluated", timestamp, output };
    }
    case "skipped":
      return { ...address, type: "step-skipped", timestamp };
    case "bailed":
      return { ...address, type: "step-bailed", timestamp, result: outcome.value };
    case "error":
      return { ...address, type: "step-error", timestamp, error: outcome.error };
  }
}

export function retryEvent(
  { place, path, attempt }: RunCommand,
  error: Failure,
  retryAt: number,
  timestamp: number,
): StepRetryEvent {
  return { ...addressOf(place, path), type: "step-retry", timestamp, error, attempt, retryAt };
}

export function stateEvent({ place, path }: RunCommand, patch: string, timestamp: number): StateChangedEvent {
  return { ...addressOf(place, path), type: "state-changed", timestamp, patch };
}

export function emittedEvent(
  { place, path, attempt }: RunCommand,
  name: string,
  data: JsonText,
  timestamp: number,
): EmittedEvent {
  return { ...addressOf(place, path), type: "emitted", timestamp, name, attempt, data };
}

export function checkpointEvent(
  { place }: RunCommand,
  { path, output, startedAt, attempt, call, usage }: DoneCheckpoint,
  timestamp: number,
): CheckpointCompleteEvent {
  const address = addressOf(place, path);
  return { ...address, type: "checkpoint-complete", timestamp, output, startedAt, attempt, call, usage };
}

export function checkpointRetryEvent(
  { place, attempt: stepAttempt }: RunCommand,
  { path, error, attempt, retryAt }: FailedCheckpoint,
  timestamp: number,
): CheckpointRetryEvent {
  const address = addressOf(place, path);
  return { ...address, type: "checkpoint-retry", timestamp, error, attempt, stepAttempt, retryAt };
}

/** The suspension that a body asks for. */
export function suspensionOf(
  { place, path }: RunCommand,
  { reason, data, deadline, onDeadline, awaits, notice }: SuspendRequest,
  suspensionId: string,
  suspendedAt: number,
): Suspension {
  const { stepIndex } = place.scope;
  const to = notice?.to;
  const others = { ...(awaits && { awaits }), ...(to !== undefined && { to }) };
  const asked = { reason, data: data ?? null, deadline, onDeadline, ...others };
  return { suspensionId, path, stepIndex, suspendedAt, ...asked };
}

/** The suspension of a call that an agent has made. */
export function callSuspensionOf(
  { place }: RunCommand,
  { path, reason, data, resumeSchema, deadline, onDeadline, awaits }: CallSuspension,
  suspensionId: string,
  suspendedAt: number,
): Suspension {
  const { stepIndex } = place.scope;
  const asked = { reason, data, deadline, onDeadline, resumeSchema, ...(awaits && { awaits }) };
  return { suspensionId, path, stepIndex, suspendedAt, ...asked };
}

export function stepSuspendedEvent({ place, path }: RunCommand, suspension: Suspension): StepSuspendedEvent {
  const { suspendedAt: timestamp } = suspension;
  const address = addressOf(place, suspension.path ?? path);
  return { ...address, type: "step-suspended", timestamp, ...fieldsOf(suspension) };
}

/** The execution goes idle at a suspension, or is paused by one. */
export function workflowSuspendedEvent(
  suspension: Omit<Suspension, "stepIndex">,
  stepIndex: number,
  userId: string | undefined,
): WorkflowSuspendedEvent {
  const { path, suspendedAt: timestamp } = suspension;
  return { type: "workflow-suspended", timestamp, path, stepIndex, userId, ...fieldsOf(suspension) };
}

function addressOf({ scope, step }: Place, path: string) {
  return { path, stepIndex: scope.stepIndex, stepType: step.type };
}

function fieldsOf(suspension: Omit<Suspension, "stepIndex">) {
  const { suspensionId, reason, suspendedAt, deadline, data, resumeSchema } = suspension;
  return {
    suspensionId,
    reason,
    suspendedAt,
    deadline: deadline ?? undefined,
    data: data ?? undefined,
    ...(resumeSchema && { resumeSchema }),
  };
}
