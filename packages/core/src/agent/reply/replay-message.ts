// A chat message as the chunks that made it. A client that attaches to a reply rebuilds the whole message from its chunks,
// so a reply that continues an earlier one, such as after an approval, has to begin with that one's parts.
import { getToolName, isToolUIPart, type UIMessage, type UIMessageChunk } from "ai";

type Part = UIMessage["parts"][number];
type ToolPart = Extract<Part, { toolCallId: string }>;

/** The chunks of a reply; after the first one come the parts of the message that it continues. */
export function replay(
  message: UIMessage,
  chunks: AsyncIterableIterator<UIMessageChunk>,
): AsyncIterableIterator<UIMessageChunk> {
  let earlier: UIMessageChunk[] | undefined;
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    async next() {
      const value = earlier?.pop();
      if (value !== undefined) return { done: false, value };
      const result = await chunks.next();
      earlier ??= chunksOf(message).reverse();
      return result;
    },
    async return() {
      await chunks.return?.();
      return { done: true, value: undefined };
    },
  };
}

/** The chunks that a message is made of, without those that begin and end it. */
export function chunksOf({ parts, metadata }: UIMessage): UIMessageChunk[] {
  const chunks: UIMessageChunk[] =
    metadata === undefined ? [] : [{ type: "message-metadata", messageMetadata: metadata }];
  let inStep = false;
  for (const [index, part] of parts.entries()) {
    if (part.type === "step-start") {
      if (inStep) chunks.push({ type: "finish-step" });
      chunks.push({ type: "start-step" });
      inStep = true;
    } else {
      chunks.push(...chunksOfPart(part, `kept-${index}`));
    }
  }
  if (inStep) chunks.push({ type: "finish-step" });
  return chunks;
}

function chunksOfPart(part: Exclude<Part, { type: "step-start" }>, id: string): UIMessageChunk[] {
  if (isToolUIPart(part)) return chunksOfTool(part);
  switch (part.type) {
    case "text": {
      const { text, citations } = part;
      const metadata = metadataOf(part);
      return [
        { type: "text-start", id, ...metadata },
        { type: "text-delta", id, delta: text },
        { type: "text-end", id, ...metadata, ...(citations && { citations }) },
      ];
    }
    case "reasoning": {
      // Unlike a text it is shown with its id.
      const { text, id: own = id } = part;
      const metadata = metadataOf(part);
      return [
        { type: "reasoning-start", id: own, ...metadata },
        { type: "reasoning-delta", id: own, delta: text },
        { type: "reasoning-end", id: own, ...metadata },
      ];
    }
    case "file": {
      // The stream has no field for the name.
      const { filename: _, ...file } = part;
      return [file];
    }
    default:
      return [{ ...part }];
  }
}

function metadataOf({ providerMetadata }: Pick<Extract<Part, { type: "text" }>, "providerMetadata">) {
  return providerMetadata && { providerMetadata };
}

function chunksOfTool(part: ToolPart): UIMessageChunk[] {
  const { toolCallId, title, toolMetadata, providerExecuted, callProviderMetadata } = part;
  const call = {
    toolCallId,
    toolName: getToolName(part),
    ...(part.type === "dynamic-tool" && { dynamic: true }),
    ...(providerExecuted !== undefined && { providerExecuted }),
    ...(callProviderMetadata && { providerMetadata: callProviderMetadata }),
    ...(title !== undefined && { title }),
    ...(toolMetadata && { toolMetadata }),
  };
  if (part.state === "input-streaming") {
    const { rawInput: inputTextDelta, inputEncoding } = part;
    const start = { type: "tool-input-start", ...call, ...(inputEncoding && { inputEncoding }) } as const;
    return inputTextDelta === undefined
      ? [start]
      : [start, { type: "tool-input-delta", toolCallId, inputTextDelta }];
  }
  return [
    { type: "tool-input-available", ...call, input: part.input },
    ...approvalOf(part),
    ...endingOf(part),
  ];
}

function approvalOf({ toolCallId, approval }: ToolPart): UIMessageChunk[] {
  if (approval === undefined) return [];
  const { id: approvalId, approved, reason, requestReason, isAutomatic, signature, descriptor } = approval;
  const request: UIMessageChunk = {
    type: "tool-approval-request",
    approvalId,
    toolCallId,
    ...(requestReason !== undefined && { reason: requestReason }),
    ...(isAutomatic !== undefined && { isAutomatic }),
    ...(signature !== undefined && { signature }),
    ...(descriptor !== undefined && { approvalDescriptor: descriptor }),
    ...("inputSchemaInput" in approval && { inputSchemaInput: approval.inputSchemaInput }),
  };
  if (approved === undefined) return [request];
  const given = { approvalId, approved, ...(reason !== undefined && { reason }) };
  return [request, { type: "tool-approval-response", ...given }];
}

function endingOf(part: ToolPart): UIMessageChunk[] {
  const { toolCallId } = part;
  if (part.state === "output-denied") return [{ type: "tool-output-denied", toolCallId }];
  if (part.state !== "output-available" && part.state !== "output-error") return [];
  const { resultProviderMetadata } = part;
  const ended = { toolCallId, ...(resultProviderMetadata && { providerMetadata: resultProviderMetadata }) };
  if (part.state === "output-error")
    return [{ type: "tool-output-error", ...ended, errorText: part.errorText }];
  const { output, preliminary } = part;
  return [
    { type: "tool-output-available", ...ended, output, ...(preliminary !== undefined && { preliminary }) },
  ];
}
