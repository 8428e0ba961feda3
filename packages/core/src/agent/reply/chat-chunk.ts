// The chunks of the UI message stream that a part of a reply becomes.
import { type ToolSet, toUIMessageChunk, type UIMessageChunk } from "ai";
import { callHostNow } from "../call/host-function.ts";
import type { MessageMetadata } from "../call/message-options.ts";
import { replyErrorText } from "../call/model-failure.ts";
import type { Part } from "./stream-parts.ts";

/** The chat message that the reply becomes, or continues. */
export interface TargetMessage {
  readonly messageId: string;
  readonly tools: ToolSet;
  /** Makes metadata of the message; undefined when it has none. */
  readonly messageMetadata: MessageMetadata | undefined;
}

/** Passes on the chunks of a part, if chat clients see any of it. */
export function chatChunks(part: Part, target: TargetMessage, add: (chunk: UIMessageChunk) => void): void {
  const { tools, messageId, messageMetadata } = target;
  const metadata =
    (messageMetadata && callHostNow("messageMetadata", () => messageMetadata({ part }))) ?? undefined;
  const chunk = toUIMessageChunk(part, {
    tools,
    sendReasoning: true,
    sendSources: true,
    onError: replyErrorText,
    responseMessageId: messageId,
    messageMetadata: metadata,
  });
  // The first and the last chunk have it in them. The end of a step is shown with it.
  const isApart = metadata !== undefined && part.type !== "start" && part.type !== "finish";
  if (isApart && part.type === "finish-step") add({ type: "message-metadata", messageMetadata: metadata });
  if (chunk !== undefined) add(chunk);
  if (isApart && part.type !== "finish-step") add({ type: "message-metadata", messageMetadata: metadata });
}
