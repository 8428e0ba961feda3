// An object in a kept conversation: the message is kept whole, with the tools that led to it.
import { tool } from "ai";
import { expect, test } from "vitest";
import { z } from "zod";
import { controlledModel } from "../support/controlled-model.ts";
import { openStore, startProcess } from "./processes.ts";

const schema = { type: "object", properties: { stars: { type: "number" } }, required: ["stars"] };
const rate = tool({ inputSchema: z.object({}), execute: () => "good" });

/** Calls a tool, replies with a text that does not fit, and then with one that does. */
const rater = () =>
  controlledModel(({ prompt }) => {
    const said = JSON.stringify(prompt);
    if (!said.includes("tool-result")) return { calls: [{ name: "rate", input: {} }] };
    return said.includes("That does not fit")
      ? { text: ['{"stars":', "5}"] }
      : { text: ['{"stars":"many"}'] };
  });

const partsOf = async (ways: "object" | "streamObject") => {
  const { andante } = startProcess(await openStore(), { model: rater(), tools: { rate } });
  const talk = { conversationId: "talk", userId: "ada" };
  if (ways === "object")
    expect(await andante.agents.object("clerk", "rate it", schema, talk)).toEqual({ stars: 5 });
  else {
    let last: unknown;
    for await (const part of await andante.agents.streamObject("clerk", "rate it", schema, talk)) last = part;
    expect(last).toEqual({ type: "object", object: { stars: 5 } });
  }
  const { messages } = await andante.conversations.messages("talk");
  expect(messages.map(({ role, partial }) => [role, partial])).toEqual([
    ["user", undefined],
    ["assistant", undefined],
  ]);
  return messages[1]?.parts;
};

test("the text and tool results of the last try are kept, with object and with streamObject", async () => {
  for (const way of ["object", "streamObject"] as const) {
    const parts = await partsOf(way);
    expect(parts?.at(-1)).toMatchObject({ type: "text", text: '{"stars":5}', state: "done" });
    const tools = parts?.filter(({ type }) => type === "tool-rate");
    expect(tools).toMatchObject([{ state: "output-available", output: "good" }]);
  }
});
