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

/** The ids of the tool calls of one call of the model. Those that the provider runs keep theirs: it knows them by it. */
export class CallIds {
  readonly #prompt: LanguageModelV4Prompt;
  #used: Set<string> | undefined;
  /** The new id of the last call that the model gave an id. */
  readonly #names = new Map<string, string>();
  /** The ids of calls whose input has begun: the call itself follows. */
  readonly #open = new Set<string>();

  constructor(prompt: LanguageModelV4Prompt) {
    this.#prompt = prompt;
  }

  /** The part with the new id of its call; the same part when its id is not repeated. */
  rename(part: ModelPart): ModelPart {
    switch (part.type) {
      case "tool-input-start":
        if (part.providerExecuted !== true) this.#begin(part.id);
        this.#open.add(part.id);
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
    const isNew = part.type === "tool-call" && !this.#open.delete(part.toolCallId);
    if (isNew && part.providerExecuted !== true) this.#begin(part.toolCallId);
    const toolCallId = this.#names.get(part.toolCallId) ?? part.toolCallId;
    return toolCallId === part.toolCallId ? part : { ...part, toolCallId };
  }

  #begin(id: string): void {
    this.#used ??= idsIn(this.#prompt);
    let name = id;
    for (let count = 2; this.#used.has(name); count++) name = `${id}-${count}`;
    this.#used.add(name);
    this.#names.set(id, name);
  }

  #withId<Part extends { readonly id: string }>(part: Part): Part {
    const id = this.#names.get(part.id) ?? part.id;
    return id === part.id ? part : { ...part, id };
  }
}

function idsIn(prompt: LanguageModelV4Prompt): Set<string> {
  const ids = new Set<string>();
  for (const { role, content } of prompt) {
    if (role !== "assistant") continue;
    for (const part of content) if (part.type === "tool-call") ids.add(part.toolCallId);
  }
  return ids;
}
