// A language model for tests of Andante itself: replies to any number of calls, and can be held up, broken off or cut
// short in the middle of a reply. Where a script is enough, tests use `scriptedModel` of `@andante/core/test`.
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4FinishReason,
  LanguageModelV4StreamPart,
} from "@ai-sdk/provider";

/** The reply of the model to one call. */
export interface Said {
  /** The text, in the pieces in which it streams. */
  readonly text?: readonly string[];
  readonly calls?: readonly { readonly id?: string; readonly name: string; readonly input: unknown }[];
  /** The inputs of the calls stream before the calls, side by side. Default: the calls come at once. */
  readonly streamsInputs?: boolean;
  /** Awaited before the piece of this number; the end of the text is the number of pieces. */
  readonly hold?: (piece: number, signal: AbortSignal | undefined) => unknown;
  /** Thrown instead of a reply. */
  readonly refuse?: unknown;
  /** Breaks off before the piece of this number with this error. */
  readonly breakAt?: { readonly piece: number; readonly error: unknown };
  /** The stream ends silently after the text. */
  readonly cut?: boolean;
  readonly finish?: LanguageModelV4FinishReason["unified"];
  /** Default: 10 tokens in and 5 out. */
  readonly usage?: SaidUsage;
}

interface SaidUsage {
  readonly input: number;
  readonly output: number;
  /** Of the input. Default: not reported. */
  readonly cached?: number;
  /** Of the output. Default: not reported. */
  readonly reasoning?: number;
}

export interface ScriptedModel extends LanguageModelV4 {
  /** Every call, in order. */
  readonly asked: LanguageModelV4CallOptions[];
}

const usual: SaidUsage = { input: 10, output: 5 };

function usageOf({ usage: { input, output, cached, reasoning } = usual }: Said) {
  return {
    inputTokens: {
      total: input,
      noCache: input - (cached ?? 0),
      cacheRead: cached,
      cacheWrite: undefined,
    },
    outputTokens: { total: output, text: output - (reasoning ?? 0), reasoning },
  };
}

export function controlledModel(
  script: (call: LanguageModelV4CallOptions, number: number) => Said,
): ScriptedModel {
  const asked: LanguageModelV4CallOptions[] = [];
  const next = (call: LanguageModelV4CallOptions) => {
    asked.push(call);
    const said = script(call, asked.length);
    if (said.refuse !== undefined) throw said.refuse;
    return said;
  };
  return {
    specificationVersion: "v4",
    provider: "scripted",
    modelId: "scripted",
    supportedUrls: {},
    asked,
    async doGenerate(call) {
      const said = next(call);
      for (let piece = 0; piece <= (said.text?.length ?? 0); piece++) {
        await said.hold?.(piece, call.abortSignal);
        if (said.breakAt?.piece === piece) throw said.breakAt.error;
      }
      const text = said.text?.join("");
      const content: LanguageModelV4Content[] = text === undefined ? [] : [{ type: "text", text }];
      for (const each of said.calls ?? []) content.push({ type: "tool-call", ...callOf(each) });
      return { content, finishReason: finishOf(said), usage: usageOf(said), warnings: [] };
    },
    async doStream(call) {
      const said = next(call);
      return { stream: ReadableStream.from(partsOf(said, call.abortSignal)) };
    },
  };
}

async function* partsOf(
  said: Said,
  signal: AbortSignal | undefined,
): AsyncGenerator<LanguageModelV4StreamPart, undefined> {
  yield { type: "stream-start", warnings: [] };
  const pieces = said.text ?? [];
  if (pieces.length > 0) yield { type: "text-start", id: "1" };
  for (let piece = 0; piece <= pieces.length; piece++) {
    await said.hold?.(piece, signal);
    if (said.breakAt?.piece === piece) throw said.breakAt.error;
    const delta = pieces[piece];
    if (delta !== undefined) yield { type: "text-delta", id: "1", delta };
  }
  if (said.cut === true) return;
  if (pieces.length > 0) yield { type: "text-end", id: "1" };
  const calls = (said.calls ?? []).map(callOf);
  if (said.streamsInputs) yield* inputsOf(calls);
  for (const call of calls) yield { type: "tool-call", ...call };
  yield { type: "finish", finishReason: finishOf(said), usage: usageOf(said) };
}

/** Every input begins before one of them ends. */
function* inputsOf(calls: readonly ReturnType<typeof callOf>[]): Iterable<LanguageModelV4StreamPart> {
  for (const { toolCallId: id, toolName, input } of calls) {
    yield { type: "tool-input-start", id, toolName };
    yield { type: "tool-input-delta", id, delta: input.slice(0, 2) };
  }
  for (const { toolCallId: id, input } of calls) {
    yield { type: "tool-input-delta", id, delta: input.slice(2) };
    yield { type: "tool-input-end", id };
  }
}

function callOf({ id, name, input }: { id?: string; name: string; input: unknown }) {
  return { toolCallId: id ?? `call-${name}`, toolName: name, input: JSON.stringify(input) };
}

function finishOf({ finish, calls }: Said): LanguageModelV4FinishReason {
  return { unified: finish ?? (calls === undefined ? "stop" : "tool-calls"), raw: undefined };
}

/** The text of the last message that the model was asked. */
export function lastText(call: LanguageModelV4CallOptions): string {
  const content = call.prompt.at(-1)?.content ?? [];
  if (typeof content === "string") return content;
  return content.map((part) => (part.type === "text" ? part.text : "")).join("");
}
