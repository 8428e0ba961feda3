// The turns that run in this process: executions of one step, which end together with the reply in their conversation.

import { plainSchema } from "../../agent/call/plain-schema.ts";
import type { TurnEnd, TurnHost } from "../../agent/turn/turn-host.ts";
import { StoreRefusedError } from "../../errors/index.ts";
import { causeOf } from "../../journal/failure.ts";
import type { Commit, CommitResult, EndTurn, EventsQuery, Store } from "../../store/store.ts";
import { type StoredUsage, sumUsage } from "../../store/usage.ts";
import type { WorkflowDefinition } from "../../workflow/step.ts";
import type { StepContext } from "../../workflow/step-context.ts";
import { ControlFlowSignal } from "../body/control-flow-signal.ts";
import { RunningStepContext } from "../body/running-step-context.ts";
import type { Settlement } from "../run/settlement.ts";
import type { Waiters } from "./waiters.ts";

/** The step that makes the reply: the paths of its model calls and tool calls begin with it. */
const stepId = "reply";

export class Turns {
  /** What a turn runs. It is registered nowhere: no address leads to it. */
  readonly workflow: WorkflowDefinition;
  readonly #store: Store;
  readonly #host: TurnHost | undefined;
  readonly #waiters: Waiters;
  readonly #here = new Set<string>();
  readonly #onlyRecorded = new Set<string>();
  /** Those whose last write failed. */
  readonly #failed = new Set<string>();
  /** Those of which the store has refused a write for good, with what that would have counted. */
  readonly #refused = new Map<string, StoredUsage | null>();

  constructor(store: Store, host: TurnHost | undefined, waiters: Waiters) {
    this.#store = store;
    this.#host = host;
    this.#waiters = waiters;
    this.workflow = workflowOf((context) => this.#run(context));
  }

  /** The agents whose turns can be run here. */
  get agentIds(): readonly string[] {
    return this.#host?.agentIds ?? [];
  }

  /** How many are here. */
  get size(): number {
    return this.#here.size;
  }

  has(executionId: string): boolean {
    return this.#here.size > 0 && this.#here.has(executionId);
  }

  /** Those of them that are not turns. */
  others<Execution extends { readonly executionId: string }>(
    executions: readonly Execution[],
  ): readonly Execution[] {
    return this.#here.size === 0 ? executions : executions.filter((each) => !this.has(each.executionId));
  }

  /** The execution is about to run here; nothing happens unless it is a turn. */
  enter(executionId: string, workflow: WorkflowDefinition): void {
    if (workflow === this.workflow) this.#here.add(executionId);
  }

  leave(executionId: string): void {
    if (!this.has(executionId)) return;
    this.#here.delete(executionId);
    this.#onlyRecorded.delete(executionId);
    this.#refused.delete(executionId);
  }

  /** When it runs it ends with what is recorded. */
  onlyRecorded(executionId: string): void {
    this.#onlyRecorded.add(executionId);
  }

  // ---- the store as the driver of a turn sees it

  readonly commit = async (commit: Commit): Promise<CommitResult> => {
    const { executionId, token } = commit;
    const wasRefused = this.#refused.has(executionId);
    try {
      if (commit.end === null) return await this.#store.commit(commit);
      return await this.#store.endTurn(await this.#ending(commit));
    } catch (error) {
      // The driver ends a turn once more of which a write was refused for good: without the reply, so that the
      // conversation is free.
      if (error instanceof StoreRefusedError && !wasRefused) this.#refused.set(executionId, commit.usage);
      else {
        // Whoever polls next continues the turn.
        this.#failed.add(executionId);
        this.#store.release({ executionId, token }).catch(() => undefined);
      }
      throw error;
    }
  };

  async #ending(commit: Commit): Promise<EndTurn> {
    const { reply, usage } = await this.#agents.endingOf(commit.executionId);
    const refused = this.#refused.get(commit.executionId);
    const counted = refused ?? commit.usage;
    const total = usage === null ? counted : sumUsage(counted, usage);
    return {
      commit: { ...commit, usage: total },
      reply: refused === undefined ? reply : { ...reply, message: null },
    };
  }

  readonly release: Store["release"] = (which) => this.#store.release(which);

  readonly events = (query: EventsQuery) => this.#store.events(query);

  get #agents(): TurnHost {
    if (this.#host === undefined) throw new TypeError("no agents are registered");
    return this.#host;
  }

  async #run(body: StepContext): Promise<void> {
    const { executionId, data, context, userId, conversationId, signal } = body;
    const settled = this.#waiters
      .wait(executionId)
      .settled.then((settlement) => this.#endOf(executionId, settlement));
    if (!(body instanceof RunningStepContext)) throw new TypeError("a turn has no body of its own");
    const recorder = body.recorder();
    await this.#agents.run({
      executionId,
      input: data,
      context,
      userId,
      conversationId,
      signal,
      onlyRecorded: this.#onlyRecorded.has(executionId),
      recorder,
      deferral: recorder.deferring(),
      get interrupted() {
        return body.controlFlow !== undefined;
      },
      settled,
    });
    if (body.controlFlow !== undefined) throw new ControlFlowSignal(body.controlFlow);
  }

  #endOf(executionId: string, settlement: Settlement): TurnEnd {
    const { kind } = settlement;
    if (this.#failed.delete(executionId) && kind === "stopped") return "failed";
    if (kind === "ended" && settlement.error !== undefined) return { reason: causeOf(settlement.error) };
    return kind === "suspended" ? "elsewhere" : kind;
  }
}

function workflowOf(execute: (context: StepContext) => unknown): WorkflowDefinition {
  const none = { suspendSchema: undefined, resumeSchema: undefined, timeout: undefined };
  const schemas = { inputSchema: undefined, outputSchema: undefined, retry: undefined };
  const step = {
    type: "andThen",
    id: stepId,
    name: stepId,
    purpose: "",
    ...none,
    ...schemas,
    execute,
  } as const;
  const inputSchema = plainSchema<unknown>({});
  return { id: "", name: "", purpose: "", ...none, inputSchema, resultSchema: undefined, steps: [step] };
}
