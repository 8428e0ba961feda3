// The agents of a host by their ids, and definitions that could never be called.
import { expect, test } from "vitest";
import { Agent } from "./agent.ts";
import { registerAgents } from "./register-agents.ts";

const foreign = (id?: string) => Object({ id, generate: () => 1, stream: () => 1 });
const register = (agents: object) => () => registerAgents(Object(agents));

test("an agent has its own id, and one without an id has its key", () => {
  const ours = new Agent({ id: "ours", model: "test/model" });
  const agents = registerAgents({ a: ours, b: foreign(), c: foreign("own") });
  expect(Array.from(agents, ([id, agent]) => [id, agent.id])).toEqual([
    ["ours", "ours"],
    ["b", "b"],
    ["own", "own"],
  ]);
  expect(agents.get("ours")).toBe(ours);
});

test.each<[string, object]>([
  ['Agent registered as "a": it is not an agent of the AI SDK', { a: {} }],
  ['Agent registered as "a": it is not an agent of the AI SDK', { a: null }],
  ['Agent registered as "a": it is not an agent of the AI SDK', { a: { generate: () => 1 } }],
  ['Agent registered as "a": it is not an agent of the AI SDK', { a: { stream: () => 1 } }],
  ['Agent registered as "..": the id ".." cannot be used in a URL', { "..": foreign() }],
  ['Agent registered as "b": another agent already has the id "a"', { a: foreign(), b: foreign("a") }],
])("%s", (message, agents) => {
  expect(register(agents)).toThrow(message);
});
