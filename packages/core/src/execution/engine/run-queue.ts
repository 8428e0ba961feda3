// Executions that are claimed here and wait for a slot, in the order in which they came.
//
// Their claims are in their rows: a process that crashes with them leaves them to recovery. Only so many are kept
// here; the others are put back into the store, unclaimed, where recovery finds the oldest first.
import type { Claim } from "../../store/store.ts";
import type { ResumedExecution } from "./after-resume.ts";
import type { EngineKind } from "./engine-kind.ts";
import type { SlotUser } from "./slots.ts";

export interface WaitingExecution {
  readonly executionId: string;
  readonly kind: EngineKind;
  readonly claim: Claim;
  readonly user: SlotUser;
  /** The time of the deadline that lets it continue; undefined when something else does. */
  readonly dueAt?: number | undefined;
  /** Its state after a resume; undefined when the store has to be read. */
  readonly resumed?: ResumedExecution | undefined;
}

/** Ids that are kept in memory. */
const maxWaiting = 1000;
const noUsers: readonly SlotUser[] = [];

export class RunQueue {
  readonly #waiting = new Map<string, WaitingExecution>();
  readonly #maxOfUser: number;

  /** `userShare` is the part of the queue that one user may take. */
  constructor(userShare: number) {
    this.#maxOfUser = Math.max(1, Math.floor(maxWaiting * userShare));
  }

  /** False when there is no place for it. One that waits already keeps its place, with its newer claim. */
  add(waiting: WaitingExecution): boolean {
    if (!this.#waiting.has(waiting.executionId) && !this.#hasPlaceFor(waiting.user)) return false;
    this.keep(waiting);
    return true;
  }

  /** Adds it in any case: the store does not take it back. */
  keep(waiting: WaitingExecution): void {
    // Meanwhile it may be paused, or be resumed once more.
    this.#waiting.set(waiting.executionId, { ...waiting, resumed: undefined });
  }

  get isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  /** Whose executions wait. */
  users(): readonly SlotUser[] {
    return this.isEmpty ? noUsers : [...this.#waiting.values()].map(({ user }) => user);
  }

  /** Takes out the first that may run; undefined when there is none. */
  next(mayRun: (waiting: WaitingExecution) => boolean): WaitingExecution | undefined {
    for (const waiting of this.#waiting.values()) {
      if (mayRun(waiting)) return this.take(waiting.executionId);
    }
    return undefined;
  }

  has(executionId: string): boolean {
    return this.#waiting.has(executionId);
  }

  /** Whether it waits here under the claim with this token. */
  holds(executionId: string, token: string): boolean {
    return this.#waiting.get(executionId)?.claim.token === token;
  }

  /** Takes out this one; undefined when it does not wait here. */
  take(executionId: string): WaitingExecution | undefined {
    const waiting = this.#waiting.get(executionId);
    this.#waiting.delete(executionId);
    return waiting;
  }

  #hasPlaceFor(user: SlotUser): boolean {
    if (this.#waiting.size >= maxWaiting) return false;
    let ofUser = 0;
    for (const waiting of this.#waiting.values()) if (waiting.user === user) ofUser++;
    return ofUser < this.#maxOfUser;
  }
}
