// One part of a streamed reply as callers of `stream` see it: every part of the AI SDK, without provider internals.
import { replyErrorText } from "../call/model-failure.ts";
import type { Part } from "./stream-parts.ts";

/** One event of the stream. */
export interface StreamPart {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** Undefined for parts that callers do not see. */
export function viewPart(part: Part): StreamPart | undefined {
  switch (part.type) {
    case "text-delta":
      return { ...part, delta: part.text };
    case "reasoning-delta":
      return { ...part, delta: part.text };
    case "error":
      return { type: "error", error: replyErrorText(part.error) };
    case "start-step":
      return { type: "start-step", warnings: part.warnings };
    case "finish-step": {
      const { response, ...rest } = part;
      const { id, timestamp, modelId } = response;
      return { ...rest, response: { id, timestamp, modelId } };
    }
    case "file":
    case "reasoning-file": {
      const { mediaType, base64 } = part.file;
      return { ...part, file: { mediaType, base64 } };
    }
    case "raw":
    case "ping":
      return undefined;
    default:
      return { ...part };
  }
}
