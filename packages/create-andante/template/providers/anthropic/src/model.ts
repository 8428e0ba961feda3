// The language model: Anthropic's where there is a key, else one that needs neither a key nor a network.
import { anthropic } from "@ai-sdk/anthropic";
import { demoModel } from "@andante/demo-model";
import type { LanguageModel } from "ai";

export const model: LanguageModel = process.env.ANTHROPIC_API_KEY
  ? anthropic("claude-sonnet-4-5")
  : demoModel();
