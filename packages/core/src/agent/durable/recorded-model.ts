// A language model whose calls are recorded: a recorded one is not made again, and nothing follows from a new one before
// it is committed.
import type { LanguageModelV4, LanguageModelV4Usage } from "@ai-sdk/provider";
import { wrapLanguageModel } from "ai";
import { type StoredUsage, usageDetails, wholeTokens } from "../../store/usage.ts";
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

/** `walked` is told what a call has used that is not made again. */
export function recordedModel(
  model: LanguageModelV4,
  loop: DurableLoop,
  walked: (usage: LanguageModelV4Usage) => void,
): LanguageModelV4 {
  return wrapLanguageModel({
    model,
    middleware: {
      specificationVersion: "v4",
      wrapGenerate: async ({ model, params }) => {
        const call = new ModelCall(loop, model, params.prompt);
        const known = call.walk();
        if (known !== undefined) {
          const result = resultOf(known);
          walked(result.usage);
          return result;
        }
        await loop.passGate();
        const result = await model.doGenerate(params);
        const { structuredOutputText } = result;
        const whole = structuredOutputText === undefined ? {} : { structuredOutputText };
        await call.record({ parts: partsOf(result), ...whole }, result.usage);
        return result;
      },
      wrapStream: async ({ model, params }) => {
        const call = new ModelCall(loop, model, params.prompt);
        const known = call.walk();
        if (known !== undefined) {
          for (const part of known.parts) if (part.type === "finish") walked(part.usage);
          return { stream: streamOf(known.parts) };
        }
        await loop.passGate();
        const result = await model.doStream(params);
        return { ...result, stream: recordedStream(result.stream, call) };
      },
    },
  });
}

/** One call of the model. */
class ModelCall {
  readonly #loop: DurableLoop;
  readonly #model: string;
  readonly #prompt: string;
  readonly #startedAt: number;

  constructor(loop: DurableLoop, { provider, modelId }: LanguageModelV4, prompt: unknown) {
    this.#loop = loop;
    this.#model = `${provider}/${modelId}`;
    this.#prompt = hashOf(prompt);
    this.#startedAt = loop.recorder.now();
  }

  /** What is recorded; without a record it throws when nothing new may begin. */
  walk(): RecordedReply | undefined {
    const known = this.#loop.walkModelCall(this.#prompt);
    if (known === undefined) this.#loop.checkMayBegin();
    return known;
  }

  async record(reply: RecordedReply, usage: LanguageModelV4Usage): Promise<void> {
    const call = { kind: "model" as const, model: this.#model, prompt: this.#prompt };
    const output = toJson(withoutBytes(reply), `Reply of model ${this.#model}`);
    const ended = { call, output, startedAt: this.#startedAt, usage: usageOf(usage) };
    await this.#loop.recordModelCall(ended, reply);
  }
}

/** What one call has used. */
export function usageOf({ inputTokens, outputTokens }: LanguageModelV4Usage): StoredUsage {
  const counted = wholeTokens({ inputTokens: inputTokens.total, outputTokens: outputTokens.total });
  return { ...counted, calls: 1, ...usageDetails(inputTokens.cacheRead, outputTokens.reasoning) };
}

/**
 * The model's stream as it comes, except for what makes others act: tool calls and the end wait for the commit, because
 * the AI SDK starts tools when it sees them.
 */
function recordedStream(source: ReadableStream<ModelPart>, call: ModelCall): ReadableStream<ModelPart> {
  const reader = source.getReader();
  const collected = new PartCollector();
  const held: ModelPart[] = [];
  return new ReadableStream<ModelPart>(
    {
      pull: async (controller) => {
        for (;;) {
          const { done, value: part } = await reader.read();
          if (done) return controller.close();
          if (part.type === "tool-call" && part.providerExecuted !== true) {
            held.push(part);
            continue;
          }
          if (part.type === "finish") {
            for (const each of [...held, part]) collected.add(each);
            try {
              await call.record({ parts: collected.parts }, part.usage);
            } catch (error) {
              controller.enqueue({ type: "error", error });
              return;
            }
            for (const each of held) controller.enqueue(each);
          } else if (part.type !== "error") collected.add(part);
          return controller.enqueue(part);
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

function streamOf(parts: readonly ModelPart[]): ReadableStream<ModelPart> {
  return new ReadableStream<ModelPart>({
    start(controller) {
      for (const part of parts) controller.enqueue(part);
      controller.close();
    },
  });
}
