// Paces one execution while it catches up on overdue timers: in their order, and with their intervals.
//
// After an outage, or on a full node, several timers of one execution may be overdue. If all fired at once, the work
// that follows the first could not end before the second fires, although it would have had an hour. So overdue timers
// keep their intervals while such work is in flight; without such work the next one fires at once.

export class CatchUpPacing {
  /** The last timer that fired: its due time and its actual time. */
  #last: { readonly dueAt: number; readonly at: number } | undefined;

  /** Records that a timer that was due at `dueAt` fires now. */
  record(dueAt: number, now: number): void {
    this.#last = { dueAt, at: now };
  }

  /** Whether the last timer fired late: the next one may have to wait for the work that follows. */
  get isCatchingUp(): boolean {
    return this.#last !== undefined && this.#last.dueAt < this.#last.at;
  }

  /** When an overdue timer may fire while work that follows an earlier one is in flight. */
  earliest(dueAt: number): number {
    const last = this.#last;
    const wasOverdue = last !== undefined && dueAt > last.dueAt && dueAt <= last.at;
    return wasOverdue ? last.at + dueAt - last.dueAt : dueAt;
  }
}
