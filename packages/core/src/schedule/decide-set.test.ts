// Which set of schedules counts while processes with different code run.
import { expect, test } from "vitest";
import { type DeclaredSet, declareSet } from "./decide-set.ts";

const hour = 3_600_000;

/** Declares sets one after the other, as processes do. */
function declaring() {
  let sets: readonly DeclaredSet[] = [];
  return (owner: string, hash: string, now: number, ...alive: string[]) => {
    const decided = declareSet(sets, { hash, owner, now, isAlive: (name) => alive.includes(name) });
    sets = decided.sets;
    return decided.winner;
  };
}

test("the set that was first declared last counts, also when an old process starts again", () => {
  const declare = declaring();
  expect(declare("a", "old", 1)).toBe("old");
  expect(declare("b", "new", 2, "a")).toBe("new");
  expect(declare("a", "old", 3, "b")).toBe("new");
  expect(declare("c", "old", 4, "b")).toBe("new");
});

test("it loses when its last process is gone, and is forgotten after an hour", () => {
  const declare = declaring();
  declare("a", "old", 1);
  declare("b", "new", 2, "a");
  expect(declare("a", "old", 3)).toBe("old");
  // It comes back before that: as old as it was.
  expect(declare("d", "new", 4, "a")).toBe("new");
  expect(declare("a", "old", 5)).toBe("old");
  expect(declare("a", "old", 6 + hour)).toBe("old");
  expect(declare("a", "old", 7 + hour)).toBe("old");
  expect(declare("e", "new", 8 + hour, "a")).toBe("new");
});

test("a set that is declared after a clock was set back is the last one nevertheless", () => {
  const declare = declaring();
  declare("a", "old", 9 * hour);
  expect(declare("b", "new", hour, "a")).toBe("new");
  expect(declare("a", "old", 2 * hour, "b")).toBe("new");
});

test("the same declaration again changes nothing", () => {
  const given = { hash: "one", owner: "a", now: 5, isAlive: () => true };
  const { sets } = declareSet([], given);
  expect(declareSet(sets, { ...given, now: 9 }).sets).toEqual(sets);
});
