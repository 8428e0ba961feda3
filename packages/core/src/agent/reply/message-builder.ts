// Builds the chat message of a streamed reply, at its end. Neighbouring deltas are merged first: the AI SDK runs every
// chunk through a queue of its own.
import { createUIMessageStream, type UIMessage, type UIMessageChunk } from "ai";
import { replyErrorText } from "../call/model-failure.ts";
import type { Operation } from "../call/operation.ts";
import { merge } from "./merge-deltas.ts";

/** The reply that the message is built for. */
export interface BuiltReply {
  readonly messageId: string;
  /** The messages before it; the last one is continued when it is the assistant's. */
  readonly history: readonly UIMessage[];
  readonly operation: Pick<Operation, "logger">;
}

export class MessageBuilder {
  readonly #reply: BuiltReply;
  readonly #chunks: UIMessageChunk[] = [];

  constructor(reply: BuiltReply) {
    this.#reply = reply;
  }

  add(chunk: UIMessageChunk): void {
    // A failed reply is marked `partial`; the message itself does not say why.
    if (chunk.type === "error" || chunk.type === "abort") return;
    const last = this.#chunks.at(-1);
    const merged = last && merge(last, chunk);
    // The AI SDK makes a data chunk itself the part, and changes that when another one replaces it.
    if (merged === undefined) this.#chunks.push(chunk.type.startsWith("data-") ? { ...chunk } : chunk);
    else this.#chunks[this.#chunks.length - 1] = merged;
  }

  /** The message, as far as it was built. Never throws. */
  async finish(): Promise<UIMessage | undefined> {
    const { messageId, history, operation } = this.#reply;
    let message: UIMessage | undefined;
    const stream = createUIMessageStream({
      originalMessages: [...history],
      generateId: () => messageId,
      onError: replyErrorText,
      execute: ({ writer }) => {
        for (const chunk of this.#chunks) writer.write(chunk);
      },
      onEnd: ({ responseMessage }) => {
        message = responseMessage;
      },
    });
    try {
      await stream.pipeTo(new WritableStream());
    } catch (error) {
      operation.logger.error({ err: error }, "the message of a reply could not be built completely");
    }
    return message;
  }
}
