// Events in the form that stores keep: one main value and the further fields, each as JSON text. Encoded and decoded
// nowhere else. Journals of every earlier release are decoded.
import { JournalDamagedError, UnknownEventError } from "../errors/index.ts";
import type { NewStoredEvent, StoredEvent } from "../store/stored-event.ts";
import { readUsageFields } from "../store/usage.ts";
import { Fields } from "../values/fields.ts";
import type { JsonText } from "../values/json.ts";
import {
  type CheckpointCall,
  type EventType,
  type JournalEvent,
  type NewEvent,
  type StepUsage,
  type TakenEvent,
  unknownEvent,
} from "./events.ts";
import { readFailure } from "./failure.ts";

export function encodeEvent(event: NewEvent): NewStoredEvent {
  const { type, timestamp } = event;
  switch (event.type) {
    case "workflow-start": {
      const { input, traceparent, replayOf } = event;
      const hasDetail = traceparent !== undefined || replayOf !== undefined;
      return ofExecution(type, timestamp, input, hasDetail ? { traceparent, replayOf } : undefined);
    }
    case "workflow-complete":
      return ofExecution(type, timestamp, event.result);
    case "workflow-error":
      return ofExecution(type, timestamp, JSON.stringify(event.error));
    case "workflow-cancelled": {
      const { reason, userId, suspensionId } = event;
      return ofExecution(type, timestamp, undefined, { reason, userId, suspensionId });
    }
    case "workflow-suspended": {
      const { path, stepIndex, data } = event;
      return { ...ofExecution(type, timestamp, data, suspending(event)), path, stepIndex };
    }
    case "workflow-resumed": {
      const { path, stepIndex, resumeData, suspensionId, userId, pausedFor, event: taken } = event;
      const byDeadline = event.byDeadline || undefined;
      const expired = event.expired || undefined;
      const { early, link } = event;
      const fields = { suspensionId, userId, byDeadline, expired, pausedFor, event: taken, early, link };
      return { ...ofExecution(type, timestamp, resumeData, fields), path, stepIndex };
    }
    case "execution-rewound": {
      const { path, stepIndex, resumeData, userId } = event;
      return { ...ofExecution(type, timestamp, resumeData, { userId }), path, stepIndex };
    }
    case "step-start":
      return ofStep(event, event.input);
    case "step-complete":
      return ofStep(event, event.output, event.usage && { usage: event.usage });
    case "step-evaluated":
      return ofStep(event, event.output);
    case "step-skipped":
      return ofStep(event, undefined);
    case "step-bailed":
      return ofStep(event, event.result);
    case "step-error":
      return ofStep(event, JSON.stringify(event.error));
    case "step-retry":
      return ofStep(event, JSON.stringify(event.error), { attempt: event.attempt, retryAt: event.retryAt });
    case "step-suspended":
      return ofStep(event, event.data, suspending(event));
    case "state-changed":
      return ofStep(event, event.patch);
    case "emitted":
      return ofStep(event, event.data, { type: event.name, attempt: event.attempt });
    case "checkpoint-complete": {
      const { startedAt, attempt, call, usage } = event;
      return ofStep(event, event.output, { startedAt, attempt, call, usage });
    }
    case "checkpoint-retry": {
      const { attempt, stepAttempt, retryAt } = event;
      return ofStep(event, JSON.stringify(event.error), { attempt, stepAttempt, retryAt });
    }
    default:
      return unknownEvent(event);
  }
}

export function encodeEvents(events: readonly NewEvent[]): NewStoredEvent[] {
  return events.map(encodeEvent);
}

