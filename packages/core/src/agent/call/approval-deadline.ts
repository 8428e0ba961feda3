// The host's `toolApproval` with deadlines: the AI SDK gets its own statuses, and the deadlines are noted by their calls.
import type { ToolApprovalConfiguration, ToolApprovalStatus, ToolSet } from "ai";
import { DefinitionError } from "../../errors/index.ts";
import { type Duration, parseDuration } from "../../values/duration.ts";
import type { ApprovalDeadline, DeadlineDecision } from "../durable/call-waits.ts";
import type { Context } from "./any-agent.ts";
import { callHost } from "./host-function.ts";

/** A person must approve the call, perhaps within a time. */
export interface UserApproval {
  readonly type: "user-approval";
  /** Default: that the tool needs approval. */
  readonly reason?: string;
  /** Until when a person may decide: a time, or a duration from the end of the reply. Default: for ever. */
  readonly deadline?: Duration | Date;
  /** The decision at the deadline. Default: "deny". */
  readonly onDeadline?: DeadlineDecision;
}

/** A status of the AI SDK, one with a deadline, or false where no approval is needed. */
export type ApprovalStatus = ToolApprovalStatus | UserApproval | false;

type SdkApproval = ToolApprovalConfiguration<ToolSet, Context>;
type AnyFunction = (...given: never[]) => unknown;
type SdkDecideAll = Extract<SdkApproval, AnyFunction>;
type SdkDecideOne = Extract<Exclude<SdkApproval, AnyFunction>[string], AnyFunction>;
type Deciding<Decide extends AnyFunction> = (
  ...given: Parameters<Decide>
) => ApprovalStatus | PromiseLike<ApprovalStatus>;

/** The AI SDK's `toolApproval`, one function or one for each tool, whose statuses may have a deadline. */
export type ToolApproval =
  | Deciding<SdkDecideAll>
  | { readonly [tool: string]: ApprovalStatus | Deciding<SdkDecideOne> };

const option = "toolApproval";

/** `note` receives the deadlines that the host sets, with the ids of their calls. */
export function hostApproval(
  given: ToolApproval | undefined,
  note: (toolCallId: string, deadline: ApprovalDeadline) => void,
): SdkApproval | undefined {
  if (given === undefined) return undefined;
  const decided = async (toolCallId: string, status: () => ApprovalStatus | PromiseLike<ApprovalStatus>) => {
    const made = await callHost(option, status);
    const deadline = readDeadline(made);
    if (deadline !== undefined) note(toolCallId, deadline);
    return sdkStatus(made);
  };
  if (typeof given === "function") return (call) => decided(call.toolCall.toolCallId, () => given(call));
  const entries = Object.entries(given).map(([name, each]): [string, ToolApprovalStatus | SdkDecideOne] => {
    if (typeof each === "function")
      return [name, (input, options) => decided(options.toolCallId, () => each(input, options))];
    if (readDeadline(each) === undefined) return [name, sdkStatus(each)];
    return [name, (_, { toolCallId }) => decided(toolCallId, () => each)];
  });
  return Object.fromEntries(entries);
}

/** Throws for a status with a deadline that is none. */
export function checkApproval(approval: ToolApproval | undefined): void {
  if (approval === undefined || typeof approval === "function") return;
  for (const each of Object.values(approval)) if (typeof each !== "function") readDeadline(each);
}

function readDeadline(status: ApprovalStatus): ApprovalDeadline | undefined {
  if (typeof status !== "object" || status.type !== "user-approval" || !("deadline" in status))
    return undefined;
  const { deadline, onDeadline = "deny" } = status;
  if (deadline === undefined) return undefined;
  if (onDeadline !== "deny" && onDeadline !== "approve")
    throw new DefinitionError({ where: `${option}, onDeadline`, problem: 'expected "deny" or "approve"' });
  if (!(deadline instanceof Date)) {
    const duration = parseDuration(deadline, `${option}, deadline`);
    return { at: (since) => since + duration, onDeadline };
  }
  const at = deadline.getTime();
  if (Number.isNaN(at))
    throw new DefinitionError({ where: `${option}, deadline`, problem: "it is not a valid date" });
  return { at: () => at, onDeadline };
}

function sdkStatus(status: ApprovalStatus): ToolApprovalStatus {
  if (status === false) return undefined;
  if (typeof status !== "object" || status.type !== "user-approval") return status;
  const { type, reason } = status;
  return { type, ...(reason !== undefined && { reason }) };
}
