// What an event of a journal says as an event of a span.
import type { JournalEvent } from "../../store/store.ts";

const failures = new Set(["step-error", "step-retry", "workflow-error"]);

/** The name of the event. `step-suspended` is `suspended`: whose it is, the span tells. */
export function nameOf(type: string): string {
  return type.replace(/^(?:step|workflow|execution)-/, "");
}

/** What the event says, for a span of this path. */
export function attributesOf(event: JournalEvent, spanPath: string | null): Record<string, unknown> {
  const name = failures.has(event.type) ? fieldOf(event.value, "name") : undefined;
  const reason = fieldOf(event.detail, "reason");
  const userId = fieldOf(event.detail, "userId");
  const attempt = event.type === "step-retry" ? readField(event.detail, "attempt") : undefined;
  return {
    ...(name !== undefined && { "exception.type": name, "exception.message": messageOf(event) ?? "" }),
    ...(reason !== undefined && { "andante.suspension.reason": reason }),
    ...(userId !== undefined && { "user.id": userId }),
    ...(attempt !== undefined && { "andante.step.attempt": attempt }),
    ...(event.path !== null && event.path !== spanPath && { "andante.step.path": event.path }),
  };
}

/** The message of an error that the event holds. */
export function messageOf(event: JournalEvent): string | undefined {
  return fieldOf(event.value, "message");
}

/** A text field of a JSON object that the engine wrote. */
export function fieldOf(json: string | null, field: string): string | undefined {
  const value = readField(json, field);
  return typeof value === "string" ? value : undefined;
}

function readField(json: string | null, field: string): unknown {
  return json?.startsWith("{") ? Reflect.get(Object(JSON.parse(json)), field) : undefined;
}
