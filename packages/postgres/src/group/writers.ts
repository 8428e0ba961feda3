// The connections that write executions: each execution has its lane, so that its writes stay in order.
import {
  type Claim,
  type Commit,
  type CommitResult,
  type Decision,
  decisions,
  type NewExecution,
  type Store,
  type WrittenEvent,
} from "@andante/core/store";
import type { ConnectSettings, TransactionTimeouts } from "../connection/client.ts";
import { Connection } from "../connection/connection.ts";
import type { SilenceWatch } from "../connection/silence-watch.ts";
import { canBeFast } from "./fast-commit.ts";
import { bind, type GroupItem } from "./item.ts";
import { Lane } from "./lane.ts";

export interface WritersOptions {
  readonly connect: ConnectSettings;
  /** How many connections. */
  readonly count: number;
  /** Quoted. */
  readonly schema: string;
  readonly timeouts: TransactionTimeouts;
  readonly watch: SilenceWatch;
  /** Called with the executions that were written to, after their commit. */
  written(executionIds: readonly string[]): void;
}

type Operations = Pick<
  Store,
  "create" | "commit" | "pause" | "resume" | "cancel" | "wake" | "endHandled" | "release" | "adopt" | "park"
>;
type ToGiveBack = { readonly executionId: string; readonly token: string };

export class Writers {
  readonly #lanes: readonly Lane[];
  readonly operations: Operations & { giveBack(claim: ToGiveBack): void };

  constructor(options: WritersOptions) {
    const { connect, count, schema, timeouts, watch, written } = options;
    const giveBack = (claim: ToGiveBack) => {
      // It waits for as long as the trouble lasts; once the store is closed the lease ends the claim.
      this.#write("release", decisions.release, claim, { isIntake: false }).catch(() => {});
    };
    const healed = () => {
      for (const lane of this.#lanes) lane.retry();
    };
    const shared = { schema, timeouts, written, giveBack, healed };
    this.#lanes = Array.from(
      { length: count },
      () => new Lane({ ...shared, connection: new Connection(connect, watch) }),
    );
    const caller = { isIntake: true };
    const owner = { isIntake: false };
    this.operations = {
      giveBack,
      create: (execution) => this.#create(execution),
      commit: (argument) => this.#commit(argument),
      pause: (argument) => this.#write("pause", decisions.pause, argument, caller),
      resume: (argument) => this.#write("resume", decisions.resume, argument, caller, argument),
      cancel: (argument) => this.#write("cancel", decisions.cancel, argument, caller),
      wake: (argument) => this.#write("wake", decisions.wake, argument, caller, argument),
      endHandled: (argument) => this.#write("endHandled", decisions.endHandled, argument, caller),
      release: (argument) => this.#write("release", decisions.release, argument, owner),
      adopt: (argument) => this.#write("adopt", decisions.adopt, argument, caller),
      park: (argument) => this.#write("park", decisions.park, argument, caller),
    };
  }

  /** Why each connection cannot write; undefined for one that can. */
  get troubles(): readonly unknown[] {
    return this.#lanes.map((lane) => lane.trouble);
  }

  async close(milliseconds: number): Promise<void> {
    await Promise.all(this.#lanes.map((lane) => lane.close(milliseconds)));
  }

  #create(execution: NewExecution): Promise<{ readonly created: boolean }> {
    return new Promise((resolve, reject) => {
      const { executionId, claim } = execution;
      const does = { creation: { execution, resolve } };
      const length = lengthOf(execution.events) + (execution.input?.length ?? 0) + execution.context.length;
      this.#add({
        operation: "create",
        length,
        executionId,
        does,
        isIntake: true,
        claims: claim.token,
        reject,
      });
    });
  }

  #commit(argument: Commit): Promise<CommitResult> {
    return new Promise((resolve, reject) => {
      const { executionId } = argument;
      const fast = canBeFast(argument) ? { commit: argument, resolve } : undefined;
      const does = { write: bind(decisions.commit, argument, resolve), fast };
      let length = lengthOf(argument.events) + lengthOf(argument.following);
      for (const { data } of argument.open) length += data?.length ?? 0;
      this.#add({ operation: "commit", length, executionId, does, isIntake: false, reject });
    });
  }

  #write<Argument extends { readonly executionId: string }, Result>(
    operation: string,
    decision: Decision<Argument, Result>,
    argument: Argument,
    { isIntake }: { readonly isIntake: boolean },
    { claim, events = [] }: { readonly claim?: Claim; readonly events?: readonly WrittenEvent[] } = {},
  ): Promise<Result> {
    return new Promise((resolve, reject) => {
      const { executionId } = argument;
      const does = { write: bind(decision, argument, resolve) };
      this.#add({
        operation,
        length: lengthOf(events),
        executionId,
        does,
        isIntake,
        claims: claim?.token,
        reject,
      });
    });
  }

  #add(item: GroupItem): void {
    this.#laneOf(item.executionId).add(item);
  }

  #laneOf(executionId: string): Lane {
    // Generated ids differ most at their ends.
    let hash = 0;
    for (let index = executionId.length - 1; index >= 0 && index >= executionId.length - 8; index--)
      hash = (hash * 31 + executionId.charCodeAt(index)) >>> 0;
    const lane = this.#lanes[hash % this.#lanes.length];
    if (lane === undefined) throw new RangeError("a store without writers");
    return lane;
  }
}

function lengthOf(events: readonly WrittenEvent[]): number {
  let length = 0;
  for (const { value, detail } of events)
    length += (typeof value === "string" ? value.length : 0) + (detail?.length ?? 0);
  return length;
}
