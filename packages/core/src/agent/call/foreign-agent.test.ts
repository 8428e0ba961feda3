// The schema as text: added to the user's last message, in any form of it.
import type { ModelMessage } from "ai";
import { expect, test } from "vitest";
import { withSchemaInWords } from "./foreign-agent.ts";

const schema = { type: "object" };
const words = 'Reply with nothing but JSON that matches this JSON Schema:\n{"type":"object"}';
const before: ModelMessage[] = [
  { role: "user", content: "one" },
  { role: "assistant", content: "two" },
];

test("it follows a text, and the parts of a message that has parts", () => {
  expect(withSchemaInWords([...before, { role: "user", content: "three" }], schema)).toEqual([
    ...before,
    { role: "user", content: `three\n\n${words}` },
  ]);
  const parts = [{ type: "text" as const, text: "three" }];
  expect(withSchemaInWords([{ role: "user", content: parts }], schema)).toEqual([
    { role: "user", content: [...parts, { type: "text", text: words }] },
  ]);
});

test("it is a message of its own where the user has not spoken last", () => {
  expect(withSchemaInWords(before, schema)).toEqual([...before, { role: "user", content: words }]);
  expect(withSchemaInWords([], schema)).toEqual([{ role: "user", content: words }]);
});
