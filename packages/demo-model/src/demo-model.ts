// The offline demo model: a language model that needs no key and no network and replies by simple rules.
import { createHash } from "node:crypto";
import { ReadableStream } from "node:stream/web";
import { setTimeout as wait } from "node:timers/promises";
import {
  InvalidArgumentError,
  type LanguageModelV4CallOptions,
  type LanguageModelV4GenerateResult,
  type LanguageModelV4StreamPart,
} from "@ai-sdk/provider";
import { PublicError } from "@andante/core";
import { splitPieces } from "@andante/core/internal";
import { exampleValue, type Preferences } from "@andante/core/internal/examples";
import type { LanguageModel } from "ai";
import { readConversation } from "./conversation.ts";
import { jsonIn, valuesMentioned } from "./mentioned-values.ts";
import { followInstruction, writeText } from "./rules.ts";
import { chooseTool, describeOutcomes } from "./tools.ts";

const maxDelay = 60_000;

/** Derived from a type of `ai`, so that it fits the host's version. */
export type DemoModel = Extract<LanguageModel, { readonly specificationVersion: "v4" }>;

export interface DemoModelOptions {
  /**
   * Milliseconds to wait before each word, to show streaming in a demo. At most 60000.
   * Default: 0, which sets no timer at all.
   */
  delay?: number;
}

/**
 * Makes the offline demo model, so that a first project, the documentation and the tests run with no provider.
 * It does not understand its prompt: it introduces the agent and its tools, calls a tool whose name or description
 * the question fits, fills JSON Schemas with made-up values, follows a few plain instructions (`say exactly "…"`,
 * `count to 5`) and writes a paragraph about anything else. The same messages always give the same reply.
 *
 * @example
 * const assistant = new Agent({ id: "assistant", model: demoModel(), instructions: "You are a helpful assistant." });
 */
export function demoModel({ delay = 0 }: DemoModelOptions = {}): DemoModel {
  if (!(delay >= 0 && delay <= maxDelay)) {
    const message = `The demo model's delay must be a number of milliseconds from 0 to ${maxDelay}, not ${delay}.`;
    throw new InvalidArgumentError({ argument: "delay", message });
  }
  return {
    specificationVersion: "v4",
    provider: "andante",
    modelId: "demo",
    // Every URL is "supported", so that the AI SDK downloads none: files are not read.
    supportedUrls: { "*/*": [/^[a-z][a-z0-9+.-]*:/] },
    async doGenerate(call) {
      const { pieces, ...result } = generate(call);
      // Word by word, as in a stream, so that a long reply can be aborted half way.
      for (const _ of pieces) await pause(delay, call.abortSignal);
      return result;
    },
    async doStream(call) {
      return { stream: ReadableStream.from(parts(generate(call), delay, call.abortSignal)) };
    },
  };
}

type Generated = LanguageModelV4GenerateResult & { readonly pieces: readonly string[] };

function generate(call: LanguageModelV4CallOptions): Generated {
  call.abortSignal?.throwIfAborted();
  const { toolName, text } = replyTo(call);
  const isTool = toolName !== undefined;
  const whole = splitPieces(
    isTool ? text : untilStop(text, call),
    isTool || call.responseFormat?.type === "json" ? "json" : "text",
  );
  const pieces = isTool ? whole : whole.slice(0, call.maxOutputTokens ?? whole.length);
  const asked = JSON.stringify(call.prompt, (_, value) => (value instanceof Uint8Array ? undefined : value));
  // The same messages give the same id; different messages, such as those of the next step, give another.
  const toolCallId = `demo-${createHash("sha256").update(asked).digest("hex").slice(0, 16)}`;
  const input = asked.match(/\S+/g)?.length ?? 0;
  const finish = isTool ? "tool-calls" : pieces.length < whole.length ? "length" : "stop";
  return {
    pieces,
    content: [
      isTool
        ? { type: "tool-call", toolCallId, toolName, input: text }
        : { type: "text", text: pieces.join("") },
    ],
    finishReason: { unified: finish, raw: undefined },
    // One word is one token.
    usage: {
      inputTokens: { total: input, noCache: input, cacheRead: undefined, cacheWrite: undefined },
      outputTokens: { total: pieces.length, text: pieces.length, reasoning: undefined },
    },
    warnings: [],
    response: { modelId: "demo" },
  };
}

function untilStop(text: string, { stopSequences = [] }: LanguageModelV4CallOptions): string {
  const ends = stopSequences.map((sequence) => text.indexOf(sequence)).filter((end) => end >= 0);
  return text.slice(0, Math.min(text.length, ...ends));
}

async function* parts(
  { content: [content], pieces, finishReason, usage, warnings }: Generated,
  delay: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<LanguageModelV4StreamPart> {
  yield { type: "stream-start", warnings };
  yield { type: "response-metadata", modelId: "demo" };
  const toolCall = content?.type === "tool-call" ? content : undefined;
  const id = toolCall?.toolCallId ?? "text-1";
  yield toolCall ? { type: "tool-input-start", id, toolName: toolCall.toolName } : { type: "text-start", id };
  for (const delta of pieces) {
    await pause(delay, signal);
    yield { type: toolCall ? "tool-input-delta" : "text-delta", id, delta };
  }
  yield { type: toolCall ? "tool-input-end" : "text-end", id };
  if (toolCall) yield toolCall;
  yield { type: "finish", finishReason, usage };
}

/** Waits; when the signal aborts, throws the signal's own reason, as `fetch` does. */
async function pause(delay: number, signal: AbortSignal | undefined): Promise<void> {
  if (delay > 0) await wait(delay, undefined, signal && { signal }).catch(() => undefined);
  signal?.throwIfAborted();
}

interface Reply {
  /** The tool to call; the text is its input. Undefined: the text is the reply. */
  readonly toolName?: string;
  readonly text: string;
}

/** The object for JSON without a schema. */
const anyObject = { type: "object", properties: { text: { type: "string" } } };

/** Decides the demo model's reply to one call: a tool call, JSON for a schema, or text by the rules. */
function replyTo({ prompt, tools = [], toolChoice, responseFormat }: LanguageModelV4CallOptions): Reply {
  const conversation = readConversation(prompt);
  const functions = tools.filter((tool) => tool.type === "function");
  const instructed = followInstruction(conversation, functions);
  const tool = chooseTool(functions, toolChoice, conversation, instructed !== undefined);
  if (tool)
    return { toolName: tool.name, text: fill(tool.inputSchema, valuesMentioned(conversation, "mentioned")) };
  const [schema] =
    responseFormat?.type === "json" ? [responseFormat.schema ?? anyObject] : jsonIn(conversation.schema);
  if (schema) return { text: fill(schema, valuesMentioned(conversation, "all")) };
  const { outcomes } = conversation;
  return { text: outcomes.length > 0 ? describeOutcomes(outcomes) : (instructed ?? writeText(conversation)) };
}

function fill(schema: unknown, preferences: Preferences): string {
  const { value, problem } = exampleValue(schema, preferences);
  if (problem === undefined) return JSON.stringify(value);
  const cure = 'Give the property "examples" or a "default" in the schema, or use a real model.';
  // Public, because the caller sent the schema and needs the message.
  throw new PublicError(`The demo model cannot make up a value for ${problem.replace(/\.$/, "")}. ${cure}`);
}
