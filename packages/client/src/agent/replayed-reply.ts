// The part of a reply that a reader has: a reply that is read again from its beginning is passed on from there.
import { AndanteApiError } from "../api-error.ts";
import type { ChatChunk } from "../responses/wire.ts";

/** The field with the text of a delta. */
const textFields = new Map([
  ["text-delta", "delta"],
  ["reasoning-delta", "delta"],
  ["tool-input-delta", "inputTextDelta"],
]);

/**
 * The chunks of a reply, neighbouring deltas of the same text as one: the server may cut a text into other pieces when it
 * is read again.
 */
export class KnownReply {
  readonly chunks: ChatChunk[] = [];

  /** Notes a chunk that the reader gets. */
  add(chunk: ChatChunk): void {
    const last = this.chunks.at(-1);
    if (last !== undefined && isSameText(last, chunk))
      this.chunks[this.chunks.length - 1] = withText(last, textOf(last) + textOf(chunk));
    else this.chunks.push(chunk);
  }

  /**
   * Passes on the new part of the same reply, read from its beginning. `steps` of an earlier part of the message stand
   * behind its first chunk and are left out.
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
        // The text went on when it was cut off, and in this reading it is over.
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
      // Only the last one may be known in part.
      if (index < known.length - 1) throw replyChanged();
      return withText(chunk, text.slice(had.length));
    };
  }
}

function isSameText(one: ChatChunk, other: ChatChunk): boolean {
  return textFields.has(one.type) && isSame(one, other);
}

/** About the same thing. Times and the like, which a process that continues the reply notes anew, do not count. */
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

/** After a crash a model may have been asked again, and have said something else. */
export function replyChanged(): AndanteApiError {
  const message = "The reply has changed while the connection was lost: read the conversation again";
  return new AndanteApiError(message, { status: 0, code: "reply-changed" });
}
