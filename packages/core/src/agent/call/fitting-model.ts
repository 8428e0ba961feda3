// A language model whose prompts are made to fit: within the agent's `memory.tokens` in a long loop of tools, and once more
// when the provider says that a prompt is longer than the model can read.
import type { LanguageModelV4, LanguageModelV4Prompt } from "@ai-sdk/provider";
import { APICallError, wrapLanguageModel } from "ai";
import type { Logger } from "../../observe/log/logger.ts";
import { halfOf, withoutOldResults } from "./shorten-prompt.ts";

export function fittingModel(
  model: LanguageModelV4,
  tokens: number | undefined,
  logger: Logger,
): LanguageModelV4 {
  const shorten = (prompt: LanguageModelV4Prompt) =>
    tokens === undefined ? prompt : withoutOldResults(prompt, tokens);
  const ask = async <Result>(
    prompt: LanguageModelV4Prompt,
    call: (prompt: LanguageModelV4Prompt) => PromiseLike<Result>,
  ): Promise<Result> => {
    const fitting = shorten(prompt);
    try {
      return await call(fitting);
    } catch (error) {
      if (!isTooLong(error)) throw error;
      logger.warn({ err: error }, "the prompt is too long for the model; asking once more with half of it");
      return await call(halfOf(fitting));
    }
  };
  return wrapLanguageModel({
    model,
    middleware: {
      specificationVersion: "v4",
      wrapGenerate: ({ model, params }) =>
        ask(params.prompt, (prompt) => model.doGenerate({ ...params, prompt })),
      wrapStream: ({ model, params }) =>
        ask(params.prompt, (prompt) => model.doStream({ ...params, prompt })),
    },
  });
}

// Providers share no code for it: these are the words of those that were looked at.
const tooLong =
  /context[ _-]?(length|window|limit)|prompt is too long|too many (input )?tokens|maximum (context|number of (input )?tokens)|input (token count|is too long)|exceeds? the (maximum|limit).{0,40}token/i;

function isTooLong(error: unknown): boolean {
  if (!APICallError.isInstance(error)) return false;
  const { statusCode, message, responseBody = "" } = error;
  if (statusCode !== undefined && ![400, 413, 422].includes(statusCode)) return false;
  return tooLong.test(message) || tooLong.test(responseBody.slice(0, 10_000));
}
