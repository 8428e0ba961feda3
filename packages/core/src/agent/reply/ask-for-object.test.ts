// Asking for an object: a reply that does not fit is shown to the model once, with its problem.
import type { ModelMessage } from "ai";
import { expect, test } from "vitest";
import type { ObjectShape } from "../schema/object-shape.ts";
import { askForObject } from "./ask-for-object.ts";

const shape: ObjectShape<number> = {
  schema: { type: "number" },
  check: async (value) =>
    typeof value === "number" ? { ok: true, value } : { ok: false, detail: "expected a number" },
};
const question: ModelMessage = { role: "user", content: "how many?" };

/** The result of these replies, and the prompt of the last of them. */
async function ask(...replies: string[]) {
  const asked: ModelMessage[][] = [];
  const reply = await askForObject([question], shape, async (messages) => {
    asked.push(messages);
    return replies[asked.length - 1] ?? "";
  });
  return { reply, asked };
}

const wrong = (detail: string): ModelMessage => ({
  role: "user",
  content: `That does not fit: ${detail}. Reply again, with nothing but JSON that matches the schema.`,
});

test("a reply that fits is not asked for again", async () => {
  const { reply, asked } = await ask("7");
  expect(reply).toEqual({ ok: true, value: 7, text: "7" });
  expect(asked).toEqual([[question]]);
});

test("one that does not is shown with its problem, and the next one counts", async () => {
  const { reply, asked } = await ask('"x"', "7");
  expect(reply).toEqual({ ok: true, value: 7, text: "7" });
  const said: ModelMessage = { role: "assistant", content: '"x"' };
  expect(asked[1]).toEqual([question, said, wrong("expected a number")]);
  expect((await ask('"x"', "y")).reply).toEqual({ ok: false, detail: "it is not JSON", text: "y" });
});

test("an empty one is not shown: providers refuse a message without words", async () => {
  const { asked } = await ask("", "7");
  expect(asked[1]).toEqual([question, wrong("it is not JSON")]);
});
