// The language model: OpenAI's where there is a key, else one that needs neither a key nor a network.
import { openai } from "@ai-sdk/openai";
import { demoModel } from "@andante/demo-model";
import type { LanguageModel } from "ai";

export const model: LanguageModel = process.env.OPENAI_API_KEY ? openai("gpt-5") : demoModel();
