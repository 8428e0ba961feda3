// A map that mostly holds one entry or none, such as the steps of an execution that run now.
//
// A plain Map is given a new table whenever its last entry is removed, by code that is not compiled: with one step after
// the other each of them would pay for that several times.

export class SmallMap<Key, Value> {
  #first: readonly [key: Key, value: Value] | undefined;
  /** Made when a second entry comes; those that came after the first one. */
  #others: Map<Key, Value> | undefined;

  get size(): number {
    return (this.#first === undefined ? 0 : 1) + (this.#others?.size ?? 0);
  }

  get(key: Key): Value | undefined {
    return this.#first?.[0] === key ? this.#first[1] : this.#others?.get(key);
  }

  set(key: Key, value: Value): void {
    if (this.#first?.[0] === key || this.size === 0) this.#first = [key, value];
    else {
      this.#others ??= new Map();
      this.#others.set(key, value);
    }
  }

  delete(key: Key): void {
    if (this.#first?.[0] === key) this.#first = undefined;
    else this.#others?.delete(key);
  }

  /** The values of now, in the order in which their keys came. */
  values(): Value[] {
    const values = this.#first === undefined ? [] : [this.#first[1]];
    if (this.#others !== undefined) for (const value of this.#others.values()) values.push(value);
    return values;
  }
}
