// Turns of chats: executions of one step, which end together with the reply in their conversation.

import { approvalIdOf } from "../../agent/turn/approval-waits.ts";
import type { TurnEnd, TurnHost } from "../../agent/turn/turn-host.ts";
import { StoreRefusedError } from "../../errors/index.ts";
import type { JournalEvent } from "../../journal/events.ts";
import { causeOf } from "../../journal/failure.ts";
import type {
  ClaimedExecution,
  Commit,
  CommitResult,
  EndTurn,
  Store,
  Suspension,
} from "../../store/store.ts";
import { type StoredUsage, sumUsage } from "../../store/usage.ts";
import { mergeEntries, type UsageKey, usageEntry } from "../../store/usage-store.ts";
import { Fields } from "../../values/fields.ts";
import { plainSchema } from "../../values/schema.ts";
import type { WorkflowDefinition } from "../../workflow/step.ts";
import type { StepContext } from "../../workflow/step-context.ts";
import { ControlFlowSignal } from "../body/control-flow-signal.ts";
import { RunningStepContext } from "../body/running-step-context.ts";
import type { HookSubject } from "../engine/call-hooks.ts";
import type { EngineKind, LoadableState } from "../engine/engine-kind.ts";
import type { Waiters } from "../engine/waiters.ts";
import type { Settlement } from "../run/settlement.ts";
import { keyOf } from "../run/spent.ts";
import type { ExecutionChange } from "../stream/changes.ts";

/** The step that makes the reply: the paths of its model calls and tool calls begin with it. */
const stepId = "reply";

/**
 * Milliseconds that the journal of a turn outlives its end: the conversation has the reply, and a longer life would keep
 * every word of a chat twice.
 */
const keptFor = 3_600_000;

export class TurnKind implements EngineKind {
  readonly name = "turn";
  readonly noun = "reply";
  /** Turns have a limit of their own. */
  readonly takesSlot = false;
  /** The spans of a turn are those of its agents. */
  readonly hasSpans = false;
  /** A turn belongs to its conversation, not to a caller who knows its id. */
  readonly isAddressable = false;
  /** The reply names the tools that sleep. */
  readonly settlesAsleep = true;
  readonly keptFor = keptFor;
  /** A turn that makes no progress fails, so that its conversation is free. */
  readonly park = undefined;
  /** The definition of every turn. Not registered, so no route reaches it. */
  readonly workflow: WorkflowDefinition;
  /** The final commit of a turn also keeps the reply. */
  readonly store: EngineKind["store"];
  readonly #store: Store;
  readonly #host: TurnHost;
  readonly #waiters: Waiters;
  readonly #changed: (change: ExecutionChange, deadline: number | undefined) => void;
  /** Turns that end with their recorded calls when they run. */
  readonly #onlyRecorded = new Set<string>();
  /** Turns whose last write failed. */
  readonly #failed = new Set<string>();
  /** Turns of which the store has refused a write for good, with the usage in that write. */
  readonly #refused = new Map<string, Used>();
  #hasHadChildren = false;
  /** Turns that are released because their tools wait. */
  readonly #idle = new Set<string>();
  /** The ends of the turns that are loaded: the runs of a turn between two releases share one. */
  readonly #ends = new Map<string, Promise<TurnEnd>>();

