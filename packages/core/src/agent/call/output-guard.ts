// Guards of a model's output: text is held back until it is checked, so that no reader sees text that the host replaces or
// stops. They are below the record of the call: a reply that continues after a crash shows the same text.
import type { LanguageModelV4, LanguageModelV4Content } from "@ai-sdk/provider";
import { DefinitionError, PublicError, ReplyRefusedError } from "../../errors/index.ts";
import { checkKnownOptions, type KnownOptions } from "../../values/check-options.ts";
import { propertyOf } from "../../values/fields.ts";
import type { ModelPart } from "../durable/model-parts.ts";
import { PartStream } from "../durable/part-stream.ts";
import { callHost } from "./host-function.ts";
import type { Operation, OperationContext } from "./operation.ts";

/** Undefined or `pass` shows the text; `replace` shows another one; `stop` refuses the reply with these words. */
export type GuardDecision = undefined | "pass" | { readonly replace: string } | { readonly stop: string };

/** The text beside the one that is checked. */
export interface GuardContext {
  readonly kind: "text" | "reasoning";
  /** The text of the same kind that was shown before, in this call of the model. */
  readonly before: string;
  readonly context: OperationContext;
}

export interface OutputGuard {
  /**
   * How much is held back and checked at once: a sentence, or everything that one call of the model says. An object is
   * always held as a whole.
   */
  readonly hold: "sentence" | "reply";
  /** Checks a text before it is shown. A `PublicError` stops the reply with its words. */
  check(text: string, context: GuardContext): GuardDecision | Promise<GuardDecision>;
}

export interface AgentGuards {
  /** Checks text and reasoning of the model. Default: they are shown as they come. */
  readonly output?: OutputGuard;
}

const knownGuards: KnownOptions<AgentGuards> = { output: true };
const knownOutput: KnownOptions<OutputGuard> = { hold: true, check: true };

/** Throws for guards that could never work. */
export function checkGuards(guards: AgentGuards | undefined, where: string): void {
  if (guards === undefined) return;
  checkKnownOptions(`${where}, guards`, guards, knownGuards);
  const { output } = guards;
  if (output === undefined) return;
  checkKnownOptions(`${where}, guards.output`, output, knownOutput);
  if (output.hold !== "sentence" && output.hold !== "reply")
    throw new DefinitionError({ where, problem: 'guards.output.hold must be "sentence" or "reply"' });
  if (typeof output.check !== "function")
    throw new DefinitionError({ where, problem: "guards.output.check must be a function" });
}

export function guardedModel(
  model: LanguageModelV4,
  guard: OutputGuard,
  operation: Operation,
): LanguageModelV4 {
  const { provider, modelId, supportedUrls } = model;
  return {
    ...{ specificationVersion: "v4", provider, modelId, supportedUrls },
    doGenerate: async (params) => {
      const result = await model.doGenerate(params);
      const call = new GuardedCall(guard, operation);
      const shown = await call.passAll(result.content.filter(isText).map((part) => [part.type, part.text]));
      const content = result.content.map((part) =>
        isText(part) ? { ...part, text: shown.shift() ?? "" } : part,
      );
      const { structuredOutputText: object } = result;
      if (object === undefined) return { ...result, content };
      return { ...result, content, structuredOutputText: await call.pass("text", object) };
    },
    doStream: async (params) => {
      const result = await model.doStream(params);
      const holdsAll = guard.hold === "reply" || params.responseFormat?.type === "json";
      const parts = guardedParts(result.stream, new GuardedCall(guard, operation), holdsAll);
      return { ...result, stream: PartStream.passing(ReadableStream.from(parts)) };
    },
  };
}

type Kind = GuardContext["kind"];
type Delta = Extract<ModelPart, { type: "text-delta" | "reasoning-delta" }>;

/** The checks of one call of the model. */
class GuardedCall {
  readonly #guard: OutputGuard;
  readonly #operation: Operation;
  readonly #shown: Record<Kind, string> = { text: "", reasoning: "" };

  constructor(guard: OutputGuard, operation: Operation) {
    this.#guard = guard;
    this.#operation = operation;
  }

  /**
   * The texts to show: all of one kind are checked as one, so that a secret in two of them is whole. Where another text is
   * shown in their place, it is that of the first one.
   */
  async passAll(texts: readonly (readonly [kind: Kind, text: string])[]): Promise<string[]> {
    const shown = texts.map(([, text]) => text);
    for (const each of new Set(texts.map(([kind]) => kind))) {
      const whole = texts.map(([kind, text]) => (kind === each ? text : "")).join("");
      let checked: string | undefined = await this.pass(each, whole);
      if (checked === whole) continue;
      for (const [index, [kind]] of texts.entries()) {
        if (kind !== each) continue;
        shown[index] = checked ?? "";
        checked = undefined;
      }
    }
    return shown;
  }

