// The inbox: the open suspensions of all workflows that a caller may see, oldest first, in pages.
import type { Andante } from "@andante/core";

/** A page of suspensions, each with resume data that fits its schema, where it has one. Throws when `signal` is aborted. */
export async function readInbox(
  andante: Andante,
  query: Parameters<Andante["live"]["waiting"]>[0],
  signal: AbortSignal,
) {
  // Loaded on demand: a start needs no examples.
  const { exampleValue } = await import("@andante/core/internal/examples");
  await andante.ready();
  signal.throwIfAborted();
  const { items, nextCursor } = await andante.live.waiting(query);
  signal.throwIfAborted();
  return {
    items: items.map((item) => {
      const schema = item.suspension.resumeSchema;
      return { ...item, ...(schema && { example: exampleValue(schema).value }) };
    }),
    more: nextCursor !== null,
    nextCursor,
  };
}
