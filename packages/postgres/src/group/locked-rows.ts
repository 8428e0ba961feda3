// Writes to executions whose rows another client keeps locked: those of one execution in their order, tried one by one.
//
// A row that was locked is remembered for a while also when nothing waits for it any more: the next write to it is tried
// alone too, and does not make those wait that would be in its group.

/** Milliseconds between two tries of one row, and for how long one is remembered after the last of them. */
const pause = 500;
const memory = 60_000;

interface LockedRow<Write> {
  /** In the order in which they came. */
  writes: Write[];
  /** When it is tried next. */
  tryAt: number;
  /** False while it is being tried. */
  isLocked: boolean;
}

export class LockedRows<Write extends { readonly executionId: string }> {
  /** In the order in which they were tried last. */
  readonly #rows = new Map<string, LockedRow<Write>>();

  /** Whether nothing waits. */
  get isEmpty(): boolean {
    return this.nextTry === undefined;
  }

  /** When something is to be tried next; undefined when nothing waits. */
  get nextTry(): number | undefined {
    let next: number | undefined;
    for (const { writes, tryAt } of this.#rows.values())
      if (writes.length > 0 && (next === undefined || tryAt < next)) next = tryAt;
    return next;
  }

  /** Keeps a write whose row is known to be locked, behind those that came before it. False: it is not known. */
  keep(write: Write): boolean {
    const row = this.#rows.get(write.executionId);
    row?.writes.push(write);
    return row !== undefined;
  }

  /** The row of this write is locked. `behind`: those of the same execution that came later and are not kept here. */
  found(write: Write, behind: readonly Write[], now: number): void {
    const kept = this.#rows.get(write.executionId)?.writes ?? [];
    this.#forget(write.executionId, now);
    this.#rows.set(write.executionId, {
      writes: [write, ...kept, ...behind],
      tryAt: now + pause,
      isLocked: true,
    });
  }

  /** Takes the write out that is to be tried now; undefined when there is none. `atOnce`: without a pause. */
  take(now: number, atOnce: boolean): Write | undefined {
    for (const row of this.#rows.values()) {
      const [write] = row.writes;
      if (write === undefined || (!atOnce && row.tryAt > now)) continue;
      row.writes.shift();
      row.isLocked = false;
      return write;
    }
    return undefined;
  }

  /** It could not be tried: it comes first again. */
  putBack(write: Write): void {
    this.#rows.get(write.executionId)?.writes.unshift(write);
  }

  /** The writes behind a tried one, when its row turned out to be free. */
  freed({ executionId }: Write): readonly Write[] {
    const row = this.#rows.get(executionId);
    if (row === undefined || row.isLocked) return [];
    this.#rows.delete(executionId);
    return row.writes;
  }

  /** Takes out those that are not to wait any longer. */
  remove(which: (write: Write) => boolean): readonly Write[] {
    const removed: Write[] = [];
    for (const row of this.#rows.values()) {
      removed.push(...row.writes.filter(which));
      row.writes = row.writes.filter((write) => !which(write));
    }
    return removed;
  }

  /** This one, and those that nothing has waited for since long. */
  #forget(executionId: string, now: number): void {
    this.#rows.delete(executionId);
    for (const [id, { writes, tryAt }] of this.#rows)
      if (writes.length === 0 && tryAt + memory < now) this.#rows.delete(id);
  }
}
