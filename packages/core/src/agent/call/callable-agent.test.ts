// Agents as Andante calls them: the parts of a reply, and which tools hold something open.
import { ToolLoopAgent } from "ai";
import { expect, test } from "vitest";
import { controlledModel } from "../../../test/support/controlled-model.ts";
import { CallableAgent, isHeld } from "./callable-agent.ts";
import { callableAgent } from "./foreign-agent.ts";
import { Operation } from "./operation.ts";

const both = { retain: () => undefined, release: async () => undefined };

test("a function that can be retained and released", () => {
  expect(isHeld(Object.assign(() => ({}), both))).toBe(true);
});

test.each([
  ["a plain function", () => ({})],
  ["one that can only be retained", Object.assign(() => ({}), { retain: both.retain })],
  ["one that can only be released", Object.assign(() => ({}), { release: both.release })],
  ["a set of tools that are named so", both],
  ["nothing", undefined],
])("not %s", (_, tools) => {
  expect(isHeld(tools)).toBe(false);
});

test("the parts of a reply are those of its stream", async () => {
  const agent = callableAgent(
    new ToolLoopAgent({ model: controlledModel(() => ({ text: ["a", "b"] })) }),
    "a",
  );
  expect(agent).toBeInstanceOf(CallableAgent);
  const operation = Operation.from(undefined, undefined);
  const { stream } = await agent.parts({
    messages: [{ role: "user", content: "hi" }],
    operation,
    settings: {},
  });
  let text = "";
  for await (const part of stream) if (part.type === "text-delta") text += part.text;
  expect(text).toBe("ab");
});
