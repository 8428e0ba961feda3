// The offline demo model: a language model that needs no key and no network and answers by simple rules.
import {
  InvalidArgumentError,
  type LanguageModelV4,
  type LanguageModelV4CallOptions,
  type LanguageModelV4Content,
  type SharedV4Warning,
} from "@ai-sdk/provider";
import { answerCall, type DemoAnswer } from "./answer.ts";
import { joinPieces, splitPieces } from "./pieces.ts";
import { countPromptWords } from "./prompt.ts";
import { type DemoOutcome, streamAnswer, waitFor } from "./stream.ts";

/** The longest accepted `delay`: one minute between two words. */
const MAXIMUM_DELAY = 60_000;

export interface DemoModelOptions {
  /**
   * Milliseconds to wait between two words, to show streaming in a demo. At most 60000.
   * Default: 0, which sets no timer at all.
   */
  delay?: number;
  /**
   * Makes the id of a tool call. Default: derived from the messages, so that the same messages always give the same
   * id. Two conversations that start with the same words then share ids; give a generator where that matters.
   */
  generateId?: () => string;
}

/**
 * Makes the offline demo model, so that a first project, the documentation and the tests run with no provider.
 * It is not a real language model and does not understand what it reads: it repeats the message, follows a few
 * plain instructions (`say exactly "…"`, `count to 5`, `write about …`), calls a tool whose name is in the message,
 * and fills JSON schemas with valid made-up values. The same messages always give the same answer.
 */
export function demoModel(options: DemoModelOptions = {}): LanguageModelV4 {
  const delay = readDelay(options.delay);
  return {
    specificationVersion: "v4",
    provider: "andante",
    modelId: "demo",
    // Every URL is "supported": nothing is ever downloaded, since files are not read.
    supportedUrls: { "*/*": [/^[a-z][a-z0-9+.-]*:/] },
    async doGenerate(call) {
      call.abortSignal?.throwIfAborted();
      const outcome = decide(call, options);
      // Word by word, as in a stream, so that a long answer can be aborted half way.
      if (delay > 0) for (const _piece of outcome.pieces) await waitFor(delay, call.abortSignal);
      return {
        content: [contentOf(outcome)],
        finishReason: outcome.finishReason,
        usage: outcome.usage,
        warnings: outcome.warnings,
        response: { modelId: "demo" },
      };
    },
    async doStream(call) {
      call.abortSignal?.throwIfAborted();
      return { stream: streamAnswer(decide(call, options), delay, call.abortSignal) };
    },
  };
}

function readDelay(delay: number | undefined): number {
  if (delay === undefined) return 0;
  if (delay >= 0 && delay <= MAXIMUM_DELAY) return delay;
  throw new InvalidArgumentError({
    argument: "delay",
    message: `The demo model's delay must be a number of milliseconds from 0 to ${MAXIMUM_DELAY}, not ${delay}.`,
  });
}

function decide(call: LanguageModelV4CallOptions, options: DemoModelOptions): DemoOutcome {
  const answer = answerCall(call);
  const { pieces, cut } = answer.type === "text" ? limitText(answer.text, call) : wholeInput(answer);
  const inputWords = countPromptWords(call.prompt);
  return {
    pieces,
    toolCall:
      answer.type === "tool-call"
        ? { toolCallId: options.generateId?.() ?? answer.toolCallId, toolName: answer.toolName }
        : undefined,
    finishReason: {
      unified: answer.type === "tool-call" ? "tool-calls" : cut ? "length" : "stop",
      raw: undefined,
    },
    usage: {
      inputTokens: { total: inputWords, noCache: inputWords, cacheRead: undefined, cacheWrite: undefined },
      outputTokens: { total: pieces.length, text: pieces.length, reasoning: undefined },
    },
    warnings: warningsFor(call),
  };
}

function wholeInput(answer: DemoAnswer & { type: "tool-call" }): { pieces: string[]; cut: boolean } {
  return { pieces: splitPieces(answer.input, "json"), cut: false };
}

/** Applies the call's stop sequences, then its token limit (one word is one token). */
function limitText(text: string, call: LanguageModelV4CallOptions): { pieces: string[]; cut: boolean } {
  let end = text.length;
  for (const sequence of call.stopSequences ?? []) {
    const position = sequence === "" ? -1 : text.indexOf(sequence);
    if (position >= 0 && position < end) end = position;
  }
  const pieces = splitPieces(text.slice(0, end), call.responseFormat?.type === "json" ? "json" : "text");
  const limit = call.maxOutputTokens ?? Number.POSITIVE_INFINITY;
  return { pieces: pieces.slice(0, limit), cut: pieces.length > limit };
}

function contentOf(outcome: DemoOutcome): LanguageModelV4Content {
  const text = joinPieces(outcome.pieces);
  return outcome.toolCall === undefined
    ? { type: "text", text }
    : { type: "tool-call", ...outcome.toolCall, input: text };
}

function warningsFor(call: LanguageModelV4CallOptions): SharedV4Warning[] {
  return (call.tools ?? [])
    .filter((tool) => tool.type === "provider")
    .map((tool) => ({
      type: "unsupported",
      feature: `provider tool ${tool.name}`,
      details: "The demo model runs offline and calls only function tools.",
    }));
}
