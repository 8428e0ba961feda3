// The models of one call as the AI SDK gets them: bounded in time, counted when each call ends, and recorded where calls are.
import type { LanguageModelV4, LanguageModelV4Usage } from "@ai-sdk/provider";
import type { LanguageModel } from "ai";
import type { DeltaShortcut } from "../durable/delta-shortcut.ts";
import { recordedModel, usageOf } from "../durable/recorded-model.ts";
import { boundedModel } from "./bounded-model.ts";
import { distinctCalls } from "./distinct-calls.ts";
import { fittingModel } from "./fitting-model.ts";
import type { Operation } from "./operation.ts";

/**
 * A function that wraps each model of the call once, however often the host's `prepareStep` hands it back. `tokens` is about
 * how long a prompt may be; the text of the replies takes the `shortcut`.
 */
export function modelWrapper(
  timeout: number,
  operation: Operation,
  {
    tokens,
    shortcut,
  }: { readonly tokens?: number | undefined; readonly shortcut?: DeltaShortcut | undefined },
): (model: LanguageModel) => LanguageModelV4 {
  const { loop } = operation;
  const count = (usage: LanguageModelV4Usage) => operation.count(usageOf(usage));
  const walked = (usage: LanguageModelV4Usage) => {
    // Its text comes from the record, past what counts for the shortcut.
    shortcut?.stop();
    count(usage);
  };
  const wrapped = new Map<LanguageModel, LanguageModelV4>();
  return (model) => {
    const known = wrapped.get(model);
    if (known !== undefined) return known;
    const fitting = fittingModel(boundedModel(model, timeout, count, shortcut), tokens, operation.logger);
    const distinct = distinctCalls(fitting);
    const made = loop === undefined ? distinct : recordedModel(distinct, loop, walked);
    wrapped.set(model, made);
    return made;
  };
}
