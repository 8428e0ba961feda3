// Applies what a client decided about the tool calls of a kept message: approvals, and outputs of tools that it runs.
//
// Only the decisions are taken from what the client sends; the calls themselves are ours, as they were kept. So nobody
// can have a tool run that the model did not ask for, or with another input.
import { isToolUIPart, type ToolSet, type UIMessage } from "ai";
import { ConversationConflictError, InputValidationError } from "../../errors/index.ts";

type Part = UIMessage["parts"][number];
type ToolPart = Extract<Part, { toolCallId: string }>;

/** The kept message with the decisions of the one that was sent. */
export function applyToolDecisions(kept: UIMessage, sent: UIMessage, tools: ToolSet): UIMessage {
  let applied = 0;
  const parts = kept.parts.map((part) => {
    const decided = isToolUIPart(part) ? decide(part, sent, tools) : part;
    if (decided !== part) applied++;
    return decided;
  });
  if (applied === 0) {
    throw new ConversationConflictError({ problem: `Message ${kept.id} is not waiting for a decision` });
  }
  if (parts.some((part) => isToolUIPart(part) && part.state === "approval-requested")) {
    throw new InputValidationError({ detail: "input: every approval request needs a decision" });
  }
  return { ...kept, parts };
}

/** The same part when nothing was decided about it. */
function decide(part: ToolPart, sent: UIMessage, tools: ToolSet): Part {
  const { toolCallId } = part;
  const given = sent.parts.find((each) => isToolUIPart(each) && each.toolCallId === toolCallId);
  if (given === undefined || !isToolUIPart(given)) return part;
  if (part.state === "approval-requested") {
    const decision =
      given.state === "approval-responded" || given.state === "output-denied" ? given.approval : undefined;
    if (decision === undefined || decision.id !== part.approval.id) return part;
    const { approved, reason } = decision;
    const approval = { ...part.approval, approved, ...(reason !== undefined && { reason }) };
    return { ...part, state: "approval-responded", approval };
  }
  if (part.state !== "input-available" || !runsAtClient(part, tools)) return part;
  if (given.state === "output-available") return { ...part, state: "output-available", output: given.output };
  if (given.state === "output-error") return { ...part, state: "output-error", errorText: given.errorText };
  return part;
}

function runsAtClient(part: ToolPart, tools: ToolSet): boolean {
  const name = part.type === "dynamic-tool" ? part.toolName : part.type.slice("tool-".length);
  const tool = Object.hasOwn(tools, name) ? tools[name] : undefined;
  return tool !== undefined && tool.execute === undefined;
}
