// Runs the answer of a chat to its end, in the AI SDK's UI message stream, whoever reads it.
import { toUIMessageStream, type UIMessage } from "ai";
import { AndanteError } from "../../errors/index.ts";
import type { Turn } from "../turn.ts";
import type { RunningAnswer } from "./running-answer.ts";
import { failure, partsOf } from "./stream-parts.ts";

/** Fills `answer`; resolves when it is complete, kept and closed. */
export async function runChat(turn: Turn, answer: RunningAnswer): Promise<void> {
  let message: UIMessage | undefined;
  let complete = false;
  try {
    const chunks = toUIMessageStream({
      stream: ReadableStream.from(partsOf(turn)),
      tools: turn.agent.tools,
      originalMessages: [...turn.history],
      generateMessageId: () => turn.answerId,
      onError: wordsFor,
      onEnd: ({ responseMessage, outcome }) => {
        message = responseMessage;
        complete = outcome.status === "completed";
      },
    });
    for await (const chunk of chunks) answer.append(chunk);
    // Before the stream ends: whoever has read it to its end finds the answer in the conversation.
    if (complete) await turn.keep(message, false);
  } catch (error) {
    complete = false;
    answer.append({ type: "error", errorText: wordsFor(failure(error, turn).error) });
  }
  if (!complete) await turn.keepPartial(message);
  turn.end();
  answer.close();
}

/** Failures are our own errors by now, those of tools are texts. */
function wordsFor(error: unknown): string {
  if (error instanceof AndanteError) return error.message;
  return typeof error === "string" ? error : "The answer failed";
}
