// The spans of an execution and of its steps, derived from its journal up to a bound; and the root span of a trace, made
// from its row.
import { readJournal } from "../../journal/read-journal.ts";
import type { TraceRoot } from "../../store/observation-store.ts";
import type { Store } from "../../store/store.ts";
import { isoTime } from "../../values/iso-time.ts";
import { ExecutionSpans } from "./execution-spans.ts";
import type { SpanRecord } from "./span-record.ts";

export interface ReadSpans {
  readonly spans: readonly SpanRecord[];
  /** False when the journal was not read to its end. */
  readonly complete: boolean;
}

/** Reads until more than `room` spans have ended; the spans that are open then are returned too. Throws when `signal` is aborted. */
export async function readSpans(
  store: Store,
  root: TraceRoot,
  room: number,
  signal?: AbortSignal,
): Promise<ReadSpans> {
  const { executionId, entityId: workflowId, userId, conversationId } = root;
  if (executionId === null) return { spans: [], complete: true };
  const ended: SpanRecord[] = [];
  const spans = new ExecutionSpans(
    { executionId, workflowId, userId, conversationId },
    { wants: () => true, ended: (span) => ended.push(span) },
  );
  let complete = true;
  for await (const { events } of readJournal(store, { executionId, signal })) {
    for (const event of events) spans.apply(event);
    complete = spans.endAt !== null || ended.length <= room;
    if (!complete) break;
  }
  // The row has the end of the execution; the ends of steps that were open at this place are not known.
  if (!complete) spans.status = root.status;
  const open = spans.endAt === null ? spans.unfinished() : [];
  const [outermost] = open;
  if (!complete && outermost !== undefined) open[0] = { ...outermost, ...endOf(root) };
  return { spans: [...open, ...ended], complete };
}

/** For a root whose own span was not read: it is written last, and spans are read up to a bound. */
export function spanOfRoot(root: TraceRoot): SpanRecord {
  const { traceId, rootSpanId, entityType, entityId, executionId, startAt } = root;
  return {
    traceId,
    spanId: rootSpanId,
    parentSpanId: null,
    entityType,
    entityId,
    executionId,
    name: entityType === "workflow" ? `workflow ${entityId}` : `invoke_agent ${entityId}`,
    kind: "internal",
    startTime: isoTime(startAt),
    ...endOf(root),
    attributes: {},
    events: [],
  };
}

function endOf({ startAt, endAt, status }: TraceRoot): Pick<SpanRecord, "endTime" | "duration" | "status"> {
  return {
    endTime: endAt === null ? null : isoTime(endAt),
    duration: endAt === null ? null : endAt - startAt,
    status: status === "completed" ? "ok" : status === "error" ? "error" : "unset",
  };
}