  /** The text to show; rejects when the reply is refused. */
  async pass(kind: Kind, text: string): Promise<string> {
    if (text === "") return text;
    const given = { kind, before: this.#shown[kind], context: this.#operation };
    const decision = await callHost("guards.output", () => this.#guard.check(text, given)).catch((error) =>
      error instanceof PublicError ? { stop: error.message } : Promise.reject(error),
    );
    const reason = propertyOf(decision, "stop");
    if (typeof reason === "string") {
      this.#operation.isRefused = true;
      throw new ReplyRefusedError({ reason });
    }
    const replaced = propertyOf(decision, "replace");
    const shown = typeof replaced === "string" ? replaced : text;
    this.#shown[kind] += shown;
    return shown;
  }
}

async function* guardedParts(
  source: ReadableStream<ModelPart>,
  call: GuardedCall,
  holdsAll: boolean,
): AsyncGenerator<ModelPart, undefined> {
  const open = holdsAll ? new HeldReply(call) : new HeldSentences(call);
  try {
    for await (const part of source) {
      // Chunks of the provider have the text as it was.
      if (part.type !== "raw") yield* open.add(part);
    }
  } catch (error) {
    yield { type: "error", error };
  }
}

/** Holds each sentence. Other parts pass: a source between two deltas does not end a sentence, only its text does. */
class HeldSentences {
  readonly #call: GuardedCall;
  readonly #sentences = new OpenSentences();

  constructor(call: GuardedCall) {
    this.#call = call;
  }

  async *add(part: ModelPart): AsyncGenerator<ModelPart, undefined> {
    for (const each of this.#ended(part)) {
      const delta = await this.#call.pass(kindOf(each), each.delta);
      if (delta !== "") yield { ...each, delta };
    }
    if (!isDelta(part)) yield part;
  }

  #ended(part: ModelPart): readonly Delta[] {
    switch (part.type) {
      case "text-delta":
      case "reasoning-delta":
        return this.#sentences.add(part);
      case "text-end":
        return this.#sentences.take({ type: "text-delta", id: part.id });
      case "reasoning-end":
        return this.#sentences.take({ type: "reasoning-delta", id: part.id });
      case "finish":
      case "error":
        return this.#sentences.takeAll();
      default:
        return [];
    }
  }
}

/** Holds all texts from the first one on, and everything that follows it. */
class HeldReply {
  readonly #call: GuardedCall;
  /** A text has the place of its first delta. */
  readonly #later: (ModelPart | HeldText)[] = [];
  readonly #texts = new Map<string, HeldText>();

  constructor(call: GuardedCall) {
    this.#call = call;
  }

  async *add(part: ModelPart): AsyncGenerator<ModelPart, undefined> {
    if (part.type === "finish" || part.type === "error") {
      yield* this.#release();
      yield part;
    } else if (!isDelta(part)) this.#later.push(part);
    else {
      const known = this.#texts.get(keyOf(part));
      const text = known ?? { part, deltas: [] };
      text.deltas.push(part.delta);
      if (known !== undefined) return;
      this.#texts.set(keyOf(part), text);
      this.#later.push(text);
    }
  }

  async *#release(): AsyncGenerator<ModelPart, undefined> {
    const texts = [...this.#texts.values()];
    const shown = await this.#call.passAll(texts.map(({ part, deltas }) => [kindOf(part), deltas.join("")]));
    for (const each of this.#later.splice(0)) {
      if (!("deltas" in each)) yield each;
      else {
        const delta = shown[texts.indexOf(each)] ?? "";
        if (delta !== "") yield { ...each.part, delta };
      }
    }
    this.#texts.clear();
  }
}

interface HeldText {
  readonly part: Delta;
  readonly deltas: string[];
}

function isText(part: LanguageModelV4Content): part is Extract<LanguageModelV4Content, { type: Kind }> {
  return part.type === "text" || part.type === "reasoning";
}

function kindOf({ type }: Delta): Kind {
  return type === "text-delta" ? "text" : "reasoning";
}

function isDelta(part: ModelPart): part is Delta {
  return part.type === "text-delta" || part.type === "reasoning-delta";
}

function keyOf({ type, id }: Pick<Delta, "type" | "id">): string {
  return `${type} ${id}`;
}

/** The end of a sentence, or of a line. */
const sentenceEnd = /[.!?…。！？]["'”’)\]]{0,8}\s|\n/g;

/** Characters in which an end that began before a delta is found: the longest end but its last character. */
const endLength = 9;

interface OpenSentence {
  readonly part: Delta;
  readonly deltas: string[];
  /** The last characters of the deltas. */
  end: string;
}

/** The sentences that have no end yet, by text. Each character is read once, however long a sentence is. */
export class OpenSentences {
  readonly #open = new Map<string, OpenSentence>();

  /** The sentences that end in this delta, as one. */
  add(part: Delta): readonly Delta[] {
    const open = this.#open.get(keyOf(part)) ?? { part, deltas: [], end: "" };
    const recent = open.end + part.delta;
    let after = 0;
    for (const match of recent.matchAll(sentenceEnd)) after = match.index + match[0].length;
    const split = Math.max(0, after - open.end.length);
    open.deltas.push(part.delta.slice(0, split));
    const ready = split === 0 ? undefined : { ...open.part, ...part, delta: open.deltas.join("") };
    if (ready !== undefined) open.deltas.length = 0;
    const rest = part.delta.slice(split);
    open.deltas.push(rest);
    open.end = (ready === undefined ? recent : rest).slice(-endLength);
    this.#open.set(keyOf(part), open);
    return ready === undefined ? [] : [ready];
  }

  /** The open sentence of a text that has ended. */
  take(text: Pick<Delta, "type" | "id">): readonly Delta[] {
    return this.#taken([keyOf(text)]);
  }

  takeAll(): readonly Delta[] {
    return this.#taken([...this.#open.keys()]);
  }

  #taken(keys: readonly string[]): readonly Delta[] {
    return keys.flatMap((key) => {
      const open = this.#open.get(key);
      this.#open.delete(key);
      return open === undefined ? [] : [{ ...open.part, delta: open.deltas.join("") }];
    });
  }
}