export function decodeEvent(stored: StoredEvent): JournalEvent {
  const { sequence, timestamp } = stored;
  const value = stored.value ?? undefined;
  const type = readType(stored);
  const damaged = (problem: string) => new JournalDamagedError({ sequence, problem });
  const detail = Fields.parse(stored.detail, damaged);
  const failure = () => readFailure(stored.value, damaged);
  switch (type) {
    case "workflow-start": {
      const replayed = detail.object("replayOf");
      const replayOf = replayed && {
        executionId: replayed.text("executionId"),
        stepId: replayed.text("stepId"),
      };
      const traceparent = detail.optionalText("traceparent");
      return { type, sequence, timestamp, input: value, traceparent, replayOf };
    }
    case "workflow-complete":
      return { type, sequence, timestamp, result: value };
    case "workflow-error":
      return { type, sequence, timestamp, error: failure() };
    case "workflow-cancelled": {
      const reason = detail.optionalText("reason");
      const userId = detail.optionalText("userId");
      const suspensionId = detail.optionalText("suspensionId");
      return { type, sequence, timestamp, reason, userId, suspensionId };
    }
    case "workflow-suspended": {
      const { path } = stored;
      const stepIndex = stored.stepIndex ?? 0;
      const userId = detail.optionalText("userId");
      return { type, sequence, timestamp, path, stepIndex, userId, ...readSuspending(detail, value) };
    }
    case "workflow-resumed": {
      const { path } = stored;
      const stepIndex = stored.stepIndex ?? 0;
      const who = { suspensionId: detail.text("suspensionId"), userId: detail.optionalText("userId") };
      const pausedFor = detail.optionalNumber("pausedFor");
      const link = detail.optionalText("link");
      const how = {
        byDeadline: detail.isTrue("byDeadline"),
        expired: detail.isTrue("expired"),
        ...(pausedFor !== undefined && { pausedFor }),
        ...takenIn(detail),
        ...(detail.isTrue("early") && { early: true as const }),
        ...(link !== undefined && { link }),
      };
      return { ...who, ...how, type, sequence, timestamp, path, stepIndex, resumeData: value };
    }
    case "execution-rewound": {
      const { path, stepIndex } = place(stored);
      const userId = detail.optionalText("userId");
      return { type, sequence, timestamp, path, stepIndex, resumeData: value, userId };
    }
    case "step-start":
      return { ...place(stored), type, sequence, timestamp, input: value };
    case "step-complete":
      return { ...place(stored), type, sequence, timestamp, output: value, usage: usage(detail) };
    case "step-evaluated":
      return { ...place(stored), type, sequence, timestamp, output: value };
    case "step-skipped":
      return { type, sequence, timestamp, ...place(stored) };
    case "step-bailed":
      return { ...place(stored), type, sequence, timestamp, result: value };
    case "step-error":
      return { ...place(stored), type, sequence, timestamp, error: failure() };
    case "step-retry": {
      const when = { attempt: detail.number("attempt"), retryAt: detail.number("retryAt") };
      return { ...place(stored), type, sequence, timestamp, error: failure(), ...when };
    }
    case "step-suspended":
      return { ...place(stored), type, sequence, timestamp, ...readSuspending(detail, value) };
    case "state-changed":
      return { ...place(stored), type, sequence, timestamp, patch: value ?? "{}" };
    case "emitted": {
      const fields = { name: detail.text("type"), attempt: detail.number("attempt"), data: value };
      return { ...place(stored), type, sequence, timestamp, ...fields };
    }
    case "checkpoint-complete": {
      const when = { startedAt: detail.number("startedAt"), attempt: detail.number("attempt") };
      const what = { output: value, call: call(detail), usage: usage(detail) };
      return { ...place(stored), type, sequence, timestamp, ...when, ...what };
    }
    case "checkpoint-retry": {
      const when = {
        attempt: detail.number("attempt"),
        stepAttempt: detail.number("stepAttempt"),
        retryAt: detail.number("retryAt"),
      };
      return { ...place(stored), type, sequence, timestamp, error: failure(), ...when };
    }
    default:
      return type satisfies never;
  }
}

// ---- encoding

type Detail = Readonly<Record<string, unknown>>;

