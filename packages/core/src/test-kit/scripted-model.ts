// A language model for tests: replies turn by turn from its script, and keeps its prompts.
import { ReadableStream } from "node:stream/web";
import type {
  LanguageModelV4Content,
  LanguageModelV4FinishReason,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from "@ai-sdk/provider";
import type { LanguageModel } from "ai";
import { splitPieces } from "../values/split-pieces.ts";

/** A model and its call options, named by way of `ai`, so that they fit the version that the host has. */
type Model = Extract<LanguageModel, { readonly specificationVersion: "v4" }>;
type ModelCall = Parameters<Model["doStream"]>[0];

/** A tool that the model asks for. */
export interface ScriptedToolCall {
  readonly toolName: string;
  /** Its input. Default: {}. */
  readonly input?: unknown;
  /** Default: `call-1`, `call-2`, … counted over the whole script. */
  readonly toolCallId?: string;
}

/** One reply. A string or an error alone may be given as they are. */
export type ScriptedTurn =
  | string
  | Error
  | {
      /** The text of the reply; an array streams in exactly these pieces, a string word by word. Default: nothing. */
      readonly text?: string | readonly string[];
      /** An object that it says as JSON, in place of text. */
      readonly object?: unknown;
      /** Tools that it then asks for. Default: none. */
      readonly toolCalls?: readonly ScriptedToolCall[];
      /** The call fails with this; in a stream after the text. Default: it does not. */
      readonly error?: Error;
    };

/** A turn, or a function that computes it from the call options. */
export type ScriptedReply = ScriptedTurn | ((call: ModelCall) => ScriptedTurn | Promise<ScriptedTurn>);

export interface ScriptedModel extends Model {
  /** The call options of each call, in order. */
  readonly calls: readonly ModelCall[];
  /** How many turns of the script are left. */
  readonly remaining: number;
}

/** The model was asked once more than its script has turns. */
export class ScriptEndedError extends Error {
  constructor({ turns, call }: { turns: number; call: ModelCall }) {
    const last = JSON.stringify(call.prompt.at(-1)) ?? "nothing";
    super(
      `The scripted model has ${turns} turns and was asked for one more. The last message was ${last.slice(0, 500)}. ` +
        "Add a turn, or find out why the model was asked again.",
    );
    this.name = "ScriptEndedError";
  }
}

/** An AI SDK language model that returns these replies, one for each call, streamed or not. */
export function scriptedModel(script: readonly ScriptedReply[]): ScriptedModel {
  const calls: ModelCall[] = [];
  let toolCalls = 0;
  const next = async (call: ModelCall): Promise<Reply> => {
    call.abortSignal?.throwIfAborted();
    const turn = script[calls.length];
    calls.push(call);
    if (turn === undefined) throw new ScriptEndedError({ turns: script.length, call });
    return replyOf(typeof turn === "function" ? await turn(call) : turn, () => `call-${++toolCalls}`);
  };
  return {
    specificationVersion: "v4",
    provider: "andante",
    modelId: "scripted",
    supportedUrls: { "*/*": [/^[a-z][a-z0-9+.-]*:/] },
    calls,
    get remaining() {
      return Math.max(0, script.length - calls.length);
    },
    async doGenerate(call) {
      const reply = await next(call);
      if (reply.error !== undefined) throw reply.error;
      return {
        content: contentOf(reply),
        finishReason: finishReason(reply),
        usage: usageOf(reply),
        warnings: [],
      };
    },
    async doStream(call) {
      const reply = await next(call);
      // A provider that fails at once returns no stream.
      if (reply.error !== undefined && reply.pieces.length === 0) throw reply.error;
      return { stream: ReadableStream.from(parts(reply, call.abortSignal)) };
    },
  };
}

interface Reply {
  readonly pieces: readonly string[];
  readonly toolCalls: readonly {
    readonly toolName: string;
    readonly toolCallId: string;
    readonly input: string;
  }[];
  readonly error: Error | undefined;
}

function replyOf(turn: ScriptedTurn, newId: () => string): Reply {
  if (turn instanceof Error) return { pieces: [], toolCalls: [], error: turn };
  const { text = "", object, toolCalls = [], error } = typeof turn === "string" ? { text: turn } : turn;
  const said = object === undefined ? text : JSON.stringify(object);
  return {
    pieces: typeof said === "string" ? splitPieces(said, object === undefined ? "text" : "json") : said,
    toolCalls: toolCalls.map(({ toolName, toolCallId, input = {} }) => ({
      toolName,
      toolCallId: toolCallId ?? newId(),
      input: JSON.stringify(input),
    })),
    error,
  };
}

function contentOf({ pieces, toolCalls }: Reply): LanguageModelV4Content[] {
  const text = pieces.join("");
  return [
    ...(text === "" && toolCalls.length > 0 ? [] : [{ type: "text" as const, text }]),
    ...toolCalls.map((call) => ({ type: "tool-call" as const, ...call })),
  ];
}

function finishReason({ toolCalls }: Reply): LanguageModelV4FinishReason {
  return { unified: toolCalls.length > 0 ? "tool-calls" : "stop", raw: undefined };
}

/** A piece counts as a token; the prompt is not counted. */
function usageOf({ pieces }: Reply): LanguageModelV4Usage {
  return {
    inputTokens: { total: 0, noCache: 0, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: pieces.length, text: pieces.length, reasoning: undefined },
  };
}

async function* parts(
  reply: Reply,
  signal: AbortSignal | undefined,
): AsyncGenerator<LanguageModelV4StreamPart> {
  yield { type: "stream-start", warnings: [] };
  const id = "text-1";
  if (reply.pieces.length > 0) {
    yield { type: "text-start", id };
    for (const delta of reply.pieces) {
      signal?.throwIfAborted();
      yield { type: "text-delta", id, delta };
    }
    if (reply.error === undefined) yield { type: "text-end", id };
  }
  if (reply.error !== undefined) {
    yield { type: "error", error: reply.error };
    return;
  }
  for (const call of reply.toolCalls) {
    yield { type: "tool-input-start", id: call.toolCallId, toolName: call.toolName };
    yield { type: "tool-input-delta", id: call.toolCallId, delta: call.input };
    yield { type: "tool-input-end", id: call.toolCallId };
    yield { type: "tool-call", ...call };
  }
  yield { type: "finish", finishReason: finishReason(reply), usage: usageOf(reply) };
}
