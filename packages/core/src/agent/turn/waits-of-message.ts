// The calls of a message that wait for approval, with the words and the schema for the person who decides.
import { asSchema, getToolName, isToolUIPart, type ToolSet, type UIMessage } from "ai";
import { propertyOf } from "../../values/fields.ts";
import { isoTime } from "../../values/iso-time.ts";
import { waitingCalls } from "../conversation/apply-tool-decisions.ts";
import { type ApprovalDeadline, decisionAt, decisionSchema } from "../durable/call-waits.ts";
import type { ApprovalWait } from "./approval-waits.ts";

export async function waitsOf(message: UIMessage, tools: ToolSet): Promise<readonly ApprovalWait[]> {
  return Promise.all(
    waitingCalls(message).map(async (part) => {
      const toolName = getToolName(part);
      const schema = Object.hasOwn(tools, toolName) ? tools[toolName]?.inputSchema : undefined;
      const inputSchema = schema === undefined ? {} : { ...(await asSchema(schema).jsonSchema) };
      const limit = keptDeadline(part.approval);
      return {
        place: message.parts.indexOf(part),
        approvalId: part.approval.id,
        reason: `The tool ${toolName} needs approval`,
        data: JSON.stringify({ toolName, input: part.input }),
        resumeSchema: JSON.stringify(decisionSchema(inputSchema)),
        deadline: limit?.deadline ?? null,
        onDeadline: limit === undefined ? null : JSON.stringify(decisionAt(limit.onDeadline)),
      };
    }),
  );
}

interface KeptDeadline extends Pick<ApprovalDeadline, "onDeadline"> {
  /** Milliseconds since 1970. */
  readonly deadline: number;
}

/** The deadline of a call is kept in the `approval` of its part: it outlives the turn that asked. */
function keptDeadline(approval: object): KeptDeadline | undefined {
  const deadline = propertyOf(approval, "deadline");
  if (typeof deadline !== "string") return undefined;
  const onDeadline = propertyOf(approval, "onDeadline") === "approve" ? "approve" : "deny";
  return { deadline: Date.parse(deadline), onDeadline };
}

/** The message with the deadlines of the calls that wait since `at`, by the ids of their calls. */
export function withDeadlines(
  message: UIMessage,
  deadlines: ReadonlyMap<string, ApprovalDeadline>,
  at: number,
): UIMessage {
  if (deadlines.size === 0) return message;
  const parts = message.parts.map((part) => {
    if (!isToolUIPart(part) || part.state !== "approval-requested") return part;
    const { approval } = part;
    const found = deadlines.get(part.toolCallId);
    if (found === undefined || keptDeadline(approval) !== undefined) return part;
    const limit = { deadline: isoTime(found.at(at)), onDeadline: found.onDeadline };
    return { ...part, approval: { ...approval, ...limit } };
  });
  return { ...message, parts };
}
