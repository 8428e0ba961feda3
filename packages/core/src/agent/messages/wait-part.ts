// A reply whose tools wait: it ends here with a part for each of them, and continues later.
import type { LanguageModelUsage, TextStreamPart, ToolSet, UIMessage } from "ai";
import { isoTime } from "../../values/iso-time.ts";
import type { DataChunk } from "../call/data-writer.ts";
import type { Operation } from "../call/operation.ts";
import { isWaiting } from "../durable/call-waits.ts";
import type { ToolWait } from "../durable/tool-steps.ts";

/** The type of the parts that describe the waits. */
const waitPart = "data-waiting";

export function isWaitPart({ type }: UIMessage["parts"][number]): boolean {
  return type === waitPart;
}

/** The message as its next reply sees it: a wait is no part of what was said. */
export function withoutWaits(message: UIMessage): UIMessage {
  if (!message.parts.some(isWaitPart)) return message;
  return { ...message, parts: message.parts.filter((part) => !isWaitPart(part)) };
}

/** Whether the reply stops here because tools wait. */
export function waitsForTools({ loop, signal }: Pick<Operation, "loop" | "signal">): boolean {
  return isWaiting(loop?.left?.reason) && !signal.aborted;
}

export function waitChunk({ path, until, ...wait }: ToolWait): DataChunk {
  const data = { ...wait, stepPath: path, ...(until !== undefined && { until: isoTime(until) }) };
  return { type: waitPart, id: path, data };
}

const nothingUsed: LanguageModelUsage = {
  ...{ inputTokens: 0, outputTokens: 0, totalTokens: 0 },
  inputTokenDetails: { noCacheTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 },
  outputTokenDetails: { textTokens: 0, reasoningTokens: 0 },
};

/** The last parts of a reply whose tools wait: its last step asks for tools. The usage is that of the recorded calls. */
export const endForWait: readonly TextStreamPart<ToolSet>[] = [
  { type: "finish", finishReason: "tool-calls", rawFinishReason: undefined, totalUsage: nothingUsed },
];
