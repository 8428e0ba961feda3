// The rest of a reply that ended while disconnected, from the kept message.
import type { ChatChunk, ConversationMessage } from "../responses/wire.ts";
import { replyChanged } from "./replayed-reply.ts";

type Part = ConversationMessage["parts"][number];

/** The chunks missing after `known`. `earlier` is the number of parts that the message had before this reply. */
export function missingChunks(
  { id, parts, partial }: ConversationMessage,
  known: readonly ChatChunk[],
  earlier: number,
): ChatChunk[] {
  const texts = textsIn(known);
  const has = (type: string, toolCallId: unknown) =>
    known.some(
      // Preliminary outputs of a tool are not kept.
      (chunk) => chunk.type === type && chunk.toolCallId === toolCallId && chunk.preliminary !== true,
    );
  const hasData = ({ type, id: dataId }: Part) =>
    known.some((chunk) => chunk.type === type && chunk.id === dataId);
  const count = (counted: string) => known.filter(({ type }) => type === counted).length;
  let steps = count("start-step");
  let inStep = steps > count("finish-step");
  const start = count("start") > 0 ? [] : [{ type: "start", messageId: id }];
  const missing = parts.flatMap((part, index): ChatChunk[] => {
    if (typeof part.toolCallId === "string")
      return chunksOfTool(part, index < earlier).filter(({ type }) => !has(type, part.toolCallId));
    if (index < earlier) return [];
    if (part.type === "step-start") {
      if (steps-- > 0) return [];
      const before = inStep ? [{ type: "finish-step" }] : [];
      inStep = true;
      return [...before, { type: "start-step" }];
    }
    if (part.type === "text" || part.type === "reasoning") return chunksOfText(part, texts.shift(), index);
    // Other parts, such as a file: matched by id, else by position among the parts of the same type.
    const before = parts.slice(earlier, index).filter(({ type }) => type === part.type).length;
    const isKnown = part.id === undefined ? before < count(part.type) : hasData(part);
    return isKnown ? [] : [part];
  });
  // A stopped reply has no `finish` chunk.
  if (partial === true || count("finish") > 0) return [...start, ...missing];
  return [...start, ...missing, ...(inStep ? [{ type: "finish-step" }] : []), { type: "finish" }];
}

interface KnownText {
  readonly id: unknown;
  text: string;
  ended: boolean;
}

function textsIn(known: readonly ChatChunk[]): KnownText[] {
  const texts: KnownText[] = [];
  for (const { type, id, delta } of known) {
    const last = texts.findLast((text) => text.id === id);
    if (/^(text|reasoning)-start$/.test(type)) texts.push({ id, text: "", ended: false });
    else if (last !== undefined && /^(text|reasoning)-delta$/.test(type)) last.text += String(delta);
    else if (last !== undefined && /^(text|reasoning)-end$/.test(type)) last.ended = true;
  }
  return texts;
}

function chunksOfText({ type, text, id: own }: Part, had: KnownText | undefined, index: number): ChatChunk[] {
  if (had !== undefined && !String(text).startsWith(had.text)) throw replyChanged();
  const id = had?.id ?? own ?? `kept-${index}`;
  const rest = String(text).slice(had?.text.length ?? 0);
  return [
    ...(had === undefined ? [{ type: `${type}-start`, id }] : []),
    ...(rest === "" ? [] : [{ type: `${type}-delta`, id, delta: rest }]),
    ...(had?.ended === true ? [] : [{ type: `${type}-end`, id }]),
  ];
}

/** The chunks of a tool call; of a call in an earlier part of the message, only its outcome. */
function chunksOfTool(part: Part, isEarlier: boolean): ChatChunk[] {
  const { toolCallId, state, input, output, errorText, approval } = part;
  const toolName = part.type === "dynamic-tool" ? part.toolName : part.type.replace(/^tool-/, "");
  const dynamic = part.type === "dynamic-tool" && { dynamic: true };
  const asked = typeof approval === "object" && approval !== null && "id" in approval;
  const ending =
    state === "output-available"
      ? [{ type: "tool-output-available", toolCallId, output }]
      : state === "output-error"
        ? [{ type: "tool-output-error", toolCallId, errorText }]
        : state === "output-denied"
          ? [{ type: "tool-output-denied", toolCallId }]
          : [];
  if (isEarlier) return ending;
  return [
    { type: "tool-input-available", toolCallId, toolName, input, ...dynamic },
    ...(asked ? [{ type: "tool-approval-request", toolCallId, approvalId: approval.id }] : []),
    ...ending,
  ];
}
