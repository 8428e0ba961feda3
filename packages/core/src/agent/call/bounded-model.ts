// A language model whose calls end in time, and at once when they are aborted, even when the provider's package ignores
// the signal. The AI SDK's own step timeout would count the time that tools take as well.
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from "@ai-sdk/provider";
import { gateway, type LanguageModel, wrapLanguageModel } from "ai";
import { ModelFailedError, ModelTimeoutError } from "../../errors/index.ts";
import { PartStream, type PartWatch } from "../durable/part-stream.ts";

/** Learns of each call's end. */
type Used = (usage: LanguageModelV4Usage) => void;

/** A call before it is made: it waits, and is not made when this rejects. */
export type BeginCall = (
  params: LanguageModelV4CallOptions,
) => Promise<{ readonly used: Used; readonly failed: () => void }>;

/**
 * The same model with `timeout` milliseconds for each of its calls. `used` receives the usage of each when it ends, and then
 * that of `begin` does.
 */
export function boundedModel(
  model: LanguageModel,
  timeout: number,
  used: Used = () => undefined,
  begin?: BeginCall,
): LanguageModelV4 {
  const provider = globalThis.AI_SDK_DEFAULT_PROVIDER ?? gateway;
  return wrapLanguageModel({
    model: typeof model === "string" ? provider.languageModel(model) : model,
    middleware: {
      specificationVersion: "v4",
      wrapGenerate: async ({ model, params }) => {
        const begun = await begin?.(params);
        const bound = new Bound(timeout, params.abortSignal, begun?.failed);
        try {
          const result = await bound.race(model.doGenerate(bound.call(params)));
          used(result.usage);
          bound.ended();
          begun?.used(result.usage);
          return result;
        } finally {
          bound.release();
        }
      },
      wrapStream: async ({ model, params }) => {
        const begun = await begin?.(params);
        const bound = new Bound(timeout, params.abortSignal, begun?.failed);
        try {
          const result = await bound.race(model.doStream(bound.call(params)));
          const ended: Used = (usage) => {
            used(usage);
            bound.ended();
            begun?.used(usage);
          };
          return { ...result, stream: bound.stream(result.stream, ended) };
        } catch (error) {
          bound.release();
          throw error;
        }
      },
    },
  });
}

/** The bound of one call: a time limit and the caller's signal, whichever comes first. */
class Bound {
  readonly #controller = new AbortController();
  readonly #broken = Promise.withResolvers<never>();
  readonly #timer: NodeJS.Timeout;
  readonly #outer: AbortSignal | undefined;
  /** To be called when the call is over without having ended. */
  #failed: (() => void) | undefined;

  constructor(timeout: number, outer: AbortSignal | undefined, failed?: () => void) {
    this.#outer = outer;
    this.#failed = failed;
    this.#timer = setTimeout(() => this.#break(new ModelTimeoutError({ timeout })), timeout);
    // There may be no waiter when it breaks.
    this.#broken.promise.catch(() => undefined);
    if (outer?.aborted) this.#abort();
    else outer?.addEventListener("abort", this.#abort, { once: true });
  }

  // By this name the AI SDK distinguishes an abort from a failure; the reason is on the signal.
  readonly #abort = () => this.#break(new DOMException("The call was aborted", "AbortError"));

  call(params: LanguageModelV4CallOptions): LanguageModelV4CallOptions {
    return { ...params, abortSignal: this.#controller.signal };
  }

  race<T>(promise: PromiseLike<T>): Promise<T> {
    return Promise.race([promise, this.#broken.promise]);
  }

  /** The model has replied. */
  ended(): void {
    this.#failed = undefined;
  }

  release(): void {
    this.#failed?.();
    this.#failed = undefined;
    clearTimeout(this.#timer);
    this.#outer?.removeEventListener("abort", this.#abort);
  }

  /** The model's stream, which fails when the bound breaks. */
  stream(
    source: ReadableStream<LanguageModelV4StreamPart>,
    used: (usage: LanguageModelV4Usage) => void,
  ): ReadableStream<LanguageModelV4StreamPart> {
    let ended = false;
    const cut = () => new ModelFailedError({ cause: new Error("the stream ended before its last part") });
    const watch: PartWatch = {
      seen: (part) => {
        if (isCut(part)) throw cut();
        if (part.type === "finish") used(part.usage);
        if (part.type === "finish" || part.type === "error") ended = true;
      },
      over: () => {
        // A connection that was cut looks like a complete reply, except for the last part.
        if (!ended) throw cut();
        this.release();
      },
      failed: (error) => this.#break(error),
      cancelled: (reason) => {
        this.release();
        this.#controller.abort(reason);
      },
    };
    const stream = new PartStream(source, watch);
    // Once for the whole stream: a race for each part would keep something of every part until the end. As a part of the
    // stream: callbacks are not called for a stream that breaks.
    this.#broken.promise.catch((error) => stream.failWith(error));
    return stream;
  }

  #break(reason: unknown): void {
    this.release();
    this.#controller.abort(reason);
    this.#broken.reject(reason);
  }
}

/** Some providers' packages make up a last part for a connection that was cut. */
function isCut(part: LanguageModelV4StreamPart): boolean {
  return part.type === "finish" && part.finishReason.unified === "interrupted";
}
