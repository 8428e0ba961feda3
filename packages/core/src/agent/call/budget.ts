// Budgets of agents: they end the loop of a reply, and refuse further replies in a conversation.
import type { StopCondition, ToolSet } from "ai";
import { BudgetReachedError, DefinitionError } from "../../errors/index.ts";
import { checkKnownOptions, type KnownOptions } from "../../values/check-options.ts";
import type { Context } from "./any-agent.ts";
import type { AgentUsage, Operation } from "./operation.ts";

export interface BudgetLimits {
  /** Tokens of all model calls, those of sub-agents included. Default: no limit. */
  readonly tokens?: number;
  /** Model calls, those of sub-agents included. Default: no limit. */
  readonly calls?: number;
}

/** For one reply; checked after each call of the model, those of sub-agents included. A sub-agent's task is a reply too. */
export interface AgentBudget extends BudgetLimits {
  /** For all replies of a conversation together; checked before each reply. Default: no limit. */
  readonly conversation?: BudgetLimits;
}

const knownLimits: KnownOptions<BudgetLimits> = { tokens: true, calls: true };
const knownBudget: KnownOptions<AgentBudget> = { ...knownLimits, conversation: true };

/** Why a budget is used up; undefined while it is not. */
export function budgetError(
  limits: BudgetLimits | undefined,
  used: AgentUsage,
  whose?: "execution" | "reply",
): BudgetReachedError | undefined {
  const { tokens = Number.POSITIVE_INFINITY, calls = Number.POSITIVE_INFINITY } = limits ?? {};
  const reach = (unit: string, limit: number) =>
    new BudgetReachedError({ unit, limit, ...(whose && { whose }) });
  if (used.totalTokens >= tokens) return reach("tokens", tokens);
  return used.calls >= calls ? reach("model calls", calls) : undefined;
}

/** Ends the loop of tools when the reply has used its budget, or the reply of an agent above has. */
export function budgetConditions(
  budget: AgentBudget | undefined,
  operation: Operation,
): StopCondition<ToolSet, Context>[] {
  const { loop, budgetReached: above } = operation;
  if (budget !== undefined)
    operation.budgetReached = () => budgetError(budget, operation.ownUsage, "reply") ?? above?.();
  const { budgetReached } = operation;
  return [
    ...(budgetReached === undefined ? [] : [() => budgetReached() !== undefined]),
    ...(loop?.gate === undefined ? [] : [() => loop.mustStop()]),
  ];
}

/** Throws for a value that is not a budget. */
export function checkBudget(budget: AgentBudget | undefined, where: string): void {
  if (budget === undefined) return;
  checkKnownOptions(`${where}, budget`, budget, knownBudget);
  checkKnownOptions(`${where}, budget.conversation`, budget.conversation, knownLimits);
  for (const limits of [budget, budget.conversation ?? {}]) checkLimits(limits, where);
}

function checkLimits({ tokens, calls }: BudgetLimits, where: string): void {
  for (const limit of [tokens, calls]) {
    if (limit === undefined || (Number.isInteger(limit) && limit >= 1)) continue;
    throw new DefinitionError({ where, problem: "a budget must be a whole number of 1 or more" });
  }
}
