// The agents of a host by their ids, and definitions that could never be called.
import { ToolLoopAgent } from "ai";
import { expect, test } from "vitest";
import { RecordingLogger } from "../test-kit/recording-logger.ts";
import { Agent } from "./agent.ts";
import { registerAgents, warnOfUnrecorded } from "./register-agents.ts";

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

test("an agent of the AI SDK is one of ours; a changed one is not, and a warning names the cure", () => {
  class Changed extends ToolLoopAgent {}
  const settings = { model: "test/model", timeout: 5, onStepFinish: () => undefined };
  const patched = Object.assign(new ToolLoopAgent(settings), { stream: () => 1 });
  const internal = new ToolLoopAgent({ ...settings, _internal: {} });
  const plain = new ToolLoopAgent({ ...settings, id: "own", instructions: "Never shown" });
  const agents = registerAgents(Object({ plain, changed: new Changed(settings), patched, internal }));
  expect(Array.from(agents, ([id, { recordsCalls }]) => [id, recordsCalls])).toEqual([
    ["own", true],
    ["changed", false],
    ["patched", false],
    ["internal", false],
  ]);
  expect(agents.get("own")).toMatchObject({ model: null, instructions: null });
  expect(() => agents.get("own")?.checkSettings({ temperature: 0 })).toThrow("has settings of its own");
  const logger = new RecordingLogger();
  warnOfUnrecorded(agents, logger);
  expect(logger.lines.map(({ agentId }) => agentId)).toEqual(["changed", "patched", "internal"]);
  expect(logger.lines[0]).toMatchObject({ level: "warn", msg: expect.stringContaining("new Agent({ id") });
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
