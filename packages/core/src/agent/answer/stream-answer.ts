// A streamed answer as callers of `stream` see it: every part of the AI SDK, without what is only the provider's business.
import { AndanteError, AnswerStoppedError } from "../../errors/index.ts";
import type { Turn } from "../turn.ts";
import { chatChunk } from "./chat-chunk.ts";
import { MessageBuilder } from "./message-builder.ts";
import { type Part, partsOf } from "./stream-parts.ts";
import { untilDropped } from "./until-dropped.ts";

/** One line of the stream. */
export interface StreamPart {
  readonly type: string;
  readonly [field: string]: unknown;
}

export function streamAnswer(turn: Turn): AsyncIterableIterator<StreamPart> {
  return untilDropped(tell(turn), () => turn.stop(new AnswerStoppedError()));
}

async function* tell(turn: Turn): AsyncGenerator<StreamPart, undefined> {
  const builder = turn.isKept ? new MessageBuilder(turn) : undefined;
  let complete = false;
  try {
    for await (const part of partsOf(turn)) {
      const chunk = builder && chatChunk(part, turn);
      if (chunk !== undefined) builder?.add(chunk);
      if (part.type === "finish") {
        // Whoever has read the last part finds the answer in the conversation.
        await turn.keep(await builder?.finish(), false);
        complete = true;
      }
      const view = viewPart(part);
      if (view !== undefined) yield view;
    }
  } finally {
    if (!complete) await turn.keepPartial(await builder?.finish());
    turn.end();
  }
}

export function viewPart(part: Part): StreamPart | undefined {
  switch (part.type) {
    case "text-delta":
      return { ...part, delta: part.text };
    case "reasoning-delta":
      return { ...part, delta: part.text };
    case "error":
      return {
        type: "error",
        error: part.error instanceof AndanteError ? part.error.message : "The answer failed",
      };
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
