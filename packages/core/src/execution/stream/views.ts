// The journal and the rows as seen from outside: results, states and stream events in the contract's words.

import { readAwaits } from "../../event/awaits.ts";
import { eventIn } from "../../event/cause.ts";
import {
  type JournalEvent,
  type StepSuspendedEvent,
  unknownEvent,
  type WorkflowSuspendedEvent,
} from "../../journal/events.ts";
import { type Failure, readFailure } from "../../journal/failure.ts";
import { scheduleIn } from "../../schedule/cause.ts";
import type {
  ExecutionRow,
  ExecutionStatus,
  ListedExecution,
  ReplayOf,
  StoredExecution,
  Suspension,
} from "../../store/store.ts";
import { afterDeadline } from "../../store/suspension.ts";
import { parseObject } from "../../values/fields.ts";
import { isoTime } from "../../values/iso-time.ts";
import { fromJson, type JsonText } from "../../values/json.ts";
import { toJsonSchema } from "../../values/schema.ts";
import { stepIdOf } from "../../values/step-path.ts";
import { resumeSchemaOf } from "../../workflow/find-step.ts";
import type { WorkflowDefinition } from "../../workflow/step.ts";
import type {
  ExecutionCause,
  ExecutionResult,
  ExecutionState,
  ExecutionSuspension,
  ResultFields,
} from "./execution-result.ts";
import type { ShortExplanation } from "./explanation.ts";
import type { LiveText } from "./feed.ts";

export type { ExecutionResult, ExecutionState, ExecutionSuspension } from "./execution-result.ts";

/** An execution in a list. */
export interface ExecutionSummary {
  readonly executionId: string;
  readonly workflowId: string;
  readonly status: ExecutionStatus;
  readonly startAt: string;
  readonly endAt: string | null;
  readonly userId: string | null;
  readonly conversationId: string | null;
  /** The top-level step that runs now or comes next. */
  readonly stepIndex: number;
  readonly tags?: readonly string[];
  readonly parked?: { readonly reason: string };
  readonly replayOf?: ReplayOf;
  /** The schedule or the event that has started it. */
  readonly cause?: ExecutionCause;
  readonly error?: { readonly name: string; readonly message: string; readonly step?: string };
  /** The reason why an open execution waits: in lists with `explain`, where no step of it runs in this process. */
  readonly explanation?: ShortExplanation;
}

/** One event of a stream or of the journal. */
export interface ExecutionEvent {
  readonly type: string;
  readonly executionId: string;
  readonly timestamp: string;
  /** Its number in the journal; absent on events that are not journaled. */
  readonly sequence?: number;
  /** The id of the step; on step events. */
  readonly from?: string;
  readonly [field: string]: unknown;
}

const failedText = "Failed to execute workflow";

/** A failure in words that any caller may read. */
export function publicText(failure: Failure): string {
  return failure.public === true ? failure.message : failedText;
}

export function viewSuspension(
  workflow: WorkflowDefinition | undefined,
  suspension: Suspension,
): ExecutionSuspension {
  const { suspensionId, path, stepIndex, reason, data, suspendedAt, deadline, onDeadline } = suspension;
  const schema = resumeSchemaIn(workflow, suspension);
  return {
    suspensionId,
    suspendedAt: isoTime(suspendedAt),
    reason,
    suspendedStepIndex: stepIndex,
    stepIndex,
    stepId: path === null ? (workflow?.steps[stepIndex]?.id ?? "") : stepIdOf(path),
    ...(path !== null && { stepPath: path }),
    ...(data !== null && { data: fromJson(data) }),
    ...(deadline !== null && { deadline: isoTime(deadline) }),
    ...(onDeadline !== null && { onDeadline: afterDeadline(onDeadline) }),
    ...(schema && { resumeSchema: schema }),
    ...(suspension.awaits && { events: awaitedIn(suspension.awaits) }),
    ...(suspension.to !== undefined && { to: suspension.to }),
  };
}

