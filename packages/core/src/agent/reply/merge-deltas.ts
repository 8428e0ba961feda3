// Deltas of a chat reply: their texts, and several as one.
import type { UIMessageChunk } from "ai";

export type Delta = Extract<UIMessageChunk, { type: "text-delta" | "reasoning-delta" | "tool-input-delta" }>;

export function isDelta(chunk: UIMessageChunk): chunk is Delta {
  const { type } = chunk;
  return type === "text-delta" || type === "reasoning-delta" || type === "tool-input-delta";
}

/** The text of a delta; "" for every other chunk. */
export function deltaOf(chunk: UIMessageChunk): string {
  if (!isDelta(chunk)) return "";
  return chunk.type === "tool-input-delta" ? chunk.inputTextDelta : chunk.delta;
}

export function withDelta(chunk: Delta, text: string): Delta {
  return chunk.type === "tool-input-delta" ? { ...chunk, inputTextDelta: text } : { ...chunk, delta: text };
}

/** Both as one, when they are neighbouring pieces of the same text. */
export function merge(last: UIMessageChunk, next: UIMessageChunk): UIMessageChunk | undefined {
  if (!isDelta(last) || !isDelta(next) || last.type !== next.type) return undefined;
  if (keyOf(last) !== keyOf(next)) return undefined;
  // A provider's metadata belongs to one delta alone.
  if ("providerMetadata" in last || "providerMetadata" in next) return undefined;
  return withDelta(last, deltaOf(last) + deltaOf(next));
}

function keyOf(chunk: Delta): string {
  return chunk.type === "tool-input-delta" ? chunk.toolCallId : chunk.id;
}
