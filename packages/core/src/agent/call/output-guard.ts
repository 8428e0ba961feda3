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
      const check = new GuardedCall(guard, operation);
      const content: LanguageModelV4Content[] = [];
      for (const part of result.content) {
        if (part.type !== "text" && part.type !== "reasoning") content.push(part);
        else content.push({ ...part, text: await check.pass(part.type, part.text) });
      }
      return { ...result, content };
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
  const sentences = new OpenSentences();
  /** The deltas of each text, joined, where all of it is held. */
  const held = new Map<string, Delta>();
  /** Everything since the first text where all of it is held. */
  const later: ModelPart[] = [];
  const release = async function* (part: Delta): AsyncGenerator<ModelPart, undefined> {
    const kind = part.type === "text-delta" ? "text" : "reasoning";
    const delta = await call.pass(kind, part.delta);
    if (delta !== "") yield { ...part, delta };
  };
  try {
    for await (const part of source) {
      if (part.type === "error" || (holdsAll && part.type === "finish")) {
        for (const each of later) yield* isDelta(each) ? release(joined(each, held)) : [each];
        later.length = 0;
        yield part;
      } else if (holdsAll) {
        const open = isDelta(part) ? keyOf(part) : undefined;
        // A text is where its first delta was.
        if (!isDelta(part) || (open !== undefined && !held.has(open))) later.push(part);
        if (isDelta(part)) hold(held, part);
      } else if (isDelta(part)) {
        const ready = sentences.add(part);
        if (ready !== undefined) yield* release(ready);
      } else {
        for (const each of sentences.takeAll()) yield* release(each);
        yield part;
      }
    }
  } catch (error) {
    yield { type: "error", error };
  }
}

function isDelta(part: ModelPart): part is Delta {
  return part.type === "text-delta" || part.type === "reasoning-delta";
}

function keyOf({ type, id }: Delta): string {
  return `${type} ${id}`;
}

/** Adds the delta to those of its text. */
function hold(held: Map<string, Delta>, part: Delta): Delta {
  const known = held.get(keyOf(part));
  const whole = known === undefined ? part : { ...known, ...part, delta: known.delta + part.delta };
  held.set(keyOf(part), whole);
  return whole;
}

function joined(first: Delta, held: ReadonlyMap<string, Delta>): Delta {
  return held.get(keyOf(first)) ?? first;
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

  /** The sentences that end in this delta. */
  add(part: Delta): Delta | undefined {
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
    return ready;
  }

  takeAll(): readonly Delta[] {
    const all = [...this.#open.values()].map(({ part, deltas }) => ({ ...part, delta: deltas.join("") }));
    this.#open.clear();
    return all;
  }
}
