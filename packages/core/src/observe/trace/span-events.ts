// Converts an event of a journal to an event of a span.
import type { EventType, JournalEvent } from "../../journal/events.ts";

/** The name of the event. `step-suspended` is `suspended`: the span says whose it is. */
export function nameOf(type: EventType): string {
  return type.replace(/^(?:step|workflow|execution|checkpoint)-/, "");
}

/** The event of a span of this path. */
export function attributesOf(event: JournalEvent, spanPath: string | null): Record<string, unknown> {
  return {
    ...("error" in event && {
      "exception.type": event.error.name,
      "exception.message": event.error.message,
    }),
    ...("reason" in event && event.reason !== undefined && { "andante.suspension.reason": event.reason }),
    ...("userId" in event && event.userId !== undefined && { "user.id": event.userId }),
    ...((event.type === "step-retry" || event.type === "checkpoint-retry") && {
      "andante.step.attempt": event.attempt,
    }),
    ...("path" in event &&
      event.path !== null &&
      event.path !== spanPath && { "andante.step.path": event.path }),
  };
}
