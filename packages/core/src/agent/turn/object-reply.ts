// A reply that is an object: complete, or while it grows.
import { parsePartialJson } from "ai";
import { ObjectMismatchError } from "../../errors/index.ts";
import { replyErrorText } from "../call/model-failure.ts";
import { askForObject, checkOrRetry } from "../reply/ask-for-object.ts";
import { stopWhenAbandoned } from "../reply/stop-when-abandoned.ts";
import { replyFailure } from "../reply/stream-parts.ts";
import type { ObjectShape } from "../schema/object-shape.ts";
import type { Turn } from "./turn.ts";

/** One event of a streamed object; the last one is the complete object, or the error. */
export type ObjectPart<Value = unknown> =
  | { readonly type: "object-delta"; readonly object: unknown }
  | { readonly type: "object"; readonly object: Value }
  | { readonly type: "error"; readonly error: string };

/** The object that the model was asked for; one that does not fit after the second try is an error. */
export function objectReply<Value>(turn: Turn, shape: ObjectShape<Value>): Promise<Value> {
  return turn.run(async () => {
    const reply = await askForObject(turn.messages, shape, async (messages) => {
      const { text } = await turn.generate(messages, shape);
      return text;
    });
    if (!reply.ok) throw new ObjectMismatchError(reply);
    await turn.complete(messageWith(turn.messageId, reply.text));
    return reply.value;
  });
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
  let text = "";
  try {
    for await (const { object, said } of growingObject(turn, shape)) {
      text = said;
      if (object !== undefined) yield { type: "object-delta", object };
    }
    const reply = await checkOrRetry(text, turn.messages, shape, async (messages) => {
      const result = await turn.generate(messages, shape);
      return result.text;
    });
    if (!reply.ok) throw new ObjectMismatchError(reply);
    // When this one cannot be kept now, the end of the turn tries once more: not with the first one, which did not fit.
    text = reply.text;
    await turn.complete(messageWith(turn.messageId, text));
    yield { type: "object", object: reply.value };
  } catch (error) {
    yield { type: "error", error: replyErrorText(replyFailure(error, turn.operation)) };
  } finally {
    await turn.end(() => (text === "" ? undefined : messageWith(turn.messageId, text)));
  }
}

/**
 * The object as far as it is known, each time it has grown. Each update parses the whole text again, so there is one
 * for each 64th that the text has grown by: a long reply costs a multiple of its length, not its square.
 */
async function* growingObject(turn: Turn, shape: ObjectShape) {
  let text = "";
  let looked = 0;
  let last = "";
  for await (const part of turn.parts(shape)) {
    if (part.type === "error") throw part.error;
    if (part.type === "abort") turn.operation.signal.throwIfAborted();
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
  yield { said: text, object: undefined };
}

function messageWith(id: string, text: string) {
  return { id, role: "assistant" as const, parts: [{ type: "text" as const, text, state: "done" as const }] };
}
