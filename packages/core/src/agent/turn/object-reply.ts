// An answer that is an object: whole, or growing line by line.
import { parsePartialJson } from "ai";
import { AndanteError, ObjectMismatchError, ReplyStoppedError } from "../../errors/index.ts";
import { askForObject, judge, type ObjectShape, repair } from "../reply/ask-for-object.ts";
import { stopWhenAbandoned } from "../reply/stop-when-abandoned.ts";
import { failure, partsOf } from "../reply/stream-parts.ts";
import type { Turn } from "./turn.ts";

/** One line of a streamed object; the last one is the whole object, or the error. */
export type ObjectPart =
  | { readonly type: "object-delta"; readonly object: unknown }
  | { readonly type: "object"; readonly object: unknown }
  | { readonly type: "error"; readonly error: string };

/** The object that the model was asked for; one that does not fit after the second try is an error. */
export async function objectReply(turn: Turn, shape: ObjectShape): Promise<unknown> {
  const answer = await askForObject(turn.messages, shape, async (messages) => {
    const result = await turn.generate(messages, shape);
    return result.text;
  });
  if (!answer.ok) throw new ObjectMismatchError(answer);
  await turn.keep(messageWith(turn.replyId, answer.text), false);
  return answer.value;
}

export function streamObject(turn: Turn, shape: ObjectShape): AsyncIterableIterator<ObjectPart> {
  return stopWhenAbandoned(tell(turn, shape), () => turn.stop(new ReplyStoppedError()));
}

async function* tell(turn: Turn, shape: ObjectShape): AsyncGenerator<ObjectPart, undefined> {
  let text = "";
  let complete = false;
  try {
    for await (const { object, said } of growingObject(turn, shape)) {
      text = said;
      if (object !== undefined) yield { type: "object-delta", object };
    }
    let answer = await judge(text, shape);
    if (!answer.ok) {
      answer = await repair(
        turn.messages,
        shape,
        answer,
        async (messages) => (await turn.generate(messages, shape)).text,
      );
    }
    if (!answer.ok) throw new ObjectMismatchError(answer);
    text = answer.text;
    await turn.keep(messageWith(turn.replyId, text), false);
    complete = true;
    yield { type: "object", object: answer.value };
  } catch (error) {
    const told = failure(error, turn).error;
    yield { type: "error", error: told instanceof AndanteError ? told.message : "The answer failed" };
  } finally {
    if (!complete) await turn.keepPartial(text === "" ? undefined : messageWith(turn.replyId, text));
    turn.end();
  }
}

/**
 * The object as far as it is known, each time it has grown. Every look at it reads the whole text again, so there is one
 * for each 64th that the text has grown by: a long answer costs a multiple of its length, not its square.
 */
async function* growingObject(turn: Turn, shape: ObjectShape) {
  let text = "";
  let looked = 0;
  let last = "";
  for await (const part of partsOf(turn, shape)) {
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
