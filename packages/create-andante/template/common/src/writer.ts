// The agent that writes drafts.
import { Agent } from "@andante/core";
import type { LanguageModel } from "ai";
import { model } from "./model.ts";

/** Tests pass their own model. */
export function createWriter(model: LanguageModel): Agent<"writer"> {
  return new Agent({
    id: "writer",
    purpose: "Writes short posts",
    model,
    instructions: "Write one paragraph, in plain words.",
  });
}

export const writer = createWriter(model);
