// How far the clock of the database is ahead of this node's steady time.

export class DatabaseClock {
  /** Milliseconds. */
  offset = 0;

  /** The database said `now` between these two times of the node. What is known is kept while it agrees with that. */
  heard(now: number, sent: number, received: number): void {
    const [least, most] = [now - received, now - sent];
    // A clock in milliseconds is up to one behind.
    if (this.offset < least - 1 || this.offset > most + 1) this.offset = Math.round((least + most) / 2);
  }
}
