// A map whose entries come and go all the time, such as the calls under way or the executions that run here.
//
// A plain Map that is filled and emptied for long keeps removed entries: V8 gives it a new table from time to time, and
// each old table points to the next one, for iterators that may still be in it. Once one of them is old enough to be
// outside of the young generation, the chain that begins there is alive until the next full collection, with all that
// the tables held when they were left. With fifty executions of three steps at a time half of all objects survived a
// collection of the young generation, which took 20 ms instead of 3, and V8's threads 40 µs for each execution instead of
// 13. So the entries move to a new Map before V8 makes a new table: Maps do not know each other.

/** Entries that are added to a small map before it is renewed. */
const leastAdded = 32;

export class TurnoverMap<Key, Value> {
  #entries = new Map<Key, Value>();
  #room = leastAdded;

  get size(): number {
    return this.#entries.size;
  }

  get(key: Key): Value | undefined {
    return this.#entries.get(key);
  }

  has(key: Key): boolean {
    return this.#entries.has(key);
  }

  set(key: Key, value: Value): void {
    if (--this.#room < 0) this.#renew();
    this.#entries.set(key, value);
  }

  delete(key: Key): boolean {
    return this.#entries.delete(key);
  }

  /** The key that came first of those that are here. */
  oldest(): Key | undefined {
    return this.#entries.keys().next().value;
  }

  /** The keys and values of now, in the order of insertion: later changes do not affect them. */
  keys(): readonly Key[] {
    return [...this.#entries.keys()];
  }

  values(): readonly Value[] {
    return [...this.#entries.values()];
  }

  clear(): void {
    this.#entries = new Map();
    this.#room = leastAdded;
  }

  #renew(): void {
    this.#entries = new Map(this.#entries);
    // As many more as it holds: moving stays a constant share of adding.
    this.#room = Math.max(leastAdded, this.#entries.size);
  }
}
