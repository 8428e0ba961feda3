// Events from outside: definitions that are refused, and the cases on SQLite in memory and on maps.
import { expect, test } from "vitest";
import { andWaitFor, createAndante, createWorkflow, defineEvent, memoryStore } from "../../src/index.ts";
import { plainStore } from "../store/plain-store.ts";
import { declined, eventCases, order, paid } from "./event-cases.ts";

eventCases("SQLite", memoryStore);
eventCases("maps", plainStore);

/** Calls a function as plain JavaScript does: with any argument. */
const call = (target: (options: never) => unknown, options: object) =>
  Reflect.apply(target, undefined, [options]);

test.each<[string, () => unknown]>([
  ["name", () => call(defineEvent, { name: "order paid" })],
  ["name", () => call(defineEvent, { name: ".." })],
  ["data", () => call(defineEvent, { name: "a", data: {} })],
  ["key", () => call(defineEvent, { name: "a", key: "order" })],
  ["scope", () => call(defineEvent, { name: "a", scope: "tenant" })],
  ['did you mean "key"', () => call(defineEvent, { name: "a", keys: () => "" })],
  ["event", () => call(createWorkflow, { id: "w", input: order, on: { event: "order.paid" } })],
  ["input must be", () => call(createWorkflow, { id: "w", input: order, on: { event: paid, input: {} } })],
  ["key must be", () => call(createWorkflow, { id: "w", input: order, cancelOn: { event: paid, key: "a" } })],
  ["event", () => call(andWaitFor, { id: "w", event: [] })],
  ["twice", () => call(andWaitFor, { id: "w", event: [paid, paid] })],
  ["deadline", () => call(andWaitFor, { id: "w", event: paid, deadline: "soon" })],
  ["since", () => call(andWaitFor, { id: "w", event: paid, since: "ever" })],
  ['unknown option "keys"', () => call(andWaitFor, { id: "w", event: paid, keys: "a" })],
  [
    'another event already has the name "order.paid"',
    () => {
      const other = defineEvent({ name: "order.paid" });
      const step = andWaitFor({ id: "a", event: [paid, declined] });
      const workflow = createWorkflow({ id: "w", input: order }).andAll({ id: "all", steps: [step] });
      createAndante({ workflows: { workflow }, events: { other }, store: memoryStore() });
    },
  ],
])("a definition is refused that is wrong about %s", (problem, define) => {
  expect(define).toThrow(problem);
});
