// The budget of an execution as one agent step keeps it: stops its loop, or waits for a person's decision.
//
// The usage of the execution is read from the store before each call of a model that is not recorded, so that steps
// beside this one count too. Recorded calls are replayed without asking. An approved amount counts from the moment
// of the decision; when steps beside this one have used it up before the call, the call waits again.
import { budgetError } from "../../agent/call/budget.ts";
import { CallsWaitError, type CallWaits } from "../../agent/durable/call-waits.ts";
import type { DurableLoop } from "../../agent/durable/durable-loop.ts";
import type { StepUsage } from "../../journal/events.ts";
import type { JsonSchema } from "../../values/schema.ts";
import type { ExecutionBudget } from "../../workflow/step.ts";

/** Reads the usage of the whole execution. */
export interface BudgetUsage {
  now(): Promise<StepUsage>;
  /** The usage at the moment when the call at this place was resumed. */
  whenResumed(place: string): Promise<StepUsage>;
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

export class BudgetGate {
  readonly #budget: ExecutionBudget;
  readonly #waits: CallWaits;
  readonly #usage: BudgetUsage;
  /** The usage at each approval of this step, by place: read from the journal once. */
  readonly #usedAt = new Map<string, Promise<StepUsage>>();
  /** True when it has ended the loop. */
  hasStopped = false;

  constructor(budget: ExecutionBudget, waits: CallWaits, usage: BudgetUsage) {
    this.#budget = budget;
    this.#waits = waits;
    this.#usage = usage;
  }

  /** Asked after each step of the loop: whether that was the last one. */
  async mustStop(loop: DurableLoop): Promise<boolean> {
    if (loop.nextCallIsRecorded) return false;
    const isLast =
      this.#budget.onReached === "suspend"
        ? this.#decisionAt(loop.nextPlace)?.approved === false
        : (await this.#reached(loop)) !== undefined;
    if (isLast) this.hasStopped = true;
    return isLast;
  }

  /** Asked before each call of a model: rejects when there may be none, or leaves the loop to wait. */
  readonly pass = async (loop: DurableLoop): Promise<void> => {
    const problem = await this.#reached(loop);
    if (problem === undefined) return;
    const place = loop.nextPlace;
    const decision = this.#decisionAt(place);
    if (this.#budget.onReached !== "suspend" || decision?.approved === false) throw problem;
    const { tokens, calls } = this.#budget;
    const data = { used: await this.#usage.now(), budget: { tokens, calls } };
    const again = decision !== undefined;
    this.#waits.wait(place, { reason: problem.message, data, resumeSchema: decisionSchema, again });
    throw loop.leave(new CallsWaitError());
  };

  async #reached(loop: DurableLoop) {
    return budgetError(await this.#limitsAt(loop), await this.#usage.now(), "execution");
  }

  /** The step's own limits, or those of the last approval. */
  async #limitsAt(loop: DurableLoop): Promise<ExecutionBudget> {
    for (let call = loop.calls; call >= 0; call--) {
      const place = loop.placeOf(call);
      const decision = this.#decisionAt(place);
      if (decision?.approved !== true) continue;
      const used = this.#usedAt.get(place) ?? this.#usage.whenResumed(place);
      this.#usedAt.set(place, used);
      return this.#after(await used, decision);
    }
    return this.#budget;
  }

  #after(used: StepUsage, more: BudgetDecision): ExecutionBudget {
    const tokens = more.tokens ?? this.#budget.tokens;
    const calls = more.calls ?? this.#budget.calls;
    return {
      ...(tokens !== undefined && { tokens: used.totalTokens + tokens }),
      ...(calls !== undefined && { calls: used.calls + calls }),
    };
  }

  #decisionAt(place: string): BudgetDecision | undefined {
    const resumed = this.#waits.resumedWith(place);
    return resumed === undefined ? undefined : JSON.parse(resumed);
  }
}
