// Sends the text of a streamed reply straight to its reader, bypassing the AI SDK: a model middleware, and the stream that
// joins the bypassed text with the rest.
//
// The AI SDK sends every part through sixteen web streams: 53 µs of processor time for a delta, 9 µs with the bypass. Its
// loop needs a text only when a part of another kind follows. So the first delta of a text goes through the AI SDK; once it
// has come out, the next deltas go directly to the reader, and the AI SDK receives them as one delta before the next part of
// another kind. That delta is dropped when it comes out. No text is inside the AI SDK while text bypasses it, so the order
// stays the same.
import type { LanguageModelV4 } from "@ai-sdk/provider";
import {
  type LanguageModel,
  type PrepareStepFunction,
  type TextStreamPart,
  type ToolSet,
  wrapLanguageModel,
} from "ai";
import type { ModelPart } from "../durable/model-parts.ts";
import type { Context } from "./any-agent.ts";

type ModelDelta = Extract<ModelPart, { type: "text-delta" | "reasoning-delta" }>;
type ReplyPart = TextStreamPart<ToolSet>;
type ReplyDelta = Extract<ReplyPart, { type: "text-delta" | "reasoning-delta" }>;

/** The settings of `streamText` that the bypass replaces. */
interface ModelSettings {
  readonly model: LanguageModel;
  readonly prepareStep?: PrepareStepFunction<ToolSet, Context>;
  readonly onLanguageModelCallEnd?: OnCallEnd;
}

type OnCallEnd = (event: never) => unknown;

/** For one reply, whose calls of the model follow each other. */
export class TextBypass {
  #reader: ReadableStreamDefaultController<ReplyPart> | undefined;
  /** Resolves the reader's pull. */
  #delivered: (() => void) | undefined;
  /** The last delta that the AI SDK received, when no part of another kind followed it. */
  #last: ModelDelta | undefined;
  /** The last delta that came out of the AI SDK. */
  #seen: ReplyDelta | undefined;
  /** Characters that the AI SDK received, that came out of it, and that the reader has of those inside it. */
  #given = 0;
  #returned = 0;
  #known = 0;
  /** Text that the reader has and the AI SDK has not received. */
  #ahead = "";
  #gaps = new OutputGaps();
  #wake: (() => void) | undefined;

  /** The same settings with the middleware. */
  settings({ model, prepareStep, onLanguageModelCallEnd: ended }: ModelSettings) {
    return {
      model: this.#wrap(model),
      ...(prepareStep && { prepareStep: this.#wrapChosen(prepareStep) }),
      onLanguageModelCallEnd: async (event: { readonly performance: object }) => {
        this.#gaps.correct(event.performance);
        await ended?.(event as never);
      },
    };
  }

  #wrapChosen(prepareStep: PrepareStepFunction<ToolSet, Context>): PrepareStepFunction<ToolSet, Context> {
    return async (step) => {
      const prepared = await prepareStep(step);
      return prepared?.model === undefined ? prepared : { ...prepared, model: this.#wrap(prepared.model) };
    };
  }

  #wrap(model: LanguageModel): LanguageModelV4 {
    if (typeof model === "string" || model.specificationVersion !== "v4")
      throw new TypeError("expected a language model of version 4");
    return wrapLanguageModel({
      model,
      middleware: {
        specificationVersion: "v4",
        wrapStream: async ({ doStream }) => {
          const result = await doStream();
          return { ...result, stream: this.#split(result.stream) };
        },
      },
    });
  }

  /** The parts of one call of the model that go through the AI SDK. */
  #split(source: ReadableStream<ModelPart>): ReadableStream<ModelPart> {
    const reader = source.getReader();
    this.#last = undefined;
    this.#ahead = "";
    this.#gaps = new OutputGaps();
    let passed = 0;
    const pull = async (controller: ReadableStreamDefaultController<ModelPart>) => {
      const toSdk = (part: ModelPart) => {
        passed++;
        controller.enqueue(part);
      };
      const before = passed;
      while (passed === before) {
        if (this.#isFull) {
          await this.#changed();
          continue;
        }
        const { done, value } = await reader.read();
        if (done) {
          this.#catchUp(toSdk);
          return controller.close();
        }
        if (this.#isBehind(value)) await this.#caughtUp(value);
        this.#pass(value, toSdk);
      }
    };
    const cancel = (reason: unknown) => {
      this.#last = undefined;
      this.#changedNow();
      return reader.cancel(reason);
    };
    return new ReadableStream({ pull, cancel }, { highWaterMark: 0 });
  }

  /** The AI SDK's stream joined with the bypassed text, for one reader. */
  join(source: ReadableStream<ReplyPart>): ReadableStream<ReplyPart> {
    const reader = source.getReader();
    let isReading = false;
    const read = async (controller: ReadableStreamDefaultController<ReplyPart>) => {
      isReading = true;
      try {
        for (;;) {
          const { done, value } = await reader.read();
          if (done) return controller.close();
          if (isReplyDelta(value) && this.#isKnown(value)) continue;
          return this.#deliver(value);
        }
      } catch (error) {
        controller.error(error);
      } finally {
        isReading = false;
      }
    };
    return new ReadableStream<ReplyPart>(
      {
        start: (controller) => {
          this.#reader = controller;
        },
        pull: (controller) => {
          this.#changedNow();
          if (!isReading) void read(controller);
          return new Promise((resolve) => {
            this.#delivered = resolve;
          });
        },
        cancel: (reason) => {
          this.#reader = undefined;
          this.#changedNow();
          return reader.cancel(reason);
        },
      },
      { highWaterMark: 0 },
    );
  }

  #deliver(part: ReplyPart): void {
    this.#reader?.enqueue(part);
    this.#delivered?.();
  }

  /** True while the reader has not taken a part: the model is not read further. */
  get #isFull(): boolean {
    return (this.#reader?.desiredSize ?? 0) < 0;
  }

  /** True while the text before this part has not come out of the AI SDK. */
  #isBehind(part: ModelPart): boolean {
    return this.#continues(part) && this.#returned < this.#given;
  }

  /** Waits for it, for one turn of the event loop at most: then the deltas follow each other through the AI SDK. */
  async #caughtUp(part: ModelPart): Promise<void> {
    let isLate = false;
    const late = setImmediate(() => {
      isLate = true;
      this.#changedNow();
    });
    while (!isLate && this.#isBehind(part)) await this.#changed();
    clearImmediate(late);
  }

  #changed(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  #changedNow(): void {
    this.#wake?.();
    this.#wake = undefined;
  }

