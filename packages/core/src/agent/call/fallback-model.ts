// One language model made of several: a later one is asked where those before it fail before their first text. The model
// that replies first makes all further calls of the reply, also when the reply continues after a crash.
import type { LanguageModelV4, LanguageModelV4CallOptions } from "@ai-sdk/provider";
import type { LanguageModel } from "ai";
import { BudgetUsedUpError, DefinitionError, ModelTimeoutError } from "../../errors/index.ts";
import type { Logger } from "../../observe/log/logger.ts";
import { checkKnownOptions, type KnownOptions } from "../../values/check-options.ts";
import { type Duration, parseDuration } from "../../values/duration.ts";
import { propertyOf } from "../../values/fields.ts";
import { LoopLeftError } from "../../values/loop-left-error.ts";
import type { ModelPart } from "../durable/model-parts.ts";
import { PartStream } from "../durable/part-stream.ts";

/** Why a model did not reply: its provider has no capacity, failed, took too long, or refused the credentials. */
export type FallbackReason = "busy" | "failed" | "timeout" | "auth";

export interface FallbackOptions {
  /** The failures after which the next model is asked. Default: all of them. */
  readonly on?: readonly FallbackReason[];
  /** How long a model may take until its first text, the last one excepted. Default: the agent's `timeout`. */
  readonly after?: Duration;
}

const knownFallback: KnownOptions<FallbackOptions> = { on: true, after: true };
const reasons: readonly FallbackReason[] = ["busy", "failed", "timeout", "auth"];

/** Throws for options that could never work. */
export function checkFallback(fallback: FallbackOptions | undefined, where: string): void {
  if (fallback === undefined) return;
  checkKnownOptions(`${where}, fallback`, fallback, knownFallback);
  const { on = [], after } = fallback;
  if (after !== undefined) parseDuration(after, `${where}, fallback.after`);
  if (Array.isArray(on) && on.every((reason) => reasons.includes(reason))) return;
  throw new DefinitionError({ where, problem: `fallback.on must be a list of ${reasons.join(", ")}` });
}

/** The provider and name of a model. */
export function modelName(model: LanguageModel): string {
  return typeof model === "string" ? model : `${model.provider}/${model.modelId}`;
}

/** Several models as one. */
export interface FallbackModel extends LanguageModelV4 {
  /** The name of the model that replies; of the first one before that is known. */
  readonly replies: string;
  /** A recorded call of the reply was answered by the model of this name. */
  keep(name: string): void;
}

export function fallbackModel(
  models: readonly [LanguageModelV4, ...LanguageModelV4[]],
  { on = reasons, after }: FallbackOptions,
  logger: Logger,
): FallbackModel {
  const wait = after === undefined ? undefined : parseDuration(after, "fallback.after");
  let kept: LanguageModelV4 | undefined;
  const ask = async <Result>(
    call: LanguageModelV4CallOptions,
    begin: (model: LanguageModelV4, call: LanguageModelV4CallOptions) => Promise<Result>,
  ): Promise<Result> => {
    for (const [index, model] of models.entries()) {
      const isLast = index === models.length - 1;
      try {
        const result = await withinTime(isLast ? undefined : wait, call, (bounded) => begin(model, bounded));
        kept = model;
        return result;
      } catch (error) {
        // A budget that is used up, or a wait for a person, is not the model's failure.
        const isOurs = error instanceof LoopLeftError || error instanceof BudgetUsedUpError;
        const reason = call.abortSignal?.aborted === true || isOurs ? undefined : reasonOf(error);
        if (isLast || reason === undefined || !on.includes(reason)) throw error;
        const fields = { err: error, model: modelName(model), reason };
        logger.warn(fields, "the model did not reply; the next one is asked");
      }
    }
    throw new TypeError("there is no model");
  };
  return {
    specificationVersion: "v4",
    provider: models[0].provider,
    modelId: models[0].modelId,
    // Files are loaded here: a provider may not know the addresses that another one loads by itself.
    supportedUrls: {},
    get replies() {
      return modelName(kept ?? models[0]);
    },
    keep(name) {
      kept ??= models.find((model) => modelName(model) === name);
    },
    doGenerate: (call) =>
      kept === undefined
        ? ask(call, async (model, bounded) => model.doGenerate(bounded))
        : kept.doGenerate(call),
    doStream: (call) => (kept === undefined ? ask(call, begun) : kept.doStream(call)),
  };
}

/** Calls the model within so many milliseconds. */
async function withinTime<Result>(
  wait: number | undefined,
  call: LanguageModelV4CallOptions,
  begin: (call: LanguageModelV4CallOptions) => Promise<Result>,
): Promise<Result> {
  if (wait === undefined) return begin(call);
  const late = new AbortController();
  const expired = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    const error = new ModelTimeoutError({ timeout: wait });
    expired.reject(error);
    late.abort(error);
  }, wait);
  const signals = [late.signal, call.abortSignal].filter((signal) => signal !== undefined);
  try {
    return await Promise.race([begin({ ...call, abortSignal: AbortSignal.any(signals) }), expired.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** The stream of a model once it has begun to reply; rejects with an error that comes before that. */
async function begun(model: LanguageModelV4, call: LanguageModelV4CallOptions) {
  const result = await model.doStream(call);
  const reader = result.stream.getReader();
  const first: ModelPart[] = [];
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    if (value.type === "error") {
      reader.cancel(value.error).catch(() => undefined);
      throw value.error;
    }
    first.push(value);
    if (!isBeforeText(value)) break;
  }
  return { ...result, stream: restOf(first, reader) };
}

/** The parts that were read, and those that follow. */
function restOf(first: readonly ModelPart[], reader: ReadableStreamDefaultReader<ModelPart>): PartStream {
  const source = new ReadableStream<ModelPart>(
    {
      start: (controller) => {
        for (const part of first) controller.enqueue(part);
      },
      pull: async (controller) => {
        const { done, value } = await reader.read();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
  return PartStream.passing(source);
}

/** True for a part that shows nothing of the reply. */
function isBeforeText(part: ModelPart): boolean {
  switch (part.type) {
    case "stream-start":
    case "response-metadata":
    case "text-start":
    case "reasoning-start":
    case "raw":
    case "ping":
      return true;
    case "text-delta":
    case "reasoning-delta":
      return part.delta === "";
    default:
      return false;
  }
}

/** Providers report these as busy: too many requests, and no capacity. */
const busy: readonly unknown[] = [429, 503, 529];

function reasonOf(error: unknown): FallbackReason {
  if (error instanceof ModelTimeoutError) return "timeout";
  const status = propertyOf(error, "statusCode");
  if (busy.includes(status)) return "busy";
  return status === 401 || status === 403 ? "auth" : "failed";
}
