// Runs the answer of a chat to its end, in the AI SDK's UI message stream, whoever reads it.
import type { Turn } from "../turn/turn.ts";
import { chatChunk, wordsFor } from "./chat-chunk.ts";
import { MessageBuilder } from "./message-builder.ts";
import type { RunningAnswer } from "./running-answer.ts";
import { failure, partsOf } from "./stream-parts.ts";

/** Fills `answer`; resolves when it is complete, kept and closed. */
export async function runChat(turn: Turn, answer: RunningAnswer): Promise<void> {
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
