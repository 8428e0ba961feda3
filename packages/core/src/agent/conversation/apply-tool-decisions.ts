// Applies the decisions of a client about the tool calls of a kept message: approvals, and outputs of tools that it runs.
//
// Only the decisions are taken from the client; the calls themselves are ours, as they were kept. So no client
// can have a tool run that the model did not ask for, or with another input. A person who decides beside the chat may
// edit the input of a call, and decides about one call at a time.
import { getToolName, isToolUIPart, type ToolSet, type UIMessage } from "ai";
import { ConversationConflictError, InputValidationError } from "../../errors/index.ts";
import { propertyOf } from "../../values/fields.ts";
import { parsed } from "../call/tool-context.ts";

type Part = UIMessage["parts"][number];
type ToolPart = Extract<Part, { toolCallId: string }>;

/** A person's decision about one tool call. */
export interface ToolDecision {
  /** The id of the approval request. */
  readonly approvalId: string;
  /** Whether the tool may run. */
  readonly approved: boolean;
  /** Why; the model reads it when the call is denied. Default: no reason. */
  readonly reason?: string | undefined;
  /** The input of the tool in place of the model's; it must fit the schema of the tool. Default: the model's. */
  readonly input?: unknown;
  /** The user who decides, kept with the call. Default: not known. */
  readonly by?: string | undefined;
  /** No person has decided before the deadline of the call. Default: false. */
  readonly byDeadline?: boolean | undefined;
}

/** When a call was decided, and by whom: kept in the `approval` of its part. */
export interface DecisionRecord {
  /** The user who decided; null when not known. */
  readonly by: string | null;
  /** ISO 8601. */
  readonly at: string;
  /** Milliseconds that the call waited; absent when not known. */
  readonly waitedMs?: number;
  /** The person has edited the input of the tool. Default: false. */
  readonly edited?: true;
  /** No person has decided before the deadline of the call. Default: false. */
  readonly byDeadline?: true;
}

type WaitingPart = Extract<ToolPart, { state: "approval-requested" }>;

/** The calls of a message that wait for approval. */
export function waitingCalls(message: UIMessage | undefined): readonly WaitingPart[] {
  const parts = message?.parts.filter(isToolUIPart) ?? [];
  return parts.filter((part) => part.state === "approval-requested");
}

/** The kept message with one decision: the other calls still wait. */
export async function applyDecision(
  kept: UIMessage | undefined,
  decision: ToolDecision,
  tools: ToolSet,
  record?: DecisionRecord,
): Promise<UIMessage> {
  const { approvalId, approved, reason } = decision;
  const part = waitingCalls(kept).find(({ approval }) => approval.id === approvalId);
  if (kept === undefined || part === undefined) throw notWaiting(kept, approvalId);
  const isEdited = decision.input !== undefined;
  const input = isEdited ? await editedInput(part, decision.input, tools) : part.input;
  const recorded = record && { decision: { ...record, ...(isEdited && { edited: true }) } };
  const approval = { ...part.approval, approved, ...(reason !== undefined && { reason }), ...recorded };
  const decided = { ...part, input, state: "approval-responded" as const, approval };
  return { ...kept, parts: kept.parts.map((each) => (each === part ? decided : each)) };
}

/** The error of a decision that comes too late. */
export function notWaiting(message: UIMessage | undefined, approvalId: string): ConversationConflictError {
  const part = message?.parts.filter(isToolUIPart).find(({ approval }) => approval?.id === approvalId);
  const approval = part?.approval;
  const problem =
    approval?.approved === undefined
      ? "does not wait for a decision any more"
      : `has already been decided${winnerOf(approval)}`;
  return new ConversationConflictError({ problem: `The approval ${approvalId} ${problem}` });
}

/** The decision that came first, as far as it is known who made it. */
function winnerOf(approval: object): string {
  const decision = propertyOf(approval, "decision");
  const by = propertyOf(decision, "byDeadline") === true ? "the deadline" : propertyOf(decision, "by");
  const outcome = propertyOf(approval, "approved") === true ? "approved" : "denied";
  return typeof by === "string" ? `: ${outcome} by ${by}` : "";
}

async function editedInput(part: WaitingPart, input: unknown, tools: ToolSet): Promise<unknown> {
  const name = getToolName(part);
  // The agent would refuse its own request.
  if (part.approval.signature !== undefined)
    throw new InputValidationError({
      detail: "input: the agent has signed the call, so it cannot be edited",
    });
  const tool = Object.hasOwn(tools, name) ? tools[name] : undefined;
  if (tool === undefined) return input;
  try {
    return await parsed(tool.inputSchema, input);
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    throw new InputValidationError({ detail: `input: for the tool ${name} ${problem}` });
  }
}

/** The kept message with the decisions of the one that was sent. */
export function applyToolDecisions(
  kept: UIMessage,
  sent: UIMessage,
  tools: ToolSet,
  record?: DecisionRecord,
): UIMessage {
  let applied = 0;
  checkFirst(kept, sent);
  const given = new GivenParts(kept, sent);
  const parts = kept.parts.map((part) => {
    const decided = isToolUIPart(part) ? decide(part, given.next(part), tools, record) : part;
    if (decided !== part) applied++;
    return decided;
  });
  if (applied === 0) {
    const late = new Set(sent.parts.filter(isToolUIPart).map(({ approval }) => approval?.id));
    const decided = kept.parts.filter(isToolUIPart).findLast(({ approval }) => late.has(approval?.id ?? ""));
    const winner = decided?.approval === undefined ? "" : winnerOf(decided.approval);
    throw new ConversationConflictError({
      problem: `Message ${kept.id} is not waiting for a decision${winner}`,
    });
  }
  if (parts.some((part) => isToolUIPart(part) && part.state === "approval-requested")) {
    throw new InputValidationError({ detail: "input: every approval request needs a decision" });
  }
  return { ...kept, parts };
}

/** Refuses a decision about a call that was decided otherwise, beside the chat. */
function checkFirst(kept: UIMessage, sent: UIMessage): void {
  const given = new Map(sent.parts.filter(isToolUIPart).map((part) => [part.approval?.id, part.approval]));
  for (const part of kept.parts.filter(isToolUIPart)) {
    if (part.state !== "approval-responded") continue;
    const approved = given.get(part.approval.id)?.approved;
    if (approved !== undefined && approved !== part.approval.approved)
      throw notWaiting(kept, part.approval.id);
  }
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
function decide(
  part: ToolPart,
  given: ToolPart | undefined,
  tools: ToolSet,
  record: DecisionRecord | undefined,
): Part {
  if (given === undefined) return part;
  if (part.state === "approval-requested") {
    const decision =
      given.state === "approval-responded" || given.state === "output-denied" ? given.approval : undefined;
    if (decision === undefined || decision.id !== part.approval.id) return part;
    const { approved, reason } = decision;
    const recorded = record && { decision: record };
    const approval = { ...part.approval, approved, ...(reason !== undefined && { reason }), ...recorded };
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
