// The models of one call as the AI SDK gets them: bounded in time, counted when each call ends, and recorded where calls are.
import type { LanguageModelV4, LanguageModelV4Usage } from "@ai-sdk/provider";
import type { LanguageModel } from "ai";
import { recordedModel } from "../durable/recorded-model.ts";
import { boundedModel } from "./bounded-model.ts";
import type { Operation } from "./operation.ts";

/** A function that wraps each model of the call once, however often the host's `prepareStep` hands it back. */
export function modelWrapper(
  timeout: number,
  operation: Operation,
): (model: LanguageModel) => LanguageModelV4 {
  const { loop } = operation;
  const count = ({ inputTokens, outputTokens }: LanguageModelV4Usage) =>
    operation.count({ inputTokens: inputTokens.total, outputTokens: outputTokens.total });
  const wrapped = new Map<LanguageModel, LanguageModelV4>();
  return (model) => {
    const known = wrapped.get(model);
    if (known !== undefined) return known;
    const bounded = boundedModel(model, timeout, count);
    const made = loop === undefined ? bounded : recordedModel(bounded, loop, count);
    wrapped.set(model, made).set(made, made);
    return made;
  };
}
