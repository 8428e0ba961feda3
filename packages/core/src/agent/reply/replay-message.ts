// A chat message as the chunks that made it. A client that attaches to a reply rebuilds the whole message from what it
// reads, so a reply that continues an earlier one, such as after an approval, has to begin with that one's parts.
import { getToolName, isDataUIPart, isToolUIPart, type UIMessage, type UIMessageChunk } from "ai";

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

function chunksOf({ parts }: UIMessage): UIMessageChunk[] {
  const chunks: UIMessageChunk[] = [];
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

function chunksOfPart(part: Part, id: string): UIMessageChunk[] {
  if (isToolUIPart(part)) return chunksOfTool(part);
  if (isDataUIPart(part)) return [{ ...part }];
  switch (part.type) {
    case "text":
    case "reasoning": {
      const { type, text, providerMetadata } = part;
      const metadata = providerMetadata && { providerMetadata };
      return [
        { type: `${type}-start`, id, ...metadata },
        { type: `${type}-delta`, id, delta: text },
        { type: `${type}-end`, id, ...metadata },
      ];
    }
    case "file": {
      const { type, url, mediaType, providerMetadata } = part;
      return [{ type, url, mediaType, ...(providerMetadata && { providerMetadata }) }];
    }
    case "source-url":
    case "source-document":
      return [{ ...part }];
    default:
      return [];
  }
}

function chunksOfTool(part: ToolPart): UIMessageChunk[] {
  const { toolCallId, approval, providerExecuted, callProviderMetadata } = part;
  const call: UIMessageChunk = {
    type: "tool-input-available",
    toolCallId,
    toolName: getToolName(part),
    input: part.input,
    ...(part.type === "dynamic-tool" && { dynamic: true }),
    ...(providerExecuted !== undefined && { providerExecuted }),
    ...(callProviderMetadata && { providerMetadata: callProviderMetadata }),
  };
  const asked: UIMessageChunk[] = [];
  if (approval !== undefined) {
    const { id: approvalId, approved, reason } = approval;
    asked.push({ type: "tool-approval-request", approvalId, toolCallId });
    const given = { approvalId, ...(reason !== undefined && { reason }) };
    if (approved !== undefined) asked.push({ type: "tool-approval-response", ...given, approved });
  }
  return [call, ...asked, ...endingOf(part)];
}

function endingOf(part: ToolPart): UIMessageChunk[] {
  const { toolCallId } = part;
  if (part.state === "output-available") {
    return [{ type: "tool-output-available", toolCallId, output: part.output }];
  }
  if (part.state === "output-error") {
    return [{ type: "tool-output-error", toolCallId, errorText: part.errorText }];
  }
  return part.state === "output-denied" ? [{ type: "tool-output-denied", toolCallId }] : [];
}
