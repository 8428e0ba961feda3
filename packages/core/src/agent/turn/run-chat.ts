// Runs the answer of a chat to its end, in the AI SDK's UI message stream, whoever reads it.

import { chatChunk, wordsFor } from "../reply/chat-chunk.ts";
import { MessageBuilder } from "../reply/message-builder.ts";
import type { RunningReply } from "../reply/running-reply.ts";
import { failure, partsOf } from "../reply/stream-parts.ts";
import type { Turn } from "./turn.ts";

/** Fills `answer`; resolves when it is complete, kept and closed. */
export async function runChat(turn: Turn, answer: RunningReply): Promise<void> {
  const builder = turn.isKept ? new MessageBuilder(turn) : undefined;
  let complete = false;
  try {
    for await (const part of partsOf(turn)) {
      // Part by part: through the AI SDK's stream of chunks, three streams in a row, a delta took 76 µs instead of 49.
      const chunk = chatChunk(part, turn);
      if (chunk === undefined) continue;
      answer.append(chunk);
      builder?.add(chunk);
      if (part.type === "finish") complete = true;
    }
    // Before the stream ends: whoever has read it to its end finds the answer in the conversation.
    if (complete) await turn.keep(await builder?.finish(), false);
  } catch (error) {
    complete = false;
    answer.append({ type: "error", errorText: wordsFor(failure(error, turn).error) });
  }
  if (!complete) await turn.keepPartial(await builder?.finish());
  turn.end();
  answer.close();
}
