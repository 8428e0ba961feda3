// Rules for the journal of any execution that has ended, of any workflow.
import type { StoredExecution } from "../../src/store/store.ts";
import type { StoredEvent } from "../../src/store/stored-event.ts";
import { isBelow } from "../../src/values/step-path.ts";
import { countingEvents } from "./counting-events.ts";
import { isOutcome } from "./mirror.ts";

const ends = new Set(["workflow-complete", "workflow-error", "workflow-cancelled"]);

/** Everything that is wrong with it. */
export function journalProblems(state: StoredExecution, events: readonly StoredEvent[]): string[] {
  const left = countingEvents(events);
  return [
    ...numbering(state, events),
    ...timesInOrder(ownEvents(events)),
    ...oneEnd(state, events),
    ...outcomesOnce(left),
    ...containersLast(left),
    ...startsFirst(left),
    ...oneAnswer(events),
    ...state.suspensions.map(({ path }) => `a suspension is open at ${path} after the end`),
    ...state.timers.map(({ path }) => `a timer is left at ${path} after the end`),
  ];
}

function numbering({ execution }: StoredExecution, events: readonly StoredEvent[]): string[] {
  const problems = events.flatMap(({ sequence }, index) =>
    sequence === index + 1 ? [] : [`event ${index + 1} has the number ${sequence}`],
  );
  if (execution.sequence !== events.length) problems.push(`the row says ${execution.sequence} events`);
  return problems;
}

/** Without the copies of a replay, which have the times of the originals. */
function ownEvents(events: readonly StoredEvent[]): readonly StoredEvent[] {
  const [first] = events;
  if (first?.detail?.includes('"replayOf"') !== true) return events;
  return events.filter(({ timestamp }) => timestamp >= first.timestamp);
}

/** Pauses, resumptions and cancels are written from outside, also while a commit of earlier outcomes is under way. */
const outside = new Set(["workflow-suspended", "workflow-resumed", "workflow-cancelled"]);

/** A call of a model. A decision about the budget of its step lets every call of the step continue that waits for one. */
const modelCall = /call\[\d+\]$/;

/**
 * Each process writes in the order of time, so do writers from outside, and no step precedes its resumption. A call of a
 * model may: it has continued by the resumption of another one, and its own arrives while its outcome is under way.
 */
function timesInOrder(events: readonly StoredEvent[]): string[] {
  let latest = 0;
  let latestInside = 0;
  const resumedAt = new Map<string | null, number>();
  return events.flatMap(({ sequence, timestamp, type, path }) => {
    const isOutside = outside.has(type);
    const before = isOutside ? latest : Math.max(latestInside, resumedAt.get(path) ?? 0);
    latest = Math.max(latest, timestamp);
    if (type === "workflow-resumed" && !modelCall.test(path ?? "")) resumedAt.set(path, timestamp);
    if (!isOutside) latestInside = Math.max(latestInside, timestamp);
    return timestamp >= before ? [] : [`event ${sequence} is ${before - timestamp} ms before one before it`];
  });
}

function oneEnd({ execution }: StoredExecution, events: readonly StoredEvent[]): string[] {
  const found = events.filter(({ type }) => ends.has(type));
  const last = events.at(-1)?.type ?? "";
  const expected = {
    completed: "workflow-complete",
    error: "workflow-error",
    cancelled: "workflow-cancelled",
  };
  const right = Object.entries(expected).some(
    ([status, type]) => status === execution.status && type === last,
  );
  return found.length === 1 && right
    ? []
    : [`${execution.status} ends with ${last}, ${found.length} ends in all`];
}

/** Without events that a rewind has left behind: steps, functions beside them, and records inside a body. */
function outcomesOnce(events: readonly StoredEvent[]): string[] {
  const seen = new Set<string | null>();
  const recorded = events.filter((event) => isOutcome(event) || event.type === "checkpoint-complete");
  return recorded.flatMap(({ path }) => {
    const again = seen.has(path);
    seen.add(path);
    return again ? [`${path} has two outcomes`] : [];
  });
}

/** Nothing happens at or below a path once it has its outcome; functions beside it count as below. */
function containersLast(events: readonly StoredEvent[]): string[] {
  const ended: string[] = [];
  const problems: string[] = [];
  for (const event of events) {
    const { path, type, sequence } = event;
    if (path === null) continue;
    const over = ended.find((one) => path === one || isBelow(path, one) || path.startsWith(`${one}#`));
    if (over !== undefined) problems.push(`${type} at ${path} (${sequence}) after the end of ${over}`);
    if (isOutcome(event)) ended.push(path);
  }
  return problems;
}

function startsFirst(events: readonly StoredEvent[]): string[] {
  const started = new Set<string>();
  return events.flatMap(({ path, type }) => {
    if (path === null) return [];
    if (type === "step-start") {
      const again = started.has(path);
      started.add(path);
      return again ? [`${path} starts twice`] : [];
    }
    return path.includes("#") || started.has(path) || type === "workflow-suspended"
      ? []
      : [`${type} at ${path} before its start`];
  });
}

function oneAnswer(events: readonly StoredEvent[]): string[] {
  const answered = new Set<string>();
  return events.flatMap((event) => {
    if (event.type !== "workflow-resumed") return [];
    const { suspensionId } = Object(event.detail === null ? {} : JSON.parse(event.detail));
    const again = answered.has(suspensionId);
    answered.add(suspensionId);
    return again ? [`the suspension ${suspensionId} at ${event.path} was answered twice`] : [];
  });
}
