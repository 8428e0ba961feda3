// The reply of a model to one call, as it is recorded: its parts, with neighbouring deltas as one, and everything JSON.
import { hash } from "node:crypto";
import type {
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from "@ai-sdk/provider";
import { propertyOf } from "../../values/fields.ts";
import { holdsBytes } from "../../values/without-bytes.ts";

export type ModelPart = LanguageModelV4StreamPart;

export interface RecordedReply {
  readonly parts: readonly ModelPart[];
  /** Only of a call that was not streamed. */
  readonly structuredOutputText?: string;
}

/** Collects the parts of one call. */
export class PartCollector {
  readonly parts: ModelPart[] = [];

  add(part: ModelPart): void {
    // Raw chunks and keep-alives of the provider are not part of the reply.
    if (part.type === "raw" || part.type === "ping") return;
    const last = this.parts.at(-1);
    const merged = last && merge(last, part);
    if (part.type === "finish") this.parts.push({ ...part, usage: jsonUsage(part.usage) });
    else if (merged === undefined) this.parts.push(part);
    else this.parts[this.parts.length - 1] = merged;
  }
}

/** Without counts that are no numbers of JSON, which some providers' packages compute from counts that are missing. */
function jsonUsage(usage: LanguageModelV4Usage): LanguageModelV4Usage {
  const isKept = (value: unknown) => typeof value !== "number" || Number.isFinite(value);
  if ([usage.inputTokens, usage.outputTokens].flatMap(Object.values).every(isKept)) return usage;
  return JSON.parse(JSON.stringify(usage, (_, value) => (isKept(value) ? value : undefined)));
}

function merge(last: ModelPart, next: ModelPart): ModelPart | undefined {
  switch (last.type) {
    case "text-delta":
    case "reasoning-delta":
    case "tool-input-delta":
      if (next.type !== last.type || next.id !== last.id) return undefined;
      // Metadata of a provider about one delta belongs to it.
      if (last.providerMetadata !== undefined || next.providerMetadata !== undefined) return undefined;
      return { ...last, delta: last.delta + next.delta };
    default:
      return undefined;
  }
}

/** Reads a record. Times are the only values that JSON has changed. */
export function readReply(text: string): RecordedReply {
  const reply: unknown = JSON.parse(text);
  if (!isReply(reply)) throw new TypeError("The recorded reply of a model has no parts");
  return { ...reply, parts: reply.parts.map(withTime) };
}

function isReply(value: unknown): value is RecordedReply {
  const parts = propertyOf(value, "parts");
  return Array.isArray(parts) && parts.every((part) => typeof propertyOf(part, "type") === "string");
}

function withTime(part: ModelPart): ModelPart {
  if (part.type !== "response-metadata" || part.timestamp === undefined) return part;
  return { ...part, timestamp: new Date(part.timestamp) };
}

/** A reply that came at once, as the parts that it would have been streamed in. */
export function partsOf(result: LanguageModelV4GenerateResult): ModelPart[] {
  const { content, warnings, response, finishReason, usage, providerMetadata } = result;
  const parts: ModelPart[] = [{ type: "stream-start", warnings }];
  if (response !== undefined) {
    const { id, timestamp, modelId } = response;
    parts.push({
      type: "response-metadata",
      ...(id !== undefined && { id }),
      ...(timestamp !== undefined && { timestamp }),
      ...(modelId !== undefined && { modelId }),
    });
  }
  for (const [index, each] of content.entries()) {
    if (each.type !== "text" && each.type !== "reasoning") {
      parts.push(each);
      continue;
    }
    const { type, text, ...rest } = each;
    const id = String(index);
    parts.push({ type: `${type}-start`, id });
    parts.push({ type: `${type}-delta`, id, delta: text });
    parts.push({ type: `${type}-end`, id, ...rest });
  }
  parts.push({
    type: "finish",
    finishReason,
    usage: jsonUsage(usage),
    ...(providerMetadata && { providerMetadata }),
  });
  return parts;
}

/** The parts as a reply that comes at once. */
export function resultOf({ parts, structuredOutputText }: RecordedReply): LanguageModelV4GenerateResult {
  const content: LanguageModelV4GenerateResult["content"] = [];
  const texts = new Map<string, { text: string }>();
  let result: Omit<LanguageModelV4GenerateResult, "content"> = {
    finishReason: { unified: "other", raw: undefined },
    usage: { inputTokens: unknownTokens, outputTokens: unknownTokens },
    warnings: [],
  };
  for (const part of parts) {
    switch (part.type) {
      case "stream-start":
        result = { ...result, warnings: part.warnings };
        break;
      case "response-metadata": {
        const { type: _, ...response } = part;
        result = { ...result, response };
        break;
      }
      case "finish": {
        const { type: _, ...end } = part;
        result = { ...result, ...end };
        break;
      }
      case "text-start":
      case "reasoning-start": {
        const open = { type: part.type === "text-start" ? "text" : "reasoning", text: "" } as const;
        const text = { ...open };
        texts.set(part.id, text);
        content.push(text);
        break;
      }
      case "text-delta":
      case "reasoning-delta": {
        const open = texts.get(part.id);
        if (open !== undefined) open.text += part.delta;
        break;
      }
      case "text-end":
      case "reasoning-end": {
        const { type: _, id, ...rest } = part;
        Object.assign(texts.get(id) ?? {}, rest);
        break;
      }
      case "tool-input-start":
      case "tool-input-delta":
      case "tool-input-end":
      case "ping":
      case "raw":
      case "error":
        break;
      default:
        content.push(part);
    }
  }
  return { ...result, content, ...(structuredOutputText !== undefined && { structuredOutputText }) };
}

const unknownTokens = {
  total: undefined,
  noCache: undefined,
  cacheRead: undefined,
  cacheWrite: undefined,
  text: undefined,
  reasoning: undefined,
};

/** The tools that the model asks for and the AI SDK runs here: the ids of the calls, in order. */
export function toolCallIds({ parts }: RecordedReply): string[] {
  const ids: string[] = [];
  for (const part of parts) {
    if (part.type === "tool-call" && part.providerExecuted !== true) ids.push(part.toolCallId);
  }
  return ids;
}

function hashedBytes(_: string, value: unknown): unknown {
  return value instanceof Uint8Array ? hash("sha256", value) : value;
}

/** The same text for the same prompt, however large its attachments are. */
export function hashOf(prompt: unknown): string {
  // With a function for each value, a prompt of fifty messages took half as long again.
  const text = holdsBytes(prompt) ? JSON.stringify(prompt, hashedBytes) : JSON.stringify(prompt);
  return hash("sha256", text).slice(0, 32);
}
