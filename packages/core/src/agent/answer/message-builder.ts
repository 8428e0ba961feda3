// Builds the chat message of a streamed answer from its parts, as they go by.
import { toUIMessageStream, type UIMessage } from "ai";
import type { Turn } from "../turn.ts";
import type { Part } from "./stream-parts.ts";

export class MessageBuilder {
  readonly #source: WritableStreamDefaultWriter<Part>;
  readonly #read: Promise<void>;
  #message: UIMessage | undefined;

  constructor(turn: Turn) {
    const { readable, writable } = new TransformStream<Part, Part>();
    this.#source = writable.getWriter();
    const chunks = toUIMessageStream({
      stream: readable,
      tools: turn.agent.tools,
      generateMessageId: () => turn.answerId,
      onEnd: ({ responseMessage }) => {
        this.#message = responseMessage;
      },
    });
    this.#read = chunks.pipeTo(new WritableStream());
    // Whoever finishes it learns of a failure.
    this.#read.catch(() => undefined);
  }

  async take(part: Part): Promise<void> {
    // Failures are told by `partial`; in the message they would be the client's to interpret.
    if (part.type !== "error" && part.type !== "abort") await this.#source.write(part);
  }

  /** The message as far as it goes. */
  async finish(): Promise<UIMessage | undefined> {
    await this.#source.close();
    await this.#read;
    return this.#message;
  }
}
