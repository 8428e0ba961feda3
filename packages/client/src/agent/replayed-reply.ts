// The delivered part of a reply: when the reply is read again from its beginning, delivered chunks are skipped.
import { AndanteApiError } from "../api-error.ts";
import type { ChatChunk } from "../responses/wire.ts";

/** The field with the text of a delta. */
const textFields = new Map([
  ["text-delta", "delta"],
  ["reasoning-delta", "delta"],
  ["tool-input-delta", "inputTextDelta"],
]);

/**
 * The delivered chunks of a reply, with adjacent deltas of the same text merged: the server may split a text
 * differently when it is read again.
 */
export class KnownReply {
  readonly chunks: ChatChunk[] = [];

  /** Records a delivered chunk. */
  add(chunk: ChatChunk): void {
    const last = this.chunks.at(-1);
    if (last !== undefined && isSameText(last, chunk))
      this.chunks[this.chunks.length - 1] = withText(last, textOf(last) + textOf(chunk));
    else this.chunks.push(chunk);
  }

  /**
   * Passes on the new part of the same reply, read from its beginning. Skips `steps` of an earlier part of the message,
   * which follow its first chunk.
   */
  replay(steps: number): (chunk: ChatChunk) => ChatChunk | undefined {
    const known = [...this.chunks];
    let index = 0;
    let offset = 0;
    let stepsLeft = steps;
    return (chunk) => {
      if (index > 0 && stepsLeft > 0) {
        if (chunk.type === "finish-step") stepsLeft -= 1;
        return undefined;
      }
      let expected = known[index];
      if (expected !== undefined && offset > 0 && !isSameText(expected, chunk)) {
        // The delivered text is longer than the replayed one.
        if (offset < textOf(expected).length) throw replyChanged();
        offset = 0;
        index += 1;
        expected = known[index];
      }
      if (expected === undefined) return chunk;
      if (!isSameText(expected, chunk)) {
        if (!isSame(expected, chunk)) throw replyChanged();
        index += 1;
        return undefined;
      }
      const text = textOf(chunk);
      const had = textOf(expected).slice(offset, offset + text.length);
      if (!text.startsWith(had)) throw replyChanged();
      offset += text.length;
      if (had.length === text.length) return undefined;
      // Only the last delivered chunk may be incomplete.
      if (index < known.length - 1) throw replyChanged();
      return withText(chunk, text.slice(had.length));
    };
  }
}

function isSameText(one: ChatChunk, other: ChatChunk): boolean {
  return textFields.has(one.type) && isSame(one, other);
}

/**
 * Whether two chunks have the same ids. Times and other fields may differ after another process continued the reply.
 */
function isSame(one: ChatChunk, other: ChatChunk): boolean {
  const fields = ["type", "id", "toolCallId", "messageId"];
  return fields.every((field) => one[field] === other[field]);
}

function textOf(chunk: ChatChunk): string {
  const field = textFields.get(chunk.type);
  return field === undefined ? "" : String(chunk[field]);
}

function withText(chunk: ChatChunk, text: string): ChatChunk {
  const field = textFields.get(chunk.type);
  return field === undefined ? chunk : { ...chunk, [field]: text };
}

/** The error for a different reply: after a crash the model may have been called again. */
export function replyChanged(): AndanteApiError {
  const message = "The reply has changed while the connection was lost: read the conversation again";
  return new AndanteApiError(message, { status: 0, code: "reply-changed" });
}
