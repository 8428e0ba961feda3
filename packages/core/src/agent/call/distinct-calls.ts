// A language model whose tool calls have ids of their own. Some models repeat ids such as "call_0", in one reply or in the
// next; the AI SDK, clients and records identify calls by their ids.
import type { LanguageModelV4, LanguageModelV4Content, LanguageModelV4Prompt } from "@ai-sdk/provider";
import { wrapLanguageModel } from "ai";
import type { ModelPart } from "../durable/model-parts.ts";
import { PartStream } from "../durable/part-stream.ts";

type CallPart = Extract<LanguageModelV4Content, { toolCallId: string }>;

export function distinctCalls(model: LanguageModelV4): LanguageModelV4 {
  return wrapLanguageModel({
    model,
    middleware: {
      specificationVersion: "v4",
      wrapGenerate: async ({ model, params }) => {
        const ids = new CallIds(params.prompt);
        const result = await model.doGenerate(params);
        return { ...result, content: result.content.map((part) => ids.renameContent(part)) };
      },
      wrapStream: async ({ model, params }) => {
        const ids = new CallIds(params.prompt);
        const result = await model.doStream(params);
        if (!(result.stream instanceof PartStream)) throw new TypeError("the model is not bounded");
        result.stream.changeWith((part) => ids.rename(part));
        return result;
      },
    },
  });
}

/** Calls of one id that the provider runs. */
interface ProviderCalls {
  /** Their new ids, without those that have a result, the oldest first. */
  readonly waiting: string[];
  /** The new id of the last one. */
  last: string;
}

/**
 * The ids of the tool calls of one call of the model. A call that the provider runs gets another id only when its own is
 * taken: the provider may know it by its id. Its result and its request for approval get the same id.
 */
export class CallIds {
  readonly #prompt: LanguageModelV4Prompt;
  #known: KnownIds | undefined;
  /** The new ids of calls whose input has begun: the call itself follows. */
  readonly #open = new Map<string, string>();
  readonly #providers = new Map<string, ProviderCalls>();

  constructor(prompt: LanguageModelV4Prompt) {
    this.#prompt = prompt;
  }

  /** The part with the new id of its call; the same part when its id is not repeated. */
  rename(part: ModelPart): ModelPart {
    switch (part.type) {
      case "tool-input-start":
        this.#open.set(part.id, this.#begin(part));
        return this.#withId(part);
      case "tool-input-delta":
      case "tool-input-end":
        return this.#withId(part);
      case "tool-call":
      case "tool-result":
      case "tool-approval-request":
        return this.#renameCall(part);
      default:
        return part;
    }
  }

  /** The same for the content of a reply that comes at once. */
  renameContent(part: LanguageModelV4Content): LanguageModelV4Content {
    return "toolCallId" in part ? this.#renameCall(part) : part;
  }

  #renameCall(part: CallPart): CallPart {
    const toolCallId = part.type === "tool-call" ? this.#nameCall(part) : this.#nameOfProviders(part);
    return toolCallId === part.toolCallId ? part : { ...part, toolCallId };
  }

  #nameCall({ toolCallId: id, providerExecuted }: Extract<CallPart, { type: "tool-call" }>): string {
    const name = this.#open.get(id) ?? this.#begin({ id, providerExecuted });
    this.#open.delete(id);
    if (providerExecuted === true) {
      const calls = this.#providers.get(id) ?? { waiting: [], last: name };
      calls.waiting.push(name);
      calls.last = name;
      this.#providers.set(id, calls);
    }
    return name;
  }

  /** Results, and requests for approval, that a model streams belong to calls that its provider runs. */
  #nameOfProviders(part: Exclude<CallPart, { type: "tool-call" }>): string {
    const calls = this.#providers.get(part.toolCallId);
    // One of an earlier reply.
    if (calls === undefined) return part.toolCallId;
    if (part.type === "tool-approval-request") return calls.last;
    const [first = calls.last] = calls.waiting;
    if (part.preliminary !== true) calls.waiting.shift();
    return first;
  }

  #begin({ id, providerExecuted }: { readonly id: string; readonly providerExecuted?: boolean | undefined }) {
    this.#known ??= idsIn(this.#prompt);
    const { taken, waiting } = this.#known;
    // The provider continues a call of an earlier reply, such as one that was approved since.
    if (providerExecuted === true && waiting.delete(id)) return id;
    let name = id;
    // No hyphen: Anthropic refuses it in the ids of the calls that it runs.
    for (let count = 2; taken.has(name); count++) name = `${id}_${count}`;
    taken.add(name);
    return name;
  }

  #withId<Part extends { readonly id: string }>(part: Part): Part {
    const id = this.#open.get(part.id) ?? part.id;
    return id === part.id ? part : { ...part, id };
  }
}

interface KnownIds {
  readonly taken: Set<string>;
  /** Those of calls that the provider runs and that have no result. */
  readonly waiting: Set<string>;
}

function idsIn(prompt: LanguageModelV4Prompt): KnownIds {
  const taken = new Set<string>();
  const waiting = new Set<string>();
  for (const message of prompt) {
    if (message.role !== "assistant" && message.role !== "tool") continue;
    for (const part of message.content) {
      if (part.type === "tool-result") waiting.delete(part.toolCallId);
      if (part.type !== "tool-call") continue;
      taken.add(part.toolCallId);
      if (part.providerExecuted === true) waiting.add(part.toolCallId);
    }
  }
  return { taken, waiting };
}
