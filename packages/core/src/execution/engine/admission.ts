// Admission: a start runs at once or is refused; an accepted execution runs at once or waits, and is never lost.
import type { Logger } from "../../observe/log/logger.ts";
import { RunQueue, type WaitingExecution } from "./run-queue.ts";
import { Slots, type SlotsOptions, type SlotUser } from "./slots.ts";

export interface AdmissionOptions extends Omit<SlotsOptions, "released" | "waiting"> {
  readonly logger: Logger;
  /** Loads an execution and runs it. */
  run(waiting: WaitingExecution): Promise<void>;
  /** Puts it back into the store, unclaimed. */
  release(waiting: WaitingExecution): Promise<void>;
  /** Called when executions that sleep and are due may find a slot. */
  wakeSleepers(): void;
}

export class Admission {
  readonly slots: Slots;
  /** Executions may wait in the store for a slot here, without an owner. */
  hasUnclaimedBacklog = false;
  /** Called when executions that wait in the store may find a slot; set by the part that claims them. */
  claimAbandoned: () => void = () => undefined;
  readonly #options: AdmissionOptions;
  readonly #queue: RunQueue;
  #sleepersFirst = false;

  constructor(options: AdmissionOptions) {
    this.#options = options;
    this.#queue = new RunQueue(options.userShare);
    this.slots = new Slots({
      ...options,
      waiting: () => this.#queue.users(),
      released: () => this.roomFreed(),
    });
  }

  /** Runs it now or later. False when it was put back into the store. */
  async runWhenFree(waiting: WaitingExecution): Promise<boolean> {
    if (this.#mayRun(waiting, this.slots.usersOverShare())) {
      await this.#options.run(waiting);
      return true;
    }
    this.slots.waits(waiting.user);
    if (this.#queue.add(waiting)) return true;
    this.hasUnclaimedBacklog = true;
    await this.#options.release(waiting).catch(() => this.#queue.keep(waiting));
    return false;
  }

  /**
   * Keeps up to so many free slots for those that wait in the store, until they are found there: a start that comes
   * meanwhile must not be faster. But while users over their share have to wait, free slots are for the others.
   */
  keepFor(count: number): () => void {
    const { slots } = this;
    return slots.reserve(slots.usersOverShare().size > 0 ? 0 : Math.min(count, slots.room));
  }

  /** A slot is free. Those that were resumed and those that slept go first by turns, so that neither waits for ever. */
  roomFreed(): void {
    this.#sleepersFirst = !this.#sleepersFirst;
    if (this.#sleepersFirst) this.#options.wakeSleepers();
    this.runWaiting();
    if (!this.#sleepersFirst) this.#options.wakeSleepers();
  }

  /** An execution without an owner waits in the store for a slot. */
  waitsInStore(): void {
    this.hasUnclaimedBacklog = true;
    this.runWaiting();
  }

  /** Runs those that wait here, as far as there are slots, then those that wait in the store. */
  runWaiting(): void {
    if (!this.#queue.isEmpty) this.#runQueued();
    if (this.hasUnclaimedBacklog && this.slots.room > 0) this.claimAbandoned();
  }

  /** A deadline or a timeout of this one is due: earlier work of the same execution must not wait longer. */
  hurry(executionId: string): void {
    if (this.slots.roomForLimits <= 0) return;
    const waiting = this.#queue.take(executionId);
    if (waiting !== undefined) this.#start(waiting);
  }

  /** Whether it waits here for a slot. */
  isWaiting(executionId: string): boolean {
    return this.#queue.has(executionId);
  }

  /** Whether it waits here under the claim with this token. */
  holds(executionId: string, token: string): boolean {
    return this.#queue.holds(executionId, token);
  }

  /** It has ended: it does not wait any more. */
  forget(executionId: string): void {
    this.#queue.take(executionId);
  }

  /** Puts all waiting executions back into the store, without waiting for a store that may never reply. */
  close(): void {
    this.slots.stop();
    for (let next = this.#queue.next(() => true); next; next = this.#queue.next(() => true))
      this.#options.release(next).catch(() => undefined);
  }

  #runQueued(): void {
    const usersOverShare = this.slots.usersOverShare();
    const mayRun = (waiting: WaitingExecution) => this.#mayRun(waiting, usersOverShare);
    for (let next = this.#queue.next(mayRun); next; next = this.#queue.next(mayRun)) this.#start(next);
  }

  #mayRun({ user, dueAt }: WaitingExecution, usersOverShare: ReadonlySet<SlotUser>): boolean {
    if (dueAt !== undefined) return this.slots.roomForLimits > 0;
    return this.slots.room > 0 && !usersOverShare.has(user);
  }

  #start(waiting: WaitingExecution): void {
    const { executionId } = waiting;
    this.#options.run(waiting).catch((err: unknown) => {
      this.#options.logger.error(
        { err, executionId },
        "an execution that waited for a slot could not be loaded",
      );
    });
  }
}
