// Chooses the language model: a real provider when a key is set, else the offline demo model.
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { demoModel } from "@andante/demo-model";
import type { LanguageModel } from "ai";

/** The environment variables about models. */
export type Environment = Readonly<Record<string, string | undefined>>;

export interface ChosenModel {
  readonly model: LanguageModel;
  /** The example's line about the model. */
  readonly label: string;
}

/**
 * - OPENAI_BASE_URL (any server that speaks OpenAI's protocol; OPENAI_API_KEY if it wants one)
 * - OPENAI_API_KEY
 * - ANTHROPIC_API_KEY
 * - otherwise: the offline demo model
 *
 * MODEL names the model; each provider has a default.
 */
export function chooseModel(environment: Environment): ChosenModel {
  const {
    OPENAI_BASE_URL: baseURL,
    OPENAI_API_KEY: openaiKey,
    ANTHROPIC_API_KEY: anthropicKey,
    MODEL,
  } = environment;
  if (baseURL) {
    const provider = createOpenAICompatible({
      name: "openai-compatible",
      baseURL,
      ...(openaiKey && { apiKey: openaiKey }),
    });
    const name = MODEL ?? "default";
    return { model: provider(name), label: `${name} at ${baseURL}` };
  }
  if (openaiKey) {
    const name = MODEL ?? "gpt-5";
    return { model: createOpenAI({ apiKey: openaiKey })(name), label: `OpenAI ${name}` };
  }
  if (anthropicKey) {
    const name = MODEL ?? "claude-sonnet-5";
    return { model: createAnthropic({ apiKey: anthropicKey })(name), label: `Anthropic ${name}` };
  }
  return {
    model: demoModel(),
    label: "the offline demo model (set OPENAI_API_KEY or ANTHROPIC_API_KEY for a real one)",
  };
}
