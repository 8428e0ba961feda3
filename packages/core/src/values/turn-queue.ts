// Items that wait, by owner. Owners take turns: one with many items delays each item of another owner by one of them.

export class TurnQueue<Owner, Item extends object> {
  /** The owner of the first line is next, and moves to the end after its turn. */
  readonly #lines = new Map<Owner, Item[]>();

  /** After the owner's other items, or before them. */
  add(owner: Owner, item: Item, place: "first" | "last" = "last"): void {
    const line = this.#lines.get(owner);
    if (line === undefined) this.#lines.set(owner, [item]);
    else if (place === "first") line.unshift(item);
    else line.push(item);
  }

  /** Removes the item whose turn it is. */
  next(): Item | undefined {
    const [first] = this.#lines;
    if (first === undefined) return undefined;
    const [owner, line] = first;
    this.#lines.delete(owner);
    const item = line.shift();
    if (line.length > 0) this.#lines.set(owner, line);
    return item;
  }

  /** Removes an item before its turn; false when it is not there. */
  remove(owner: Owner, item: Item): boolean {
    const line = this.#lines.get(owner) ?? [];
    const index = line.lastIndexOf(item);
    if (index === -1) return false;
    line.splice(index, 1);
    if (line.length === 0) this.#lines.delete(owner);
    return true;
  }

  /** Removes the item that the owner added last. */
  removeLast(owner: Owner): Item | undefined {
    const item = this.#lines.get(owner)?.at(-1);
    if (item !== undefined) this.remove(owner, item);
    return item;
  }
}
