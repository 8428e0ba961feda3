// The language model: Google's where there is a key, else one that needs neither a key nor a network.
import { google } from "@ai-sdk/google";
import { demoModel } from "@andante/demo-model";
import type { LanguageModel } from "ai";

export const model: LanguageModel = process.env.GOOGLE_GENERATIVE_AI_API_KEY
  ? google("gemini-2.5-flash")
  : demoModel();
