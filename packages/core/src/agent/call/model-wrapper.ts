// The models of one call as the AI SDK gets them: bounded in time, counted when each call ends, and recorded where calls are.
import type { LanguageModelV4, LanguageModelV4Usage } from "@ai-sdk/provider";
import type { LanguageModel } from "ai";
import { recordedModel, usageOf } from "../durable/recorded-model.ts";
import { boundedModel } from "./bounded-model.ts";
import { distinctCalls } from "./distinct-calls.ts";
import { fittingModel } from "./fitting-model.ts";
import type { Operation } from "./operation.ts";

/** Wraps each model of the call once, however often the host's `prepareStep` returns it. `tokens` bounds a prompt, roughly. */
export function modelWrapper(
  timeout: number,
  operation: Operation,
  tokens?: number,
): (model: LanguageModel) => LanguageModelV4 {
  const { loop } = operation;
  const count = (usage: LanguageModelV4Usage) => operation.count(usageOf(usage));
  const wrapped = new Map<LanguageModel, LanguageModelV4>();
  return (model) => {
    const known = wrapped.get(model);
    if (known !== undefined) return known;
    const fitting = fittingModel(boundedModel(model, timeout, count), tokens, operation.logger);
    const distinct = distinctCalls(fitting);
    const made = loop === undefined ? distinct : recordedModel(distinct, loop, count);
    wrapped.set(model, made);
    return made;
  };
}
