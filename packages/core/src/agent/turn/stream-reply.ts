// A reply as callers of `stream` read it, part by part.
import { chatChunk } from "../reply/chat-chunk.ts";
import { MessageBuilder } from "../reply/message-builder.ts";
import { type StreamPart, viewPart } from "../reply/stream-part.ts";
import { type Part, replyFailure } from "../reply/stream-parts.ts";
import type { Turn } from "./turn.ts";

/** A reader that leaves stops the reply; the rest is then run through, so that the turn is kept and ended. */
export function streamReply(turn: Turn): AsyncIterableIterator<StreamPart> {
  const reader = new StreamReader(turn);
  // A reader may leave while it waits for the next part.
  let pending: Promise<unknown> = Promise.resolve();
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    next() {
      const next = reader.next();
      pending = next;
      return next;
    },
    async return() {
      if (!reader.over) turn.stop();
      await pending.catch(() => undefined);
      while (!reader.over) await reader.next();
      return end;
    },
  };
}

const end = { done: true as const, value: undefined };

/** Not a generator inside a guard: with those a delta cost 1.36 × the one of a bare route, without them 1.09 ×. */
class StreamReader {
  readonly #turn: Turn;
  readonly #parts: AsyncIterator<Part>;
  readonly #builder: MessageBuilder | undefined;
  over = false;

  constructor(turn: Turn) {
    this.#turn = turn;
    this.#parts = turn.parts();
    this.#builder = turn.isKept ? new MessageBuilder(turn) : undefined;
  }

  async next(): Promise<IteratorResult<StreamPart>> {
    while (!this.over) {
      const { done, value: part } = await this.#parts.next();
      if (done === true) {
        await this.#end();
        break;
      }
      if (this.#builder !== undefined) await this.#add(part, this.#builder);
      const value = viewPart(part);
      if (value !== undefined) return { done: false, value };
    }
    return end;
  }

  async #add(part: Part, builder: MessageBuilder): Promise<void> {
    const chunk = chatChunk(part, this.#turn);
    if (chunk !== undefined) builder.add(chunk);
    if (part.type !== "finish") return;
    try {
      await this.#turn.complete(await builder.finish());
    } catch (error) {
      await this.#end();
      throw replyFailure(error, this.#turn.operation);
    }
  }

  async #end(): Promise<void> {
    this.over = true;
    await this.#turn.end(() => this.#builder?.finish());
  }
}
