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

/** A call whose input has begun. */
interface BegunCall {
  readonly name: string;
  readonly toolName: string;
  hasInput: boolean;
  /** The call itself has arrived. */
  isComplete: boolean;
}

/**
 * The calls of one id whose inputs have begun. The model may begin several before it ends one, and sends nothing but the id
 * to tell them apart: the first to begin is the first to end, and the first of its tool to arrive as a call.
 */
class BegunCalls {
  readonly #calls: BegunCall[] = [];
  /** The first whose input has not ended, and the first whose call has not arrived. */
  #open = 0;
  #next = 0;

  begin(name: string, toolName: string): void {
    this.#calls.push({ name, toolName, hasInput: false, isComplete: false });
  }

  /** The one whose input grows: the last that has begun. */
  get growing(): string | undefined {
    const last = this.#calls.at(-1);
    return last?.hasInput === false ? last.name : undefined;
  }

  endInput(): string | undefined {
    while (this.#calls[this.#open]?.hasInput) this.#open++;
    const ended = this.#calls[this.#open];
    if (ended !== undefined) ended.hasInput = true;
    return ended?.name;
  }

  /**
   * The call of this tool has arrived: the name that its input has; undefined for a call whose input did not stream. Where no
   * input of this tool waits, it is the first one if that has ended: a server may name the tool differently in the two parts.
   */
  complete(toolName: string): string | undefined {
    while (this.#calls[this.#next]?.isComplete) this.#next++;
    const next = this.#calls[this.#next];
    if (next === undefined) return undefined;
    const sameTool =
      next.toolName === toolName
        ? next
        : this.#calls.find((call) => !call.isComplete && call.toolName === toolName);
    if (sameTool === undefined && !next.hasInput) return undefined;
    return Object.assign(sameTool ?? next, { hasInput: true, isComplete: true }).name;
  }
}

/** Calls of one id that the provider runs. */
interface ProviderCalls {
  /** Their new ids, without those that have a result, the oldest first. */
  readonly waiting: string[];
  /** The same without those that have a request for approval. */
  readonly unasked: string[];
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
  readonly #begun = new Map<string, BegunCalls>();
  /** The number that was last added to each id. */
  readonly #counts = new Map<string, number>();
  readonly #providers = new Map<string, ProviderCalls>();

  constructor(prompt: LanguageModelV4Prompt) {
    this.#prompt = prompt;
  }

  /** The part with the new id of its call; the same part when its id is not repeated. */
  rename(part: ModelPart): ModelPart {
    switch (part.type) {
      case "tool-input-start":
        return withId(part, this.#beginInput(part));
      case "tool-input-delta":
        return withId(part, this.#begun.get(part.id)?.growing);
      case "tool-input-end":
        return withId(part, this.#begun.get(part.id)?.endInput());
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

  #beginInput(part: Extract<ModelPart, { type: "tool-input-start" }>): string {
    const { id, toolName } = part;
    const name = this.#begin(part);
    const begun = this.#begun.get(id) ?? new BegunCalls();
    begun.begin(name, toolName);
    this.#begun.set(id, begun);
    return name;
  }

  #nameCall({
    toolCallId: id,
    toolName,
    providerExecuted,
  }: Extract<CallPart, { type: "tool-call" }>): string {
    const name = this.#begun.get(id)?.complete(toolName) ?? this.#begin({ id, providerExecuted });
    if (providerExecuted === true) {
      const calls = this.#providers.get(id) ?? { waiting: [], unasked: [], last: name };
      calls.waiting.push(name);
      calls.unasked.push(name);
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
    if (part.type === "tool-approval-request") return calls.unasked.shift() ?? calls.last;
    const [first = calls.last] = calls.waiting;
    if (part.preliminary === true) return first;
    calls.waiting.shift();
    // Both lists have the same order: where it has no request, it is the first of those.
    if (calls.unasked[0] === first) calls.unasked.shift();
    return first;
  }

  #begin({ id, providerExecuted }: { readonly id: string; readonly providerExecuted?: boolean | undefined }) {
    this.#known ??= idsIn(this.#prompt);
    const { taken, waiting } = this.#known;
    // The provider continues a call of an earlier reply, such as one that was approved since.
    if (providerExecuted === true && waiting.delete(id)) return id;
    let name = id;
    let count = this.#counts.get(id) ?? 1;
    // No hyphen: Anthropic refuses it in the ids of the calls that it runs.
    while (taken.has(name)) name = `${id}_${++count}`;
    if (count > 1) this.#counts.set(id, count);
    taken.add(name);
    return name;
  }
}

function withId<Part extends { readonly id: string }>(part: Part, id = part.id): Part {
  return id === part.id ? part : { ...part, id };
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
