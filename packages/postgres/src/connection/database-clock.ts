// How far the clock of the database is ahead of this node's steady time.

export class DatabaseClock {
  /** Milliseconds. */
  offset = 0;
  #isKnown = false;

  /**
   * The database returned `now` between these two times of the node. The offset is kept while it agrees with that. Returns
   * by how many milliseconds the database has gone back: it has failed over to another clock, or its own was set.
   */
  adjust(now: number, sent: number, received: number): number {
    const [least, most] = [now - received, now - sent];
    const before = this.#isKnown ? this.offset : Number.NEGATIVE_INFINITY;
    this.#isKnown = true;
    // A clock in milliseconds is up to one behind.
    if (this.offset < least - 1 || this.offset > most + 1) this.offset = Math.round((least + most) / 2);
    return Math.max(0, before - this.offset);
  }
}
