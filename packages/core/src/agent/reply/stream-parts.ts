// The parts of a streamed answer, fit to be told: failures in safe words, nothing of the provider's requests and headers.
import type { TextStreamPart, ToolSet } from "ai";
import { AndanteError } from "../../errors/index.ts";
import { toAgentError, toolErrorText } from "../call/model-failure.ts";
import type { Turn } from "../turn/turn.ts";
import type { ObjectShape } from "./ask-for-object.ts";
import { plain } from "./plain-json.ts";

export type Part = TextStreamPart<ToolSet>;

const end = { done: true as const, value: undefined };

/**
 * The parts of an answer. A failure is the last part, whether the stream told it or broke.
 *
 * Not a generator, like the other iterators that every delta passes: each costs three promises a delta.
 */
export function partsOf(turn: Turn, shape?: ObjectShape): AsyncIterableIterator<Part> {
  let reader: ReadableStreamDefaultReader<Part> | undefined;
  let over = false;
  const leave = () => {
    over = true;
    reader?.cancel().catch(() => undefined);
    return end;
  };
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    async next() {
      if (over) return end;
      try {
        reader ??= (await turn.stream(shape)).stream.getReader();
        const { done, value } = await reader.read();
        if (done) return leave();
        // The AI SDK goes on to tell how the broken step "finished".
        if (value.type === "error") leave();
        return { done: false, value: safe(value, turn) };
      } catch (error) {
        leave();
        return { done: false, value: failure(error, turn) };
      }
    },
    return: async () => leave(),
  };
}

function safe(part: Part, turn: Turn): Part {
  switch (part.type) {
    case "error":
      return failure(part.error, turn);
    case "abort": {
      const { reason } = turn.operation.signal;
      return reason instanceof AndanteError ? { type: "abort", reason: reason.message } : { type: "abort" };
    }
    case "tool-error":
      turn.operation.logger.warn({ err: part.error, toolName: part.toolName }, "a tool of the agent failed");
      return { ...part, error: toolErrorText(part.error) };
    case "tool-call":
      return "error" in part && part.error !== undefined ? { ...part, error: "The call is not valid" } : part;
    case "tool-result":
      return { ...part, output: plain(part.output) };
    default:
      return part;
  }
}

export function failure(thrown: unknown, turn: Turn): Extract<Part, { type: "error" }> {
  const error = toAgentError(thrown, turn.operation.signal);
  turn.operation.logger.warn({ err: error, agentId: turn.agentId }, "an answer of the agent failed");
  return { type: "error", error };
}
