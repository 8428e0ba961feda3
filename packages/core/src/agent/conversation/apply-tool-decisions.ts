// Takes a person's answers into a message that waits for them: approvals, and outputs of tools that the client runs.
//
// Only the answers are taken from what the client sends; the calls themselves are ours, as they were kept. So nobody can
// have a tool run that the model did not ask for, or with another input.
import { isToolUIPart, type ToolSet, type UIMessage } from "ai";
import { ConversationConflictError, InputValidationError } from "../../errors/index.ts";

type Part = UIMessage["parts"][number];

/** The kept message with the answers of the one that was sent. */
export function applyToolDecisions(kept: UIMessage, sent: UIMessage, tools: ToolSet): UIMessage {
  let taken = 0;
  const parts = kept.parts.map((part) => {
    const answered = answer(part, sent, tools);
    if (answered !== part) taken++;
    return answered;
  });
  if (taken === 0) {
    throw new ConversationConflictError({ problem: `Message ${kept.id} waits for no answer` });
  }
  if (parts.some((part) => isToolUIPart(part) && part.state === "approval-requested")) {
    throw new InputValidationError({ detail: "input: every request for approval needs an answer" });
  }
  return { ...kept, parts };
}

function answer(part: Part, sent: UIMessage, tools: ToolSet): Part {
  if (!isToolUIPart(part)) return part;
  const { toolCallId } = part;
  const given = sent.parts.find((each) => isToolUIPart(each) && each.toolCallId === toolCallId);
  if (given === undefined || !isToolUIPart(given)) return part;
  if (part.state === "approval-requested") {
    const word =
      given.state === "approval-responded" || given.state === "output-denied" ? given.approval : undefined;
    if (word === undefined || word.id !== part.approval.id) return part;
    const { approved, reason } = word;
    const approval = { ...part.approval, approved, ...(reason !== undefined && { reason }) };
    return { ...part, state: "approval-responded", approval };
  }
  if (part.state !== "input-available" || !runsAtClient(part, tools)) return part;
  if (given.state === "output-available") return { ...part, state: "output-available", output: given.output };
  if (given.state === "output-error") return { ...part, state: "output-error", errorText: given.errorText };
  return part;
}

function runsAtClient(part: Extract<Part, { toolCallId: string }>, tools: ToolSet): boolean {
  const name = part.type === "dynamic-tool" ? part.toolName : part.type.slice("tool-".length);
  const tool = Object.hasOwn(tools, name) ? tools[name] : undefined;
  return tool !== undefined && tool.execute === undefined;
}
