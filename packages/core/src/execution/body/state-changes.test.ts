// The state that a body sets: merged per key, evaluated again where another branch has changed the state since.
import { expect, test } from "vitest";
import { Journal } from "../../journal/journal.ts";
import { StateChanges } from "./state-changes.ts";

test("patches are merged per key and copied at the call", () => {
  const journal = new Journal();
  journal.stateChanged(0, '{"a":1,"list":[1]}');
  const changes = new StateChanges(journal, "one");
  const patch = { b: { deep: 1 } };
  changes.add(patch);
  patch.b.deep = 2;
  changes.add({ a: 5 });
  expect(changes.read()).toEqual({ a: 5, list: [1], b: { deep: 1 } });
  expect(JSON.parse(changes.text())).toEqual({ a: 5, b: { deep: 1 } });
  // A copy: the body may change it.
  const { list } = changes.read();
  expect(list).not.toBe(changes.read().list);
});

test("a function gets the state of the moment, and is evaluated again after a change of another branch", () => {
  const journal = new Journal();
  journal.stateChanged(0, '{"count":1}');
  const changes = new StateChanges(journal, "one");
  let calls = 0;
  changes.add({ before: true });
  changes.add(({ count }) => {
    calls++;
    return { count: Number(count) + 1 };
  });
  expect(JSON.parse(changes.text())).toEqual({ before: true, count: 2 });
  expect(calls).toBe(1);
  journal.stateChanged(0, '{"count":10}');
  expect(JSON.parse(changes.text())).toEqual({ before: true, count: 11 });
  expect(calls).toBe(2);
});

test.each([null, 1, [1], () => "text", () => null])("a patch of %o is refused", (patch) => {
  const changes: { add(patch: unknown): void } = new StateChanges(new Journal(), "one");
  expect(() => changes.add(patch)).toThrow("Step one: state validation failed: expected an object");
});

test("a patch that cannot be kept as JSON names its step", () => {
  const changes = new StateChanges(new Journal(), "one");
  expect(() => changes.add({ big: 1n })).toThrow("State set by step one");
});
