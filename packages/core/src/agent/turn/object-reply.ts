// A reply that is an object: complete, or while it grows.
import { type ModelMessage, parsePartialJson, type UIMessage } from "ai";
import { ObjectMismatchError, ReplyWaitsError } from "../../errors/index.ts";
import { replyErrorText } from "../call/model-failure.ts";
import { waitsForTools } from "../messages/wait-part.ts";
import { askForObject, checkOrRetry } from "../reply/ask-for-object.ts";
import { chatChunks } from "../reply/chat-chunk.ts";
import { MessageBuilder } from "../reply/message-builder.ts";
import { type Part, replyFailure } from "../reply/stream-parts.ts";
import type { ObjectShape } from "../schema/object-shape.ts";
import { whyStopped } from "./text-turn.ts";
import type { Turn } from "./turn.ts";

/** One event of a streamed object; the last one is the complete object, or the error. */
export type ObjectPart<Value = unknown> =
  | { readonly type: "object-delta"; readonly object: unknown }
  | { readonly type: "object"; readonly object: Value }
  | { readonly type: "error"; readonly error: string };

/** The object that the model was asked for; one that does not fit after the second try is an error. */
export function objectReply<Value>(turn: Turn, shape: ObjectShape<Value>): Promise<Value> {
  const kept = turn.isKept ? new KeptObject(turn, shape) : undefined;
  return turn.run(
    async () => {
      const reply = await askForObject(turn.messages, shape, (messages) => ask(turn, shape, kept, messages));
      if (!reply.ok) throw new ObjectMismatchError(reply);
      await turn.complete(await kept?.message());
      return reply.value;
    },
    async () => kept?.message(),
  );
}

/** One try. */
async function ask(
  turn: Turn,
  shape: ObjectShape,
  kept: KeptObject | undefined,
  messages: ModelMessage[],
): Promise<string> {
  if (kept !== undefined) return kept.ask(messages);
  const { text } = await turn.generate(messages, shape);
  return text;
}

/** The message of an object in a conversation: read as a chat reads it, so that all of it is kept. */
class KeptObject {
  readonly #turn: Turn;
  readonly #shape: ObjectShape;
  #builder: MessageBuilder;

  constructor(turn: Turn, shape: ObjectShape) {
    this.#turn = turn;
    this.#shape = shape;
    this.#builder = new MessageBuilder(turn);
    turn.operation.writer.readBy((chunk) => this.#builder.add(chunk));
  }

  add(part: Part): void {
    chatChunks(part, this.#turn, (chunk) => this.#builder.add(chunk));
  }

  /** Tries again: the text of the last try is not kept. */
  async ask(messages: ModelMessage[]): Promise<string> {
    this.#builder = new MessageBuilder(this.#turn);
    let text = "";
    for await (const part of this.#turn.parts(this.#shape, messages)) {
      if (part.type === "error") throw part.error;
      if (part.type === "abort") throw whyStopped(this.#turn);
      if (part.type === "start-step") text = "";
      if (part.type === "text-delta") text += part.text;
      this.add(part);
    }
    checkWaits(this.#turn);
    return text;
  }

  /** The message of the last try, as far as it came. */
  message(): Promise<UIMessage | undefined> {
    return this.#builder.finish();
  }
}

/** The object each time it has grown, then complete. A reader that leaves stops the reply. */
export function streamObject<Value>(
  turn: Turn,
  shape: ObjectShape<Value>,
): AsyncIterableIterator<ObjectPart<Value>> {
  return stopWhenAbandoned(objectParts(turn, shape), () => turn.stop());
}

async function* objectParts<Value>(
  turn: Turn,
  shape: ObjectShape<Value>,
): AsyncGenerator<ObjectPart<Value>, undefined> {
  const kept = turn.isKept ? new KeptObject(turn, shape) : undefined;
  let text = "";
  turn.endsEarlyWith(() => kept?.message());
  try {
    for await (const { object, said } of growingObject(turn, shape, kept)) {
      text = said;
      if (object !== undefined) yield { type: "object-delta", object };
    }
    const reply = await checkOrRetry(text, turn.messages, shape, (messages) =>
      ask(turn, shape, kept, messages),
    );
    if (!reply.ok) throw new ObjectMismatchError(reply);
    // When it cannot be kept now, the end of the turn tries once more.
    await turn.complete(await kept?.message());
    yield { type: "object", object: reply.value };
  } catch (error) {
    yield { type: "error", error: replyErrorText(replyFailure(error, turn.operation)) };
  } finally {
    await turn.end(() => kept?.message());
  }
}

/**
 * The object as far as it is known, each time it has grown. Each update parses the whole text again, so there is one
 * for each 64th that the text has grown by: a long reply costs a multiple of its length, not its square.
 */
async function* growingObject(turn: Turn, shape: ObjectShape, kept: KeptObject | undefined) {
  let text = "";
  let looked = 0;
  let last = "";
  for await (const part of turn.parts(shape)) {
    if (part.type === "error") throw part.error;
    if (part.type === "abort") throw whyStopped(turn);
    kept?.add(part);
    if (part.type === "start-step") {
      text = "";
      looked = 0;
    }
    if (part.type !== "text-delta") continue;
    text += part.text;
    if (text.length < looked + looked / 64) continue;
    looked = text.length;
    const { value } = await parsePartialJson(text);
    const shown = JSON.stringify(value);
    const grown = value !== undefined && shown !== last;
    last = shown;
    yield { said: text, object: grown ? value : undefined };
  }
  checkWaits(turn);
  yield { said: text, object: undefined };
}

/** A reply whose tools wait is no object yet. */
function checkWaits({ operation }: Turn): void {
  if (waitsForTools(operation)) throw new ReplyWaitsError(operation);
}

/** `stop` is called when the reader leaves early; the generator then runs to its end, so that it can clean up. */
function stopWhenAbandoned<T>(generator: AsyncGenerator<T>, stop: () => void): AsyncIterableIterator<T> {
  let over = false;
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    async next() {
      const result = await generator.next();
      if (result.done === true) over = true;
      return result;
    },
    async return() {
      if (!over) stop();
      // `generator.return()` would run nothing at all when it has not begun.
      for (let done = over; !done; ) done = (await generator.next()).done === true;
      over = true;
      return { done: true, value: undefined };
    },
  };
}