  /** `changed` receives the turns whose replies begin to wait, with the deadline of the first call that does, and those that were resumed. */
  constructor(
    store: Store,
    host: TurnHost,
    waiters: Waiters,
    changed: (change: ExecutionChange, deadline: number | undefined) => void = () => undefined,
  ) {
    this.#changed = changed;
    this.#store = store;
    this.#host = host;
    this.#waiters = waiters;
    this.store = {
      commit: (commit) => this.#commit(commit),
      release: (release) => store.release(release),
      events: (query) => store.events(query),
    };
    this.workflow = workflowOf((context) => this.#run(context));
  }

  /** True when a turn has waited for another execution here. */
  get hasHadChildren(): boolean {
    return this.#hasHadChildren;
  }

  /** The agents whose turns can be run here. */
  get agentIds(): readonly string[] {
    return this.#host.agentIds;
  }

  get claimable(): EngineKind["claimable"] {
    return this.agentIds.length === 0 ? undefined : { workflowIds: [], agentIds: this.agentIds };
  }

  definition(): WorkflowDefinition {
    return this.workflow;
  }

  fits(): boolean {
    return true;
  }

  /** The agents stream the reply. The end of a wait, by a resume, a deadline or the end of a child, changes the inbox. */
  publish({ executionId, userId, conversationId }: HookSubject, events: readonly JournalEvent[]): void {
    const over = events.find(({ type }) => type === "workflow-resumed" || type === "workflow-cancelled");
    if (over === undefined) return;
    const where = { executionId, workflowId: "", conversationId, userId, stepPath: undefined };
    const status = over.type === "workflow-resumed" ? "running" : "cancelled";
    this.#changed({ ...where, status, sequence: 0, timestamp: over.timestamp }, undefined);
  }

  expire(
    { execution: { conversationId } }: LoadableState,
    { path, onDeadline }: Suspension,
  ): ReturnType<TurnHost["expire"]> | undefined {
    const approvalId = approvalIdOf(path);
    if (approvalId === null || conversationId === null) return undefined;
    const after = Fields.parse(
      onDeadline,
      (problem) => new TypeError(`The deadline of an approval: ${problem}`),
    ).object("resume");
    const decision = { approved: after?.isTrue("approved") === true, reason: after?.optionalText("reason") };
    return this.#host.expire({ conversationId, approvalId, ...decision });
  }

  async endCrashLoop({ executionId }: ClaimedExecution): Promise<boolean> {
    this.#onlyRecorded.add(executionId);
    return false;
  }

  recovered(): void {}

  look(): Promise<void> {
    return this.#host.look();
  }

  released(executionId: string): void {
    // Of one that only sleeps no other part of the engine reports that it is idle.
    if (this.#idle.has(executionId)) this.#waiters.settle(executionId, { kind: "elsewhere" });
    this.#onlyRecorded.delete(executionId);
    this.#refused.delete(executionId);
  }

  async #commit(commit: Commit): Promise<CommitResult> {
    const { executionId, token } = commit;
    const wasRefused = this.#refused.has(executionId);
    try {
      if (commit.end === null && commit.idle === null) return await this.#store.commit(commit);
      const ending = await this.#ending(commit);
      const result = await this.#store.endTurn(ending);
      if (commit.end === null) {
        if (result.idle) this.#goesIdle(ending, result);
        return result;
      }
      if (result.idle) this.#reportWait(ending, result);
      // The driver has no more work either way: the next turn of the conversation ends a suspended one.
      return { ...result, idle: false };
    } catch (error) {
      // The driver ends a turn once more of which a write was refused for good: without the reply, so that the
      // conversation is free.
      if (error instanceof StoreRefusedError && !wasRefused) this.#refused.set(executionId, commit);
      else {
        // The process that polls next continues the turn.
        this.#failed.add(executionId);
        this.#store.release({ executionId, token }).catch(() => undefined);
      }
      throw error;
    }
  }

  async #ending(commit: Commit): Promise<EndTurn> {
    const { reply, usage, agentId, open } = await this.#host.endingOf(commit.executionId);
    if (commit.end === null) return { commit, reply };
    const refused = this.#refused.get(commit.executionId);
    const spender = { userId: reply.userId, workflowId: "" };
    const used = usedWith(refused ?? commit, usage, keyOf(reply.at, spender, agentId));
    if (refused !== undefined) return { commit: { ...commit, ...used }, reply: { ...reply, message: null } };
    const waits = open.length > 0 && commit.end?.status === "completed";
    const suspended = { open, end: null, idle: { resumes: 0, event: null } };
    return { commit: { ...commit, ...(waits && suspended), ...used }, reply };
  }

  #goesIdle(ending: EndTurn, result: CommitResult): void {
    this.#idle.add(ending.commit.executionId);
    this.#hasHadChildren ||= ending.commit.hasChildren === true;
    this.#reportWait(ending, result);
  }

  #reportWait({ commit: { executionId, open }, reply }: EndTurn, { sequence }: CommitResult): void {
    const { conversationId, userId, at: timestamp } = reply;
    const where = { executionId, workflowId: "", conversationId, userId, stepPath: undefined };
    const first = Math.min(...open.map(({ deadline }) => deadline ?? Number.POSITIVE_INFINITY));
    const deadline = Number.isFinite(first) ? first : undefined;
    this.#changed({ ...where, status: "suspended", sequence, timestamp }, deadline);
  }

  async #run(body: StepContext): Promise<void> {
    const { executionId, data, context, userId, conversationId, signal } = body;
    this.#idle.delete(executionId);
    const settled = this.#ends.get(executionId) ?? this.#waitFor(executionId);
    if (!(body instanceof RunningStepContext)) throw new TypeError("a turn has no body of its own");
    const recorder = body.recorder();
    const wait = await this.#host.run({
      executionId,
      input: data,
      context,
      userId,
      conversationId,
      signal,
      activeAt: body.activeAt,
      onlyRecorded: this.#onlyRecorded.has(executionId),
      recorder,
      deferral: recorder.deferring(),
      isInterrupted: () => body.controlFlow !== undefined,
      settled,
    });
    if (body.controlFlow !== undefined) throw new ControlFlowSignal(body.controlFlow);
    if (wait !== undefined) recorder.leave(wait.reason);
  }

  #waitFor(executionId: string): Promise<TurnEnd> {
    const end = this.#waiters.wait(executionId).settled.then((settlement) => {
      this.#ends.delete(executionId);
      return this.#endOf(executionId, settlement);
    });
    this.#ends.set(executionId, end);
    return end;
  }

  #endOf(executionId: string, settlement: Settlement): TurnEnd {
    const { kind } = settlement;
    if (this.#idle.delete(executionId)) return "waits";
    if (this.#failed.delete(executionId) && kind === "stopped") return "failed";
    if (kind === "ended" && settlement.error !== undefined) return { reason: causeOf(settlement.error) };
    return kind === "suspended" ? "elsewhere" : kind;
  }
}

type Used = Pick<Commit, "usage" | "spent" | "charges">;

/** The usage of a commit with that of calls which are not recorded. */
function usedWith({ usage, spent, charges }: Used, more: StoredUsage | null, key: UsageKey): Used {
  const charged = charges && { charges };
  if (more === null) return { usage, ...(spent && { spent }), ...charged };
  const entries = mergeEntries([...(spent ?? []), usageEntry(key, more)]);
  return { usage: sumUsage(usage, more), spent: entries, ...charged };
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
