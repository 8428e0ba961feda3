// One call of a model under the budgets of the host: holds its shares before it is made, or has it wait for a person.
import { randomUUID } from "node:crypto";
import type { LanguageModelV4CallOptions } from "@ai-sdk/provider";
import type { AllowedMore, BudgetedCall, Budgets, ReachedBudget } from "../../observe/usage/budgets.ts";
import { Fields } from "../../values/fields.ts";
import type { JsonSchema } from "../../values/schema.ts";
import { holdOf, overTimeIn } from "../durable/budget-waits.ts";
import { CallsWaitError, type CallWaits } from "../durable/call-waits.ts";
import { usageOf } from "../durable/recorded-model.ts";
import type { BeginCall } from "./bounded-model.ts";
import type { AgentUsage, CallMaker, Operation } from "./operation.ts";

/** Holds the shares of a call; rejects when a budget is used up, or when the call waits for a person. */
export async function beginBudgeted(
  operation: Operation,
  maker: CallMaker,
  params: LanguageModelV4CallOptions,
): ReturnType<BeginCall> {
  const { loop, meter } = operation;
  const budgets = meter?.budgets;
  if (budgets === undefined) return { used: () => undefined, failed: () => undefined };
  const call = {
    ...callerOf(operation, maker),
    ...sizeOf(params),
    hold: nameIn(operation),
    model: maker.model,
  };
  const reached = await budgets.hold(call, params.abortSignal);
  if (reached !== undefined) await mayPass(operation, budgets, { call, reached, signal: params.abortSignal });
  return {
    used: (usage) => {
      // The commit that records the call charges it.
      if (loop !== undefined) budgets.ended(call.hold);
      else void budgets.charge(call, meter?.priced(maker.model, usageOf(usage)));
    },
    failed: () => void budgets.charge(call, undefined),
  };
}

/** Charges a call that has ended and could not be recorded. */
export function chargeUnrecorded(operation: Operation, maker: CallMaker, usage: AgentUsage): void {
  const call = { ...callerOf(operation, maker), hold: nameIn(operation) };
  void operation.meter?.budgets?.charge(call, usage);
}

function callerOf({ userId, tags }: Operation, { agentId }: CallMaker) {
  return { userId, tags, agentId };
}

function nameIn({ loop }: Operation): string {
  if (loop === undefined) return randomUUID();
  return holdOf(loop.recorder.executionId, loop.recorder.pathOf(loop.nextPlace));
}

interface StoppedCall {
  readonly call: BudgetedCall;
  readonly reached: ReachedBudget;
  readonly signal: AbortSignal | undefined;
}

/** Returns when a person has allowed the call; else it waits, or fails. */
async function mayPass(
  { loop }: Operation,
  budgets: Budgets,
  { call, reached, signal }: StoppedCall,
): Promise<void> {
  const waits = loop?.recorder.waits;
  if (reached.budget.onReached !== "suspend" || loop === undefined || waits === undefined)
    throw reached.error;
  const place = loop.nextPlace;
  const decision = decisionAt(waits, place, reached);
  if (decision === "denied") throw reached.error;
  const still = decision === undefined ? reached : await budgets.hold(call, signal, decision);
  if (still === undefined) return;
  const { error, used, limit, account, budget } = still;
  const named = { name: account.budget, subject: account.subject, unit: budget.unit, limit };
  const again = waits.resumedWith(place) !== undefined;
  const data = { used, budget: named };
  waits.wait(place, { reason: error.message, data, resumeSchema: decisionSchema(budget.unit), again });
  throw loop.leave(new CallsWaitError());
}

function decisionSchema(unit: "money" | "tokens"): JsonSchema {
  const amount =
    unit === "tokens"
      ? { type: "integer", minimum: 1, maximum: 1e12 }
      : { type: "number", exclusiveMinimum: 0, maximum: 1e6 };
  return {
    type: "object",
    properties: {
      approved: { type: "boolean", description: "Whether more may be used in this window." },
      [unit]: { ...amount, description: "How much more; as much again as the budget when left out." },
    },
    required: ["approved"],
    additionalProperties: false,
  };
}

/** The decision about this budget at this place; undefined while there is none. */
function decisionAt(
  waits: CallWaits,
  place: string,
  { account, budget }: ReachedBudget,
): AllowedMore | "denied" | undefined {
  const ended = waits.ended(place);
  if (ended?.suspensionId === undefined) return undefined;
  const fail = (problem: string) => new TypeError(`The decision about a budget: ${problem}`);
  const asked = overTimeIn(ended.asked);
  if (asked?.text("name") !== account.budget || asked.text("subject") !== account.subject) return undefined;
  const decision = Fields.parse(ended.data, fail);
  if (!decision.isTrue("approved")) return "denied";
  return { account, id: ended.suspensionId, amount: decision.optionalNumber(budget.unit) };
}

/** Bytes of a file that count: a model reads it by its own measure, such as the size of a picture. */
const maxFileSize = 8_000;

/** A bound for the tokens of a call: a token is a byte of text at least. */
function sizeOf({
  prompt,
  tools,
  maxOutputTokens,
}: LanguageModelV4CallOptions): Pick<BudgetedCall, "estimate" | "unbounded"> {
  const inputTokens = bytesOf(prompt) + bytesOf(tools) + 1;
  const outputTokens = maxOutputTokens ?? 0;
  const estimate = { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens, calls: 1 };
  return { estimate, unbounded: maxOutputTokens === undefined };
}

function bytesOf(value: unknown): number {
  if (typeof value === "string") return Buffer.byteLength(value);
  if (value instanceof Uint8Array || value instanceof URL) return maxFileSize;
  if (typeof value !== "object" || value === null) return value === undefined ? 0 : 8;
  let sum = 0;
  for (const [name, part] of Object.entries(value))
    sum += name === "data" ? Math.min(bytesOf(part), maxFileSize) : bytesOf(part);
  return sum;
}
