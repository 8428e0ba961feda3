// Runs the reply of a chat to its end, in the AI SDK's UI message stream, with any number of readers or none.
import type { UIMessageChunk } from "ai";
import { InvalidOptionError } from "../../errors/index.ts";
import { replyErrorText } from "../call/model-failure.ts";
import { chatChunks } from "../reply/chat-chunk.ts";
import { MessageBuilder } from "../reply/message-builder.ts";
import { RunningReply } from "../reply/running-reply.ts";
import { replyFailure } from "../reply/stream-parts.ts";
import type { Turn } from "./turn.ts";

/** Starts the reply and returns its first reader. Resumable: it continues when that reader leaves, and others may attach. */
export async function runChat(
  turn: Turn,
  { resumable = turn.isKept }: { readonly resumable: boolean | undefined },
): Promise<AsyncIterableIterator<UIMessageChunk>> {
  if (resumable && !turn.isKept) {
    await turn.end();
    throw new InvalidOptionError({
      option: "resumable",
      problem: "only a reply in a conversation can be resumed",
    });
  }
  const reply = new RunningReply();
  const reader = reply.read(resumable ? undefined : () => turn.stop());
  if (resumable) turn.allowAttach(reply);
  // It never rejects: a failure is the last chunk.
  void fillReply(turn, reply);
  return reader;
}

/** Resolves when the reply is complete, kept and closed. */
export async function fillReply(turn: Turn, reply: RunningReply): Promise<void> {
  const builder = turn.isKept ? new MessageBuilder(turn) : undefined;
  let finished = false;
  const add = (chunk: UIMessageChunk) => {
    reply.append(chunk);
    builder?.add(chunk);
  };
  // No reader sees an end before it is committed.
  const held: UIMessageChunk[] = [];
  const hold = (chunk: UIMessageChunk) => {
    held.push(chunk);
    builder?.add(chunk);
  };
  const release = () => {
    for (const chunk of held.splice(0)) reply.append(chunk);
  };
  turn.operation.writer.readBy(add);
  turn.endsEarlyWith(() => builder?.finish());
  try {
    for await (const part of turn.parts()) {
      // Part by part: through the AI SDK's stream of chunks, three streams in a row, a delta took 76 µs instead of 49.
      if (part.type === "finish" || (part.type === "finish-step" && turn.isUncommitted))
        chatChunks(part, turn, hold);
      else {
        if (held.length > 0) release();
        chatChunks(part, turn, add);
      }
      if (part.type === "finish") finished = true;
    }
    if (finished) await turn.complete(await builder?.finish());
    release();
  } catch (error) {
    reply.append({ type: "error", errorText: replyErrorText(replyFailure(error, turn.operation)) });
  }
  await turn.end(() => builder?.finish());
  reply.close();
}
