// The budget of an execution as one agent step keeps it: stops its loops, or waits for a person's decision.
//
// The usage of the execution is read from the store before each call of a model that is not recorded, so that steps
// beside this one count too. Recorded calls are replayed without asking. A decision counts for the whole step, wherever
// in it the call waited: an approved amount, from the moment of the decision, for the agent and all its sub-agents
// together; a denial ends all their loops, and with them the reply. When the last approved amount has been used before
// a call, the call waits again.
import { budgetError } from "../../agent/call/budget.ts";
import { CallsWaitError, type CallWaits } from "../../agent/durable/call-waits.ts";
import type { CallGate, DurableLoop } from "../../agent/durable/durable-loop.ts";
import type { BudgetReachedError } from "../../errors/index.ts";
import type { StepUsage } from "../../journal/events.ts";
import type { JsonSchema } from "../../values/schema.ts";
import type { ExecutionBudget } from "../../workflow/step.ts";

/** The calls of the step. */
interface StepCalls {
  readonly waits: CallWaits;
  /** The resumes of its calls of models, those of sub-agents included: each has a decision, as JSON text. */
  modelResumes(): Iterable<{ readonly suspensionId: string; readonly data: string }>;
}

/** Reads the usage of the whole execution. */
export interface UsageReader {
  used(): Promise<StepUsage>;
  /** The usage at the moments when these suspensions were resumed, the earliest first. */
  usedAtResumes(suspensionIds: ReadonlySet<string>): Promise<ReadonlyMap<string, StepUsage>>;
}

/** A person's decision about further calls. */
interface BudgetDecision {
  readonly approved: boolean;
  /** How much more. Default: as much again. */
  readonly tokens?: number;
  readonly calls?: number;
}

const amount = { type: "integer", minimum: 1 };
const decisionSchema: JsonSchema = {
  type: "object",
  properties: {
    approved: { type: "boolean", description: "Whether the agent may go on." },
    tokens: { ...amount, description: "How many more tokens; as many as before when left out." },
    calls: { ...amount, description: "How many more model calls; as many as before when left out." },
  },
  required: ["approved"],
  additionalProperties: false,
};

export class BudgetGate implements CallGate {
  readonly #budget: ExecutionBudget;
  readonly #calls: StepCalls;
  readonly #usage: UsageReader;
  /** The usage at each resume that this run of the step knows of, by suspension: read from the journal. */
  #usedAt: ReadonlyMap<string, StepUsage> = new Map();
  /** True when it has ended a loop. */
  hasStopped = false;

  constructor(budget: ExecutionBudget, calls: StepCalls, usage: UsageReader) {
    this.#budget = budget;
    this.#calls = calls;
    this.#usage = usage;
  }

  async mustStop(): Promise<boolean> {
    const isLast =
      this.#budget.onReached === "suspend"
        ? this.#isDenied(this.#decisions())
        : budgetError(this.#budget, await this.#usage.used()) !== undefined;
    if (isLast) this.hasStopped = true;
    return isLast;
  }

  async pass(loop: DurableLoop): Promise<void> {
    const used = await this.#usage.used();
    const reached = budgetError(this.#budget, used, "execution");
    if (reached === undefined) return;
    if (this.#budget.onReached !== "suspend") throw reached;
    const decisions = this.#decisions();
    if (this.#isDenied(decisions)) throw reached;
    const problem = await this.#reachedBeyond(reached, used, decisions);
    if (problem === undefined) return;
    const { waits } = this.#calls;
    const { tokens, calls } = this.#budget;
    const data = { used, budget: { tokens, calls } };
    const place = loop.nextPlace;
    const again = waits.resumedWith(place) !== undefined;
    waits.wait(place, { reason: problem.message, data, resumeSchema: decisionSchema, again });
    throw loop.leave(new CallsWaitError());
  }

  /** Why there may be no call although the budget was raised; undefined when an approval allows one. */
  async #reachedBeyond(
    reached: BudgetReachedError,
    used: StepUsage,
    decisions: ReadonlyMap<string, BudgetDecision>,
  ): Promise<BudgetReachedError | undefined> {
    const isKnown = [...decisions.keys()].every((suspensionId) => this.#usedAt.has(suspensionId));
    if (!isKnown) this.#usedAt = await this.#usage.usedAtResumes(new Set(decisions.keys()));
    let last = reached;
    for (const [suspensionId, usedThen] of this.#usedAt) {
      const decision = decisions.get(suspensionId);
      const problem = decision && budgetError(this.#after(usedThen, decision), used, "execution");
      if (decision && problem === undefined) return undefined;
      last = problem ?? last;
    }
    return last;
  }

  #after(used: StepUsage, more: BudgetDecision): ExecutionBudget {
    const tokens = more.tokens ?? this.#budget.tokens;
    const calls = more.calls ?? this.#budget.calls;
    return {
      ...(tokens !== undefined && { tokens: used.totalTokens + tokens }),
      ...(calls !== undefined && { calls: used.calls + calls }),
    };
  }

  #decisions(): ReadonlyMap<string, BudgetDecision> {
    return new Map(
      Array.from(this.#calls.modelResumes(), ({ suspensionId, data }) => [suspensionId, JSON.parse(data)]),
    );
  }

  #isDenied(decisions: ReadonlyMap<string, BudgetDecision>): boolean {
    return [...decisions.values()].some(({ approved }) => !approved);
  }
}
