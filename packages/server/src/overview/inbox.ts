// The inbox: the open suspensions of all workflows and chats that a caller may see, oldest first, in pages.
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
  // Most suspensions wait for the same kind of data, and an example takes milliseconds.
  const examples = new Map<string, unknown>();
  const exampleOf = (schema: object) => {
    const key = JSON.stringify(schema);
    const example = examples.has(key) ? examples.get(key) : exampleValue(schema).value;
    examples.set(key, example);
    return { example };
  };
  return {
    items: items.map((item) => {
      const schema = item.suspension.resumeSchema;
      return { ...item, ...(schema && exampleOf(schema)) };
    }),
    more: nextCursor !== null,
    nextCursor,
  };
}