/** The events that end a suspension. */
export function awaitedIn(awaits: string): NonNullable<ExecutionSuspension["events"]> {
  return readAwaits(awaits).events.map(({ name, key }) => ({ name, key }));
}

/** The JSON Schema of its resume data: its own, or the definition's. */
function resumeSchemaIn(workflow: WorkflowDefinition | undefined, { path, resumeSchema }: Suspension) {
  if (resumeSchema) return JSON.parse(resumeSchema);
  if (workflow === undefined || path === null || path.includes("#")) return undefined;
  const schema = resumeSchemaOf(workflow, path);
  return schema && toJsonSchema(schema, "input", `Step ${path}`);
}

// Two signatures, because the compiler cannot know the store's promise: a suspended execution has an open suspension.
export function viewResult(workflow: WorkflowDefinition | undefined, state: StoredExecution): ExecutionResult;
export function viewResult(workflow: WorkflowDefinition | undefined, state: StoredExecution): ResultFields {
  const { execution, suspensions, usage } = state;
  const first = suspensions[0];
  return {
    executionId: execution.executionId,
    startAt: isoTime(execution.startAt),
    endAt: execution.endAt === null ? null : isoTime(execution.endAt),
    status: execution.status,
    result: execution.result === null ? null : fromJson(execution.result),
    ...(first && { suspension: viewSuspension(workflow, first) }),
    ...(execution.error !== null && { error: publicText(readFailure(execution.error)) }),
    ...(usage && { usage }),
  };
}

export function viewState(workflow: WorkflowDefinition | undefined, state: StoredExecution): ExecutionState {
  const { execution, suspensions } = state;
  return {
    ...viewResult(workflow, state),
    workflowId: execution.workflowId,
    input: execution.input === null ? null : fromJson(execution.input),
    context: { ...parseObject(execution.context, "The context of an execution") },
    ...(suspensions.length > 0 && { suspensions: suspensions.map((each) => viewSuspension(workflow, each)) }),
    ...marksOf(execution),
  };
}

/** The marks of an execution, where it has any. */
function marksOf(row: Pick<ExecutionRow, "tags" | "parked" | "replayOf" | "links">) {
  const { tags, parked, replayOf } = row;
  const cause = causeIn(row.links);
  return {
    ...(cause && { cause }),
    ...(tags.length > 0 && { tags }),
    ...(parked !== null && { parked: { reason: parked } }),
    ...(replayOf !== null && { replayOf }),
  };
}

function causeIn(links: string | null): ExecutionCause | undefined {
  const schedule = scheduleIn(links);
  if (schedule !== undefined) return { scheduleId: schedule.scheduleId, at: isoTime(schedule.at) };
  const event = eventIn(links);
  return event && { eventId: event.eventId, event: event.name, at: isoTime(event.sentAt) };
}

export function viewSummary(row: ListedExecution, explanation?: ShortExplanation): ExecutionSummary {
  return {
    executionId: row.executionId,
    workflowId: row.workflowId,
    status: row.status,
    startAt: isoTime(row.startAt),
    endAt: row.endAt === null ? null : isoTime(row.endAt),
    userId: row.userId,
    conversationId: row.conversationId,
    stepIndex: row.stepIndex,
    ...marksOf(row),
    ...(row.error !== null && { error: viewFailure(readFailure(row.error)) }),
    ...(explanation && { explanation }),
  };
}

function viewFailure({ name, message, step }: Failure) {
  return { name, message, ...(step !== undefined && { step }) };
}

/** A journaled event. `failures`: errors in full, or only their public message. */
export function viewEvent(
  workflow: WorkflowDefinition | undefined,
  executionId: string,
  event: JournalEvent,
  failures: "full" | "public",
): ExecutionEvent {
  const { type, sequence, timestamp } = event;
  return {
    type: type === "emitted" ? event.name : type,
    executionId,
    timestamp: isoTime(timestamp),
    sequence,
    ...addressOf(event),
    ...payloadOf(workflow, event, failures),
  };
}

