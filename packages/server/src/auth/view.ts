// Decides which log lines and spans one caller may see, for routes and sockets alike.
import type { LogFilter, LogLine, SpanEvent } from "@andante/core/internal";
import type { Scope } from "./authorize.ts";
import type { Caller } from "./gate.ts";

/**
 * `all` is everyone's in full, `own` this user's in full, and `outline` everyone's without anything that is about
 * a user: which definition, when, how important, and the message of the code.
 */
export type View =
  | { readonly kind: "all" }
  | { readonly kind: "own"; readonly userId: string }
  | { readonly kind: "outline" }
  | { readonly kind: "nothing" };

/** A caller without a token sees no more than the outline, even where the host allows more. */
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
      // Conversations are not shown, so a caller cannot find out by trying which exist.
      return filter.conversationId === undefined ? filter : undefined;
    case "nothing":
      return undefined;
  }
}

/** A line as the caller may see it: with `msg`, which is the code's, and without its other fields. */
export function visibleRecord(
  { kind }: View,
  record: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  if (kind !== "outline") return record;
  const { timestamp, level, msg, workflowId, agentId } = record;
  return { timestamp, level, msg, ...textField({ workflowId }), ...textField({ agentId }) };
}

/** A body may log anything under the name of an id. */
function textField(field: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.values(field).every((value) => typeof value === "string") ? field : {};
}

// Several clients may be shown the outline of one line: it is made once.
const outlines = new WeakMap<LogLine, string>();

/** The same for a line as it comes, as JSON text. */
export function visibleLine(view: View, line: LogLine): string {
  if (view.kind !== "outline") return line.record;
  const text = outlines.get(line) ?? JSON.stringify(visibleRecord(view, JSON.parse(line.record)));
  outlines.set(line, text);
  return text;
}

/** Whether the caller may see anything of this user; null for entries without a user. */
export function seesAnything(view: View, owner: string | null): boolean {
  if (view.kind === "own") return view.userId === owner;
  return view.kind !== "nothing";
}

/** A span as the caller may see it. The ids of traces and spans are made of the execution's: they are left out too. */
export function visibleSpan({ kind }: View, { type, span }: SpanEvent): object {
  if (kind !== "outline") return { type, span };
  const { entityType, entityId, name, startTime, endTime, duration, status } = span;
  return { type, span: { entityType, entityId, name, startTime, endTime, duration, status } };
}
