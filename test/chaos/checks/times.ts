// Nothing that waits for a time goes on before it: sleeps, attempts after a delay, deadlines.
import type { StoredEvent } from "@andante/core/store";
import type { Check } from "./evidence.ts";

/** Wrong only if it was early: how late it was depends on how long no process ran. That it ends at all is checked by the trial. */
export const checkTimes: Check = ({ after }) => {
  const events = after?.events ?? [];
  return events.flatMap((event, index) => {
    const later = events.slice(index + 1);
    const { type, path } = event;
    if (path === null) return [];
    if (path.endsWith("#duration") && type === "step-evaluated") {
      return early(events, later, path.slice(0, -"#duration".length), Number(event.value));
    }
    if (type === "step-retry") return earlyAttempt(event, later);
    return type === "step-suspended" ? earlyDeadline(event, later) : [];
  });
};

/** A sleep counts from its start. */
function early(
  events: readonly StoredEvent[],
  later: readonly StoredEvent[],
  path: string,
  duration: number,
): string[] {
  const start = events.find((event) => event.path === path && event.type === "step-start");
  const end = later.find((event) => event.path === path && event.type === "step-complete");
  if (start === undefined || end === undefined) return [];
  const slept = end.timestamp - start.timestamp;
  return slept >= duration ? [] : [`${path} slept ${slept} ms of ${duration}`];
}

function earlyAttempt({ path, detail }: StoredEvent, later: readonly StoredEvent[]): string[] {
  const retryAt = Number(Object(JSON.parse(detail ?? "{}")).retryAt);
  const next = later.find((event) => event.path === path);
  return next === undefined || next.timestamp >= retryAt ? [] : [`${path} was tried again too early`];
}

/** Only the end of its time ends a suspension by itself, and only one answer counts. */
function earlyDeadline({ path, detail }: StoredEvent, later: readonly StoredEvent[]): string[] {
  const { suspensionId, deadline } = Object(JSON.parse(detail ?? "{}"));
  const answers = later
    .filter(({ type }) => type === "workflow-resumed")
    .map((event) => ({ at: event.timestamp, ...Object(JSON.parse(event.detail ?? "{}")) }))
    .filter((answer) => answer.suspensionId === suspensionId);
  const problems = answers
    .filter((answer) => answer.deadline === true && answer.at < deadline)
    .map(() => `the deadline of ${path} came too early`);
  return answers.length > 1 ? [...problems, `${path} was answered ${answers.length} times`] : problems;
}
