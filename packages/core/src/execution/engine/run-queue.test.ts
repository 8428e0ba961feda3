// Executions that wait for a slot: how many are kept, of whom, and in which order they come out.
import { expect, test } from "vitest";
import { plainKind as kind } from "../../../test/support/plain-kind.ts";
import { RunQueue } from "./run-queue.ts";

const waiting = (executionId: string, user = executionId, token = "t") => ({
  executionId,
  kind,
  claim: { owner: "me", token },
  user,
});

test("the first that may run comes out first, and once", () => {
  const queue = new RunQueue(1);
  for (const id of ["a", "b", "c"]) queue.add(waiting(id));
  expect(queue.next(({ executionId }) => executionId !== "a")?.executionId).toBe("b");
  expect(queue.next(() => true)?.executionId).toBe("a");
  expect(queue.next(() => true)?.executionId).toBe("c");
  expect(queue.next(() => true)).toBeUndefined();
  expect(queue.isEmpty).toBe(true);
});

test("a thousand are kept, others find no place; one that waits already keeps its own", () => {
  const queue = new RunQueue(1);
  for (let number = 0; number < 1000; number++) expect(queue.add(waiting(`e${number}`))).toBe(true);
  expect(queue.add(waiting("more"))).toBe(false);
  expect(queue.add(waiting("e0", "e0", "newer"))).toBe(true);
  expect(queue.next(() => true)).toMatchObject({ executionId: "e0", claim: { token: "newer" } });
  expect(queue.add(waiting("more"))).toBe(true);
});

test("one user takes no more than its share", () => {
  const queue = new RunQueue(0.002);
  expect([1, 2, 3].map((number) => queue.add(waiting(`e${number}`, "ada")))).toEqual([true, true, false]);
  expect(queue.add(waiting("other", "bob"))).toBe(true);
});

test("those that wait are known by their users and their claims, without the state that may have changed", () => {
  const queue = new RunQueue(0.0001);
  expect(queue.users()).toEqual([]);
  queue.keep({ ...waiting("a", "ada", "t1"), resumed: { state: {} as never, journal: undefined } });
  queue.keep(waiting("b", "ada", "t2"));
  expect([queue.users(), queue.isEmpty]).toEqual([["ada", "ada"], false]);
  expect([queue.holds("a", "t1"), queue.holds("a", "t2"), queue.holds("c", "t1")]).toEqual([
    true,
    false,
    false,
  ]);
  // A share of less than one place is one place.
  expect([queue.add(waiting("c", "bob")), queue.add(waiting("d", "bob"))]).toEqual([true, false]);
  expect(queue.take("a")).toEqual({ ...waiting("a", "ada", "t1"), resumed: undefined });
  expect(queue.take("a")).toBeUndefined();
});
