// The events that a filter leaves, and the way from one to the next.
import type { ExecutionEvent } from "../../api/types.ts";

/** The indices of the events that contain the text in their type, path or values; undefined without a text. */
export function matchingEvents(
  events: readonly ExecutionEvent[],
  text: string,
): readonly number[] | undefined {
  const wanted = text.trim().toLowerCase();
  if (wanted === "") return undefined;
  return events.flatMap((event, index) => (wordsOf(event).includes(wanted) ? [index] : []));
}

function wordsOf({ executionId: _, timestamp: __, ...fields }: ExecutionEvent): string {
  return JSON.stringify(fields).toLowerCase();
}

/**
 * The index of the next shown event, or of the one before. `position` is the number of events up to the scrubber; at
 * the ends the index stays.
 */
export function neighbour(
  shown: readonly number[] | undefined,
  { position, total, by }: { readonly position: number; readonly total: number; readonly by: number },
): number {
  const at = position - 1;
  if (shown === undefined) return Math.min(total - 1, Math.max(0, at + by));
  const next = by > 0 ? shown.find((index) => index > at) : shown.findLast((index) => index < at);
  return next ?? Math.max(0, at);
}
