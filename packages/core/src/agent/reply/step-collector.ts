// Collects the steps of a streamed reply, for callers who get it as a whole.
import type { FinishReason } from "ai";
import { type AgentUsage, countedTokens } from "../call/operation.ts";
import type { Part } from "./stream-parts.ts";
import { type StepView, type TextReply, viewCall, viewResult } from "./text-reply.ts";

type Growing = {
  -readonly [Field in keyof StepView]: StepView[Field] extends readonly (infer Each)[]
    ? Each[]
    : StepView[Field];
};

export class StepCollector {
  readonly #steps: Growing[] = [];
  #finishReason: FinishReason = "other";

  add(part: Part): void {
    if (part.type === "start-step") this.#steps.push(emptyStep());
    if (part.type === "finish") this.#finishReason = part.finishReason;
    const step = this.#steps.at(-1);
    if (step === undefined) return;
    switch (part.type) {
      case "text-delta":
        step.text += part.text;
        return;
      case "tool-call":
        step.toolCalls.push(viewCall(part));
        return;
      case "tool-result":
        if (part.preliminary !== true) step.toolResults.push(viewResult(part));
        return;
      case "finish-step":
        step.finishReason = part.finishReason;
        step.usage = countedTokens(part.usage);
        return;
      default:
      // The other parts have no place in a step.
    }
  }

  reply(usage: AgentUsage): TextReply {
    const steps = this.#steps;
    return {
      text: steps.at(-1)?.text ?? "",
      usage,
      finishReason: this.#finishReason,
      toolCalls: steps.flatMap((step) => step.toolCalls),
      toolResults: steps.flatMap((step) => step.toolResults),
      steps,
    };
  }
}

function emptyStep(): Growing {
  const usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };
  return { text: "", finishReason: "other", usage, toolCalls: [], toolResults: [] };
}