function ofExecution(type: EventType, timestamp: number, value: JsonText, fields?: Detail): NewStoredEvent {
  return {
    timestamp,
    type,
    path: null,
    stepIndex: null,
    stepType: null,
    value: value ?? null,
    detail: writeDetail(fields),
  };
}

function ofStep(
  event: Extract<NewEvent, { readonly stepType: string }>,
  value: JsonText,
  fields?: Detail,
): NewStoredEvent {
  const { type, timestamp, path, stepIndex, stepType } = event;
  return { timestamp, type, path, stepIndex, stepType, value: value ?? null, detail: writeDetail(fields) };
}

type SuspendedEvent = Extract<NewEvent, { readonly suspendedAt: number }>;

function suspending({
  suspensionId,
  reason,
  suspendedAt,
  deadline,
  userId,
  resumeSchema,
}: Pick<SuspendedEvent, "suspensionId" | "reason" | "suspendedAt" | "deadline" | "resumeSchema"> & {
  readonly userId?: string | undefined;
}): Detail {
  return { suspensionId, reason, suspendedAt, deadline, userId, resumeSchema };
}

function writeDetail(fields: Detail | undefined): string | null {
  if (fields === undefined) return null;
  const written = JSON.stringify(fields);
  return written === "{}" ? null : written;
}

// ---- decoding

/** Every type, for the check at run time; the compiler checks it against the union. */
const eventTypes: Readonly<Record<EventType, true>> = {
  "workflow-start": true,
  "workflow-complete": true,
  "workflow-error": true,
  "workflow-cancelled": true,
  "workflow-suspended": true,
  "workflow-resumed": true,
  "execution-rewound": true,
  "step-start": true,
  "step-complete": true,
  "step-evaluated": true,
  "step-skipped": true,
  "step-bailed": true,
  "step-error": true,
  "step-retry": true,
  "step-suspended": true,
  "state-changed": true,
  emitted: true,
  "checkpoint-complete": true,
  "checkpoint-retry": true,
};

function takenIn(detail: Fields): { readonly event: TakenEvent } | undefined {
  const event = detail.object("event");
  if (event === undefined) return undefined;
  const [eventId, name, seq] = [event.text("eventId"), event.text("name"), event.number("seq")];
  return { event: { eventId, name, key: event.optionalText("key") ?? null, seq } };
}

/** The type of a stored event; one that this release does not know is refused. */
function readType({ type, sequence }: StoredEvent): EventType {
  if (isEventType(type)) return type;
  throw new UnknownEventError({ type, sequence });
}

function isEventType(type: string): type is EventType {
  return Object.hasOwn(eventTypes, type);
}

function place({ path, stepIndex, stepType }: StoredEvent) {
  return { path: path ?? "", stepIndex: stepIndex ?? 0, stepType: stepType ?? "" };
}

function readSuspending(detail: Fields, data: JsonText) {
  const resumeSchema = detail.optionalText("resumeSchema");
  return {
    suspensionId: detail.text("suspensionId"),
    reason: detail.text("reason"),
    suspendedAt: detail.number("suspendedAt"),
    deadline: detail.optionalNumber("deadline"),
    data,
    ...(resumeSchema !== undefined && { resumeSchema }),
  };
}

function call(detail: Fields): CheckpointCall | undefined {
  const fields = detail.object("call");
  if (fields === undefined) return undefined;
  const kind = fields.text("kind");
  const agentId = fields.optionalText("agentId");
  const agent = agentId === undefined ? {} : { agentId };
  if (kind === "model") return { kind, model: fields.text("model"), ...agent, prompt: fields.text("prompt") };
  if (kind === "tool")
    return { kind, toolName: fields.text("toolName"), toolCallId: fields.text("toolCallId") };
  if (kind === "steering") return { kind };
  return { kind: "agent", ...agent };
}

function usage(detail: Fields): StepUsage | undefined {
  const fields = detail.object("usage");
  return fields && readUsageFields(fields);
}
