// The providers of these tests: a real package each, pointed at a server on loopback.
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { Agent } from "@andante/core";
import { type LanguageModel, tool } from "ai";
import { z } from "zod";
import { anthropicWire } from "./anthropic-wire.ts";
import { openaiWire } from "./openai-wire.ts";
import { canary, type Wire } from "./provider-server.ts";

export interface Provider {
  readonly name: string;
  readonly wire: Wire;
  readonly model: (url: string) => LanguageModel;
}

const apiKey = `sk-${canary}`;

export const openai: Provider = {
  name: "@ai-sdk/openai-compatible",
  wire: openaiWire,
  model: (url) =>
    createOpenAICompatible({
      name: "loopback",
      baseURL: url,
      apiKey,
      includeUsage: true,
      supportsStructuredOutputs: true,
    })("loopback-1"),
};

export const anthropic: Provider = {
  name: "@ai-sdk/anthropic",
  wire: anthropicWire,
  model: (url) => createAnthropic({ baseURL: url, apiKey })("claude-sonnet-5"),
};

export const providers: readonly Provider[] = [openai, anthropic];

/** The arguments of the tool `weather`. */
export const asked: unknown[] = [];

/** The agents of a server: `patient` tries again, the others do not. */
export function agentsOn(model: LanguageModel, deadModel: LanguageModel) {
  const tools = {
    weather: tool({
      description: "The weather of a town",
      inputSchema: z.object({ town: z.string() }),
      execute: ({ town }) => {
        asked.push(town);
        return { town, degrees: 21 };
      },
    }),
  };
  return {
    helper: new Agent({ id: "helper", instructions: "Be brief.", model, tools, maxRetries: 0 }),
    patient: new Agent({ id: "patient", model, maxRetries: 2 }),
    hasty: new Agent({ id: "hasty", model, maxRetries: 0, timeout: 60 }),
    dead: new Agent({ id: "dead", model: deadModel, maxRetries: 0 }),
  };
}
