// Builds the chat message of a streamed reply, at its end. Neighbouring deltas are merged first: the AI SDK runs every
// chunk through a queue of its own.
import {
  createUIMessageStream,
  isToolUIPart,
  type TextUIPart,
  type UIMessage,
  type UIMessageChunk,
} from "ai";
import type { JsonText } from "../../values/json.ts";
import { replyErrorText, toolErrorText } from "../call/model-failure.ts";
import type { Operation } from "../call/operation.ts";
import { readOutcome } from "../durable/tool-outcome.ts";
import { merge } from "./merge-deltas.ts";

/** The reply that the message is built for. */
export interface BuiltReply {
  readonly messageId: string;
  /** The messages before it; the last one is continued when it is the assistant's. */
  readonly history: readonly UIMessage[];
  readonly operation: Pick<Operation, "logger" | "loop">;
}

export class MessageBuilder {
  readonly #reply: BuiltReply;
  readonly #chunks: UIMessageChunk[] = [];

  constructor(reply: BuiltReply) {
    this.#reply = reply;
  }

  add(chunk: UIMessageChunk): void {
    const last = this.#chunks.at(-1);
    const merged = last && merge(last, chunk);
    // A copy: the AI SDK makes a data chunk itself the part, and changes that when another one replaces it.
    if (merged === undefined) this.#chunks.push({ ...chunk });
    else this.#chunks[this.#chunks.length - 1] = merged;
  }

  /** The message, as far as it was built. Never throws. */
  async finish(): Promise<UIMessage | undefined> {
    const { messageId, history, operation } = this.#reply;
    const chunks = [...this.#chunks, ...this.#missingToolResults()];
    const plain = history.at(-1)?.role === "assistant" ? undefined : plainMessage(messageId, chunks);
    if (plain !== undefined) return plain;
    let message: UIMessage | undefined;
    const stream = createUIMessageStream({
      originalMessages: [...history],
      generateId: () => messageId,
      onError: replyErrorText,
      execute: ({ writer }) => {
        for (const chunk of chunks) writer.write(chunk);
      },
      onEnd: ({ responseMessage }) => {
        message = responseMessage;
      },
    });
    try {
      await stream.pipeTo(new WritableStream());
    } catch (error) {
      operation.logger.error({ err: error }, "the message of a reply could not be built completely");
    }
    return message;
  }

  /** Results of tools that ended after the reply broke off, which the AI SDK does not report. */
  #missingToolResults(): UIMessageChunk[] {
    const { history, operation } = this.#reply;
    const ended = operation.loop?.endedTools ?? [];
    const open = new Set(history.at(-1)?.parts.map((part) => (isToolUIPart(part) ? part.toolCallId : "")));
    for (const chunk of this.#chunks) {
      if (chunk.type === "tool-input-available") open.add(chunk.toolCallId);
      else if (chunk.type === "tool-output-error") open.delete(chunk.toolCallId);
      else if (chunk.type === "tool-output-available" && chunk.preliminary !== true)
        open.delete(chunk.toolCallId);
    }
    return [...ended]
      .filter(([toolCallId]) => open.has(toolCallId))
      .map(([toolCallId, outcome]) => outcomeChunk(toolCallId, outcome));
  }
}

function outcomeChunk(toolCallId: string, outcome: JsonText): UIMessageChunk {
  try {
    return { type: "tool-output-available", toolCallId, output: readOutcome(outcome) };
  } catch (thrown) {
    return { type: "tool-output-error", toolCallId, errorText: toolErrorText(thrown) };
  }
}

/**
 * The message of a reply that is text alone, as most are; undefined when the chunks hold more than plain text. The AI SDK
 * would send them through four streams, a tenth of the processor time of a short reply (4.8 ms beside 4.3).
 */
export function plainMessage(messageId: string, chunks: readonly UIMessageChunk[]): UIMessage | undefined {
  const parts: UIMessage["parts"] = [];
  const open = new Map<string, TextUIPart>();
  let id = messageId;
  for (const chunk of chunks) {
    // Metadata of a provider or the host is merged by rules of the AI SDK.
    for (const field in chunk) if (!plainFields.has(field)) return undefined;
    switch (chunk.type) {
      case "start":
        id = chunk.messageId ?? messageId;
        break;
      case "start-step":
        parts.push({ type: "step-start" });
        break;
      case "text-start": {
        const part: TextUIPart = { type: "text", text: "", state: "streaming" };
        open.set(chunk.id, part);
        parts.push(part);
        break;
      }
      case "text-delta":
      case "text-end": {
        const part = open.get(chunk.id);
        if (part === undefined) return undefined;
        if (chunk.type === "text-delta") part.text += chunk.delta;
        else {
          part.state = "done";
          open.delete(chunk.id);
        }
        break;
      }
      case "finish-step":
      case "finish":
        break;
      default:
        return undefined;
    }
  }
  return { id, role: "assistant", parts };
}

/** The fields of the chunks above. */
const plainFields: ReadonlySet<string> = new Set(["type", "messageId", "id", "delta", "finishReason"]);
