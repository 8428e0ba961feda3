// A language model whose calls are recorded: a recorded one is not made again, and nothing follows from a new one before
// it is committed.
import type { LanguageModelV4, LanguageModelV4Usage } from "@ai-sdk/provider";
import { wrapLanguageModel } from "ai";
import { reportedDetails, type StoredUsage, wholeTokens } from "../../store/usage.ts";
import { toJson } from "../../values/json.ts";
import { withoutBytes } from "../../values/without-bytes.ts";
import type { DurableLoop } from "./durable-loop.ts";
import {
  hashOf,
  type ModelPart,
  PartCollector,
  partsOf,
  type RecordedReply,
  resultOf,
} from "./model-parts.ts";
import { type PartHandler, PartStream } from "./part-stream.ts";

/** Several models of which one replies. */
export interface SeveralModels {
  /** The name of the model that replies. */
  readonly replies: string;
  /** A recorded call of the reply was answered by the model of this name. */
  keep(name: string): void;
}

export interface RecordedModelParts {
  readonly agentId: string;
  /** Receives the usage of a recorded call. */
  walked(usage: StoredUsage): void;
  /** The usage of a new call with its money. */
  priced(model: string, usage: StoredUsage): StoredUsage;
  /** A new call has ended that cannot be recorded. */
  unrecorded?(model: string, usage: StoredUsage): void;
  readonly several?: SeveralModels | undefined;
}

export function recordedModel(
  model: LanguageModelV4,
  loop: DurableLoop,
  parts: RecordedModelParts,
): LanguageModelV4 {
  return wrapLanguageModel({
    model,
    middleware: {
      specificationVersion: "v4",
      wrapGenerate: async ({ model, params }) => {
        const call = new ModelCall(loop, model, parts, params.prompt);
        const known = call.walk();
        if (known !== undefined) return resultOf(known);
        await loop.passGate();
        const result = await answered(model.doGenerate(params), loop);
        const { structuredOutputText } = result;
        const whole = structuredOutputText === undefined ? {} : { structuredOutputText };
        await call.record({ parts: partsOf(result), ...whole }, result.usage);
        return result;
      },
      wrapStream: async ({ model, params }) => {
        const call = new ModelCall(loop, model, parts, params.prompt);
        const known = call.walk();
        if (known !== undefined) return { stream: streamOf(known.parts) };
        await loop.passGate();
        const result = await answered(model.doStream(params), loop);
        if (!(result.stream instanceof PartStream)) throw new TypeError("the model is not bounded");
        result.stream.handleWith(recordedParts(call));
        return result;
      },
    },
  });
}

async function answered<Result>(result: PromiseLike<Result>, loop: DurableLoop): Promise<Result> {
  try {
    return await result;
  } catch (error) {
    throw loop.refused(error);
  }
}

function nameOf({ provider, modelId }: LanguageModelV4): string {
  return `${provider}/${modelId}`;
}

/** One call of the model. */
class ModelCall {
  readonly #loop: DurableLoop;
  readonly #models: Pick<SeveralModels, "replies"> & Partial<SeveralModels>;
  readonly #parts: RecordedModelParts;
  readonly #prompt: string;
  readonly #startedAt: number;

  constructor(loop: DurableLoop, model: LanguageModelV4, parts: RecordedModelParts, prompt: unknown) {
    this.#loop = loop;
    this.#parts = parts;
    this.#models = parts.several ?? { replies: nameOf(model) };
    this.#prompt = hashOf(prompt);
    this.#startedAt = loop.recorder.now();
  }

  /** The record; without one it throws when no new call may begin. */
  walk(): RecordedReply | undefined {
    const known = this.#loop.walkModelCall(this.#prompt, (model, usage) => {
      this.#models.keep?.(model);
      if (usage !== undefined) this.#parts.walked(usage);
    });
    if (known === undefined) this.#loop.checkMayBegin();
    return known;
  }

  async record(reply: RecordedReply, usage: LanguageModelV4Usage): Promise<void> {
    const { replies: model } = this.#models;
    const { agentId, priced } = this.#parts;
    const call = { kind: "model" as const, model, agentId, prompt: this.#prompt };
    const output = toJson(withoutBytes(reply), `Reply of model ${model}`);
    const ended = { call, output, startedAt: this.#startedAt, usage: priced(model, usageOf(usage)) };
    try {
      await this.#loop.recordModelCall(ended, reply);
    } catch (error) {
      this.#parts.unrecorded?.(model, ended.usage);
      throw error;
    }
  }
}

/** The usage of one call. */
export function usageOf({ inputTokens, outputTokens }: LanguageModelV4Usage): StoredUsage {
  const counted = wholeTokens({ inputTokens: inputTokens.total, outputTokens: outputTokens.total });
  const details = reportedDetails(inputTokens.cacheRead, outputTokens.reasoning, inputTokens.cacheWrite);
  return { ...counted, calls: 1, ...details };
}

/**
 * The model's stream as it comes, except for parts with consequences: tool calls and the end wait for the commit, because
 * the AI SDK starts tools when it sees them.
 */
function recordedParts(call: ModelCall): PartHandler {
  const collected = new PartCollector();
  const held: ModelPart[] = [];
  return (part, passOn) => {
    if (part.type === "finish") return recordEnd(call, { collected, held }, part, passOn);
    if (part.type === "tool-call" && part.providerExecuted !== true) held.push(part);
    else {
      if (part.type !== "error") collected.add(part);
      passOn(part);
    }
    return undefined;
  };
}

async function recordEnd(
  call: ModelCall,
  { collected, held }: { readonly collected: PartCollector; readonly held: readonly ModelPart[] },
  end: Extract<ModelPart, { type: "finish" }>,
  passOn: (part: ModelPart) => void,
): Promise<void> {
  for (const each of [...held, end]) collected.add(each);
  try {
    await call.record({ parts: collected.parts }, end.usage);
  } catch (error) {
    return passOn({ type: "error", error });
  }
  for (const each of [...held, end]) passOn(each);
}

function streamOf(parts: readonly ModelPart[]): ReadableStream<ModelPart> {
  return new ReadableStream<ModelPart>({
    start(controller) {
      for (const part of parts) controller.enqueue(part);
      controller.close();
    },
  });
}
