// The pace at which one execution catches up with times that have passed: in their order, and with room between them.
//
// After an outage, or on a full node, several times of one execution may have passed already. If they happened all at
// once, the work that follows from the first could not end before the second, though it would have had an hour for it. So
// what was overdue together keeps its distances while such work is in flight; as soon as there is none, time jumps on.

/** The last thing that fell due here: when it should have happened, and when it did. */
interface Happened {
  readonly dueAt: number;
  readonly at: number;
}

export class Pace {
  #last: Happened | undefined;

  /** Something that was due at `dueAt` happens now. */
  happened(dueAt: number, now: number): void {
    this.#last = { dueAt, at: now };
  }

  /** True when it happened late: its consequences may have to be waited for. */
  get isBehind(): boolean {
    return this.#last !== undefined && this.#last.dueAt < this.#last.at;
  }

  /** When a time that has passed may happen, should work that follows from an earlier one still be in flight. */
  earliest(dueAt: number): number {
    const last = this.#last;
    const wasOverdue = last !== undefined && dueAt > last.dueAt && dueAt <= last.at;
    return wasOverdue ? last.at + dueAt - last.dueAt : dueAt;
  }
}
