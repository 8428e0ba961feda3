// Decides which log lines and spans one caller may see, for routes and sockets alike.
import type { LogFilter, LogLine, SpanEvent } from "@andante/core/internal";
import type { Scope } from "./authorize.ts";
import type { Caller } from "./gate.ts";

/**
 * `all` is every entry in full, `own` this user's entries in full, and `outline` every entry without user data: only
 * definition, time, level and the message from the code.
 */
export type View =
  | { readonly kind: "all" }
  | { readonly kind: "own"; readonly userId: string }
  | { readonly kind: "outline" }
  | { readonly kind: "nothing" };

/** The view for a scope. A caller without a token sees at most the outline, even where the host allows more. */
export function viewOf(scope: Scope, { user, userId }: Caller, authEnabled: boolean): View {
  if (scope === "all") return { kind: authEnabled && user === undefined ? "outline" : "all" };
  return userId === undefined ? { kind: "nothing" } : { kind: "own", userId };
}

/** The filter, narrowed to the caller's view; undefined where the caller may see nothing. */
export function visibleLines(view: View, filter: LogFilter): LogFilter | undefined {
  switch (view.kind) {
    case "all":
      return filter;
    case "own":
      return { ...filter, userId: view.userId };
    case "outline":
      // An outline has no conversations, so a filter must not reveal which exist.
      return filter.conversationId === undefined ? filter : undefined;
    case "nothing":
      return undefined;
  }
}

/** A line in the caller's view. An outline keeps `msg`, which comes from the code, and drops other fields. */
export function visibleRecord(
  { kind }: View,
  record: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  if (kind !== "outline") return record;
  const { timestamp, level, msg, workflowId, agentId } = record;
  return { timestamp, level, msg, ...textField({ workflowId }), ...textField({ agentId }) };
}

/** The field if its value is a string: a step may log any value under the name of an id. */
function textField(field: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.values(field).every((value) => typeof value === "string") ? field : {};
}

/** A live line in the caller's view, as JSON text. */
export function visibleLine(view: View, line: LogLine): string {
  return view.kind === "outline" ? JSON.stringify(visibleRecord(view, JSON.parse(line.record))) : line.record;
}

/** Whether the caller may see entries of this user; null for entries without a user. */
export function seesAnything(view: View, owner: string | null): boolean {
  if (view.kind === "own") return view.userId === owner;
  return view.kind !== "nothing";
}

/** A span in the caller's view. An outline omits trace and span ids, which derive from the execution's id. */
export function visibleSpan({ kind }: View, { type, span }: SpanEvent): object {
  if (kind !== "outline") return { type, span };
  const { entityType, entityId, name, startTime, endTime, duration, status } = span;
  return { type, span: { entityType, entityId, name, startTime, endTime, duration, status } };
}
