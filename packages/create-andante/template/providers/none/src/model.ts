// The language model: one that needs neither a key nor a network. Any model of the AI SDK can take its place.
import { demoModel } from "@andante/demo-model";
import type { LanguageModel } from "ai";

export const model: LanguageModel = demoModel();
