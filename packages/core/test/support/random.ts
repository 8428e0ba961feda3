// Random choices that a seed makes repeatable, so that a failure can be run again.

export interface Random {
  /** From 0 to below 1. */
  next(): number;
  /** A whole number from `lowest` to `highest`, both included. */
  integer(lowest: number, highest: number): number;
  /** True with this probability. */
  chance(probability: number): boolean;
  /** One of the list; undefined when it is empty. */
  pick<Item>(list: readonly [Item, ...Item[]]): Item;
  pick<Item>(list: readonly Item[]): Item | undefined;
  /** The same items in another order. */
  shuffle<Item>(list: readonly Item[]): Item[];
}

/** The generator known as mulberry32: short, and good enough to choose moments. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const integer = (lowest: number, highest: number) => lowest + Math.floor(next() * (highest - lowest + 1));
  function pick<Item>(list: readonly [Item, ...Item[]]): Item;
  function pick<Item>(list: readonly Item[]): Item | undefined;
  function pick<Item>(list: readonly Item[]): Item | undefined {
    return list[integer(0, list.length - 1)];
  }
  return {
    next,
    integer,
    chance: (probability) => next() < probability,
    pick,
    shuffle: (list) =>
      list
        .map((item) => ({ item, order: next() }))
        .sort((left, right) => left.order - right.order)
        .map(({ item }) => item),
  };
}
