// The parts of a streamed answer, fit to be told: failures in safe words, nothing of the provider's requests and headers.
import type { TextStreamPart, ToolSet } from "ai";
import { AndanteError } from "../../errors/index.ts";
import { toAgentError, toolErrorText } from "../model-failure.ts";
import type { Turn } from "../turn.ts";
import type { ObjectShape } from "./ask-for-object.ts";
import { plain } from "./plain.ts";

export type Part = TextStreamPart<ToolSet>;

/** The parts of an answer. A failure is the last part, whether the stream told it or broke. */
export async function* partsOf(turn: Turn, shape?: ObjectShape): AsyncGenerator<Part, undefined> {
  try {
    const { stream } = await turn.stream(shape);
    for await (const part of stream) {
      yield safe(part, turn);
      // The AI SDK goes on to tell how the broken step "finished".
      if (part.type === "error") return;
    }
  } catch (error) {
    yield failure(error, turn);
  }
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
