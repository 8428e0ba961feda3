// Streams a decided answer as the parts of the language model specification, piece by piece.
import { ReadableStream } from "node:stream/web";
import { setTimeout as wait } from "node:timers/promises";
import type {
  LanguageModelV4FinishReason,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
  SharedV4Warning,
} from "@ai-sdk/provider";
import { joinPieces } from "./pieces.ts";

/** What one call comes to, before it is returned whole or streamed. */
export interface DemoOutcome {
  /** The text, or the JSON input of the tool call, in the pieces in which it streams. */
  pieces: readonly string[];
  toolCall: { toolCallId: string; toolName: string } | undefined;
  finishReason: LanguageModelV4FinishReason;
  usage: LanguageModelV4Usage;
  warnings: SharedV4Warning[];
}

export function streamAnswer(
  outcome: DemoOutcome,
  delay: number,
  signal: AbortSignal | undefined,
): ReadableStream<LanguageModelV4StreamPart> {
  return ReadableStream.from(parts(outcome, delay, signal));
}

async function* parts(
  outcome: DemoOutcome,
  delay: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<LanguageModelV4StreamPart> {
  yield { type: "stream-start", warnings: outcome.warnings };
  yield { type: "response-metadata", modelId: "demo" };
  const id = outcome.toolCall?.toolCallId ?? "text-1";
  if (outcome.toolCall === undefined) yield { type: "text-start", id };
  else yield { type: "tool-input-start", id, toolName: outcome.toolCall.toolName };
  for (const delta of outcome.pieces) {
    signal?.throwIfAborted();
    if (delay > 0) await waitFor(delay, signal);
    yield { type: outcome.toolCall === undefined ? "text-delta" : "tool-input-delta", id, delta };
  }
  signal?.throwIfAborted();
  if (outcome.toolCall === undefined) yield { type: "text-end", id };
  else {
    yield { type: "tool-input-end", id };
    yield { type: "tool-call", ...outcome.toolCall, input: joinPieces(outcome.pieces) };
  }
  yield { type: "finish", finishReason: outcome.finishReason, usage: outcome.usage };
}

/** Waits; when the signal aborts first, throws the signal's own reason, as `fetch` does. */
export async function waitFor(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await wait(milliseconds, undefined, signal === undefined ? {} : { signal });
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
}
