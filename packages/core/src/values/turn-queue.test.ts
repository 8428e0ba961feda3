import { expect, test } from "vitest";
import { TurnQueue } from "./turn-queue.ts";

const item = (name: string) => ({ name });
const drain = (queue: TurnQueue<string, { name: string }>) => {
  const names: string[] = [];
  for (let next = queue.next(); next !== undefined; next = queue.next()) names.push(next.name);
  return names.join(" ");
};

function filled() {
  const queue = new TurnQueue<string, { name: string }>();
  for (const name of ["a1", "a2", "a3", "b1", "b2", "c1"]) queue.add(name[0] ?? "", item(name));
  return queue;
}

test("owners take turns, and the items of one keep their order", () => {
  expect(drain(filled())).toBe("a1 b1 c1 a2 b2 a3");
});

test("an owner that adds another item keeps its turn, and one that comes back is last", () => {
  const queue = filled();
  expect(queue.next()?.name).toBe("a1");
  queue.add("b", item("b3"));
  queue.add("c", item("c0"), "first");
  queue.add("d", item("d1"), "first");
  expect(drain(queue)).toBe("b1 c0 a2 d1 b2 c1 a3 b3");
});

test("an item that is removed has no turn, and an owner without items is forgotten", () => {
  const queue = filled();
  const c2 = item("c2");
  queue.add("c", c2);
  expect(queue.remove("c", c2)).toBe(true);
  expect(queue.remove("c", c2)).toBe(false);
  expect(queue.remove("x", c2)).toBe(false);
  expect(queue.removeLast("a")?.name).toBe("a3");
  expect(queue.removeLast("c")?.name).toBe("c1");
  expect(queue.removeLast("c")).toBeUndefined();
  expect(drain(queue)).toBe("a1 b1 a2 b2");
  expect(queue.next()).toBeUndefined();
});
