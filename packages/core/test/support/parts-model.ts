// A language model for tests that streams given parts, call by call.
import type { LanguageModelV4, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { controlledModel } from "./controlled-model.ts";

export const finish: LanguageModelV4StreamPart = {
  type: "finish",
  finishReason: { unified: "stop", raw: undefined },
  usage: {
    inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: 1, text: 1, reasoning: undefined },
  },
};

export const toolCalls: LanguageModelV4StreamPart = {
  ...finish,
  finishReason: { unified: "tool-calls", raw: undefined },
};

/** Streams these parts call by call, each after the promise of `before`. */
export function modelOf(
  calls: readonly (readonly LanguageModelV4StreamPart[])[],
  before: (index: number) => unknown = () => undefined,
): LanguageModelV4 {
  let number = 0;
  async function* stream(parts: readonly LanguageModelV4StreamPart[]) {
    for (const [index, part] of parts.entries()) {
      await before(index);
      yield part;
    }
  }
  const model = controlledModel(() => ({}));
  return { ...model, doStream: async () => ({ stream: ReadableStream.from(stream(calls[number++] ?? [])) }) };
}

/** One text in these pieces. */
export const deltas = (...texts: string[]): LanguageModelV4StreamPart[] => [
  { type: "text-start", id: "1" },
  ...texts.map((delta) => ({ type: "text-delta" as const, id: "1", delta })),
  { type: "text-end", id: "1" },
];

export const turnOfLoop = () => new Promise((resolve) => setImmediate(resolve));