/** A piece of an agent's reply, or activity of its tools; it has no number, because it is not journaled. */
export function viewLiveText(executionId: string, text: LiveText): ExecutionEvent {
  const { path, stepIndex, stepType, timestamp, delta, tool } = text;
  const where = { from: stepIdOf(path), stepPath: path, stepIndex, stepType };
  const piece = tool ?? { type: "text-delta", delta };
  return { executionId, timestamp: isoTime(timestamp), ...where, ...piece };
}

/** The step that an event belongs to; `workflow-suspended` names it in its suspension. */
function addressOf(event: JournalEvent): Record<string, unknown> {
  if (!("path" in event) || event.type === "workflow-suspended") return {};
  const { path, stepIndex } = event;
  return {
    ...(path !== null && { from: stepIdOf(path), stepPath: path }),
    stepIndex,
    ...("stepType" in event && { stepType: event.stepType }),
  };
}

function payloadOf(
  workflow: WorkflowDefinition | undefined,
  event: JournalEvent,
  failures: "full" | "public",
): Record<string, unknown> {
  switch (event.type) {
    case "workflow-start":
      return event.replayOf === undefined ? {} : { replayOf: event.replayOf };
    case "step-start":
      return { input: readValue(event.input) };
    case "step-complete":
      return { output: readValue(event.output), ...(event.usage && { usage: event.usage }) };
    case "step-evaluated":
      return { output: readValue(event.output) };
    case "workflow-complete":
    case "step-bailed":
      return { result: readValue(event.result) };
    case "state-changed":
      return { state: readValue(event.patch) };
    case "emitted":
      return { data: readValue(event.data), attempt: event.attempt };
    case "checkpoint-complete": {
      const { output, attempt, startedAt, call, usage } = event;
      const when = { attempt, startedAt: isoTime(startedAt) };
      return { output: readValue(output), ...when, ...(call && { call }), ...(usage && { usage }) };
    }
    case "step-error":
    case "workflow-error":
      return { error: errorOf(event.error, failures) };
    case "step-retry":
    case "checkpoint-retry": {
      const { error, attempt, retryAt } = event;
      return { error: errorOf(error, failures), attempt, retryAt: isoTime(retryAt) };
    }
    case "step-suspended":
      return { suspension: viewSuspension(workflow, suspensionOf(event)) };
    case "workflow-suspended":
      return { suspension: viewSuspension(workflow, suspensionOf(event)), ...by(event) };
    case "workflow-resumed": {
      const { suspensionId, byDeadline, early, link } = event;
      const marks = { ...(early && { early }), ...(link !== undefined && { link }) };
      const how = { suspensionId, ...(byDeadline && { byDeadline }), ...marks };
      return { resumeData: readValue(event.resumeData), ...how, ...by(event) };
    }
    case "execution-rewound":
      return { resumeData: readValue(event.resumeData), ...by(event) };
    case "workflow-cancelled":
      return { ...(event.reason !== undefined && { reason: event.reason }), ...by(event) };
    case "step-skipped":
      return {};
    default:
      return unknownEvent(event);
  }
}

/** A value as callers see it: null where there is none. */
function readValue(text: JsonText): unknown {
  return text === undefined ? null : fromJson(text);
}

function suspensionOf(event: StepSuspendedEvent | WorkflowSuspendedEvent): Suspension {
  const { suspensionId, path, stepIndex, reason, data = null, suspendedAt, deadline = null } = event;
  const { resumeSchema = null } = event;
  const how = { deadline, onDeadline: null, resumeSchema };
  return { suspensionId, path, stepIndex, reason, data, suspendedAt, ...how };
}

function errorOf(failure: Failure, failures: "full" | "public") {
  return failures === "full" ? viewFailure(failure) : publicText(failure);
}

/** Who did it, when that is known. */
function by({ userId }: { readonly userId: string | undefined }): { userId?: string } {
  return userId === undefined ? {} : { userId };
}
