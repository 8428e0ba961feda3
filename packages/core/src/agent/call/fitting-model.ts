// A language model whose prompts are made to fit: within the agent's `memory.tokens` in a long loop of tools, and once more
// when the provider reports that a prompt is longer than the model can read.
import type { LanguageModelV4, LanguageModelV4Message, LanguageModelV4Prompt } from "@ai-sdk/provider";
import { APICallError, wrapLanguageModel } from "ai";
import type { Logger } from "../../observe/log/logger.ts";

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

// Providers share no code for it: these are the words of the known ones.
const tooLong =
  /context[ _-]?(length|window|limit)|prompt is too long|too many (input )?tokens|maximum (context|number of (input )?tokens)|input (token count|is too long)|exceeds? the (maximum|limit).{0,40}token/i;

function isTooLong(error: unknown): boolean {
  if (!APICallError.isInstance(error)) return false;
  const { statusCode = 400, message, responseBody = "" } = error;
  return [400, 413, 422].includes(statusCode) && tooLong.test(`${message}\n${responseBody.slice(0, 10_000)}`);
}

// A prompt becomes shorter by results of tools, the oldest first, then by the oldest messages. A call and its result are
// never separated, and the last message of the user stays.

type ToolMessage = Extract<LanguageModelV4Message, { role: "tool" }>;

/** About how many tokens a prompt has: four characters are one, a file about a thousand. */
export function tokensOf(prompt: LanguageModelV4Prompt): number {
  return prompt.reduce((total, message) => total + tokensIn(message), 0);
}

function tokensIn(message: LanguageModelV4Message): number {
  const text = JSON.stringify(message.content, (_, value: unknown) =>
    value instanceof Uint8Array || isFileText(value) ? fileText : value,
  );
  return Math.ceil(text.length / 4);
}

const fileText = " ".repeat(4000);

/** A file in a prompt: base64, or an address with its bytes. */
function isFileText(value: unknown): boolean {
  return typeof value === "string" && /^(data:\S{9995}|[A-Za-z0-9+/=]{10000})/.test(value);
}

/** Leaves out results of tools, the oldest first, until the prompt has so many tokens; the newest results stay. */
export function withoutOldResults(prompt: LanguageModelV4Prompt, tokens: number): LanguageModelV4Prompt {
  let left = tokensOf(prompt) - tokens;
  if (left <= 0) return prompt;
  const newest = prompt.findLastIndex(({ role }) => role === "tool");
  return prompt.map((message, index) => {
    if (left <= 0 || message.role !== "tool" || index === newest) return message;
    const shorter = withoutResults(message);
    left -= Math.max(tokensIn(message) - tokensIn(shorter), 0);
    return shorter;
  });
}

function withoutResults(message: ToolMessage): ToolMessage {
  const content = message.content.map((part) =>
    part.type === "tool-result" ? { ...part, output: { type: "text" as const, value: leftOut } } : part,
  );
  return { ...message, content };
}

const leftOut = "[left out: the conversation is too long]";

/** About half of the prompt, for a model that finds the whole too long. */
export function halfOf(prompt: LanguageModelV4Prompt): LanguageModelV4Prompt {
  const tokens = Math.floor(tokensOf(prompt) / 2);
  const system = prompt.filter(({ role }) => role === "system");
  const rest = prompt.filter(({ role }) => role !== "system");
  const lastUser = rest.findLastIndex(({ role }) => role === "user");
  // From a user's message on, so that each reply has its question, and each result its call.
  const first = rest.findIndex(
    ({ role }, index) =>
      role === "user" && (index === lastUser || tokensOf([...system, ...rest.slice(index)]) <= tokens),
  );
  return withoutOldResults([...system, ...rest.slice(Math.max(first, 0))], tokens);
}
