// Applies the decisions of a client about the tool calls of a kept message: approvals, and outputs of tools that it runs.
//
// Only the decisions are taken from the client; the calls themselves are ours, as they were kept. So no client
// can have a tool run that the model did not ask for, or with another input.
import { isToolUIPart, type ToolSet, type UIMessage } from "ai";
import { ConversationConflictError, InputValidationError } from "../../errors/index.ts";

type Part = UIMessage["parts"][number];
type ToolPart = Extract<Part, { toolCallId: string }>;

/** The kept message with the decisions of the one that was sent. */
export function applyToolDecisions(kept: UIMessage, sent: UIMessage, tools: ToolSet): UIMessage {
  let applied = 0;
  const given = new GivenParts(kept, sent);
  const parts = kept.parts.map((part) => {
    const decided = isToolUIPart(part) ? decide(part, given.next(part), tools) : part;
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

/** The parts that were sent for those that were kept. Where calls have one id, the last one sent belongs to the last kept. */
class GivenParts {
  readonly #sent: ReadonlyMap<string, readonly ToolPart[]>;
  readonly #byApproval: ReadonlyMap<string, ToolPart>;
  /** How many kept parts with this id are still to come. */
  readonly #left = new Map<string, number>();

  constructor(kept: UIMessage, sent: UIMessage) {
    const parts = sent.parts.filter(isToolUIPart);
    this.#sent = Map.groupBy(parts, ({ toolCallId }) => toolCallId);
    this.#byApproval = new Map(parts.flatMap((part) => (part.approval ? [[part.approval.id, part]] : [])));
    for (const { toolCallId } of kept.parts.filter(isToolUIPart))
      this.#left.set(toolCallId, (this.#left.get(toolCallId) ?? 0) + 1);
  }

  /** To be called for each kept tool part, in order. */
  next({ toolCallId, approval }: ToolPart): ToolPart | undefined {
    const left = this.#left.get(toolCallId) ?? 0;
    this.#left.set(toolCallId, left - 1);
    const decided = approval && this.#byApproval.get(approval.id);
    return decided?.toolCallId === toolCallId ? decided : this.#sent.get(toolCallId)?.at(-left);
  }
}

/** The same part when nothing was decided about it. */
function decide(part: ToolPart, given: ToolPart | undefined, tools: ToolSet): Part {
  if (given === undefined) return part;
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