  /** Sends a part of the model to the reader or to the AI SDK. */
  #pass(part: ModelPart, toSdk: (part: ModelPart) => void): void {
    this.#gaps.note(part);
    if (isModelDelta(part) && this.#mayBypass(part)) {
      this.#ahead += part.delta;
      return this.#deliver({ type: part.type, id: this.#seen?.id ?? part.id, text: part.delta });
    }
    this.#catchUp(toSdk);
    // The AI SDK drops some empty deltas, so they cannot be counted.
    this.#last = isModelDelta(part) && part.delta !== "" ? part : undefined;
    this.#given += this.#last?.delta.length ?? 0;
    toSdk(part);
  }

  /** Sends the bypassed text to the AI SDK. */
  #catchUp(toSdk: (part: ModelPart) => void): void {
    if (this.#last === undefined || this.#ahead === "") return;
    this.#given += this.#ahead.length;
    this.#known += this.#ahead.length;
    toSdk({ ...this.#last, delta: this.#ahead });
    this.#ahead = "";
  }

  /** Counts a delta that came out of the AI SDK. True when the reader has it. */
  #isKnown(delta: ReplyDelta): boolean {
    this.#seen = delta;
    this.#returned += delta.text.length;
    this.#changedNow();
    if (this.#known === 0) return false;
    this.#known -= delta.text.length;
    return true;
  }

  #mayBypass(part: ModelDelta): boolean {
    if (!this.#continues(part) || this.#returned !== this.#given) return false;
    // The AI SDK repeats the provider's metadata of one delta on the next ones.
    return this.#seen?.type === part.type && this.#seen.providerMetadata === undefined;
  }

  /** Whether the part only continues the text whose beginning the AI SDK has. */
  #continues(part: ModelPart): boolean {
    if (this.#reader === undefined) return false;
    if (!isModelDelta(part) || part.providerMetadata !== undefined || part.delta === "") return false;
    return part.type === this.#last?.type && part.id === this.#last.id;
  }
}

/** The times between pieces of a call's output: the AI SDK sees a bypassed text as two pieces. */
class OutputGaps {
  readonly #gaps: number[] = [];
  #last: number | undefined;

  note(part: ModelPart): void {
    if (!isOutput(part)) return;
    const now = performance.now();
    if (this.#last !== undefined) this.#gaps.push(now - this.#last);
    this.#last = now;
  }

  /** Corrects the AI SDK's measurement in place: spans and hooks share the object. */
  correct(measured: object): void {
    if (this.#gaps.length === 0) return;
    const sorted = Float64Array.from(this.#gaps).sort();
    const rank = (share: number) => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
    const avg = sorted.reduce((total, time) => total + time, 0) / sorted.length;
    const ranks = { min: rank(0), p10: rank(0.1), median: rank(0.5), p90: rank(0.9), max: rank(1) };
    Object.assign(measured, { timeBetweenOutputChunksMs: { ...ranks, avg } });
  }
}

/** Whether the AI SDK counts the part as output. */
function isOutput(part: ModelPart): boolean {
  if (part.type === "file" || part.type === "reasoning-file" || part.type === "tool-call") return true;
  return (isModelDelta(part) || part.type === "tool-input-delta") && part.delta !== "";
}

function isModelDelta(part: ModelPart): part is ModelDelta {
  return part.type === "text-delta" || part.type === "reasoning-delta";
}

function isReplyDelta(part: ReplyPart): part is ReplyDelta {
  return part.type === "text-delta" || part.type === "reasoning-delta";
}
