// Builds the chat message of a streamed answer, at its end. Neighbouring deltas wait as one: the AI SDK runs every chunk
// through a queue of its own.
import { createUIMessageStream, type UIMessage, type UIMessageChunk } from "ai";
import type { Turn } from "../turn/turn.ts";
import { wordsFor } from "./chat-chunk.ts";
import { merge } from "./merge-deltas.ts";

export class MessageBuilder {
  readonly #turn: Turn;
  readonly #chunks: UIMessageChunk[] = [];

  constructor(turn: Turn) {
    this.#turn = turn;
  }

  add(chunk: UIMessageChunk): void {
    // Failures are told by `partial`; in the message they would be the client's to interpret.
    if (chunk.type === "error" || chunk.type === "abort") return;
    const last = this.#chunks.at(-1);
    const merged = last && merge(last, chunk);
    if (merged === undefined) this.#chunks.push(chunk);
    else this.#chunks[this.#chunks.length - 1] = merged;
  }

  /** The message as far as it goes. */
  async finish(): Promise<UIMessage | undefined> {
    let message: UIMessage | undefined;
    const stream = createUIMessageStream({
      originalMessages: [...this.#turn.history],
      generateId: () => this.#turn.messageId,
      onError: wordsFor,
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
      this.#turn.operation.logger.error({ err: error }, "an answer could not be made a message whole");
    }
    return message;
  }
}
