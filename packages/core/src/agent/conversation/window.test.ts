// The part of a conversation that a model sees.
import type { UIMessage } from "ai";
import { expect, test } from "vitest";
import { windowOf } from "./window.ts";

/** Messages by their roles: `u` and `a`. */
const messages = (roles: string): UIMessage[] =>
  [...roles].map((role, index) => ({
    id: String(index),
    role: role === "u" ? "user" : "assistant",
    parts: [],
  }));

test.each([
  ["all of a short one", "uaua", 10, "0123"],
  ["the newest, from a user's message on", "uauau", 4, "234"],
  ["exactly the window when it begins with the user", "uauau", 3, "234"],
  ["the question with a reply that is continued, also beyond the window", "uaua", 1, "23"],
  ["several questions in a row", "uuu", 2, "12"],
  ["the newest message without a question", "aa", 1, "1"],
])("%s", (_, roles, size, expected) => {
  expect(
    windowOf(messages(roles), size)
      .map(({ id }) => id)
      .join(""),
  ).toBe(expected);
});

test("no more than about so many tokens, whole messages at a time, and always the last question", () => {
  const said = (id: string, role: "user" | "assistant", text: string): UIMessage => ({
    id,
    role,
    parts: [{ type: "text", text }],
  });
  const talk = [
    said("1", "user", "x".repeat(4000)),
    said("2", "assistant", "short"),
    said("3", "user", "short"),
    said("4", "assistant", "short"),
    said("5", "user", "x".repeat(400)),
  ];
  const seen = (tokens: number) => windowOf(talk, 50, tokens).map(({ id }) => id);
  expect(seen(10_000)).toEqual(["1", "2", "3", "4", "5"]);
  expect(seen(200)).toEqual(["3", "4", "5"]);
  expect(seen(1)).toEqual(["5"]);
});

test("messages that have exactly so many tokens are all seen", () => {
  // Each has no parts, which is about one token.
  expect(windowOf(messages("uau"), 50, 3)).toHaveLength(3);
});

test("a file counts as about a thousand tokens however long it is, and a text that looks like one by its length", () => {
  const asked = (part: UIMessage["parts"][number]): UIMessage[] => [
    ...messages("ua"),
    { id: "2", role: "user", parts: [part] },
  ];
  const seen = (part: UIMessage["parts"][number], tokens: number) => windowOf(asked(part), 50, tokens).length;
  const url = `data:image/png;base64,${"A".repeat(100_000)}`;
  expect(seen({ type: "file", mediaType: "image/png", url }, 1100)).toBe(3);
  expect(seen({ type: "file", mediaType: "image/png", url: "data:," }, 500)).toBe(1);
  expect(seen({ type: "text", text: "data: none" }, 500)).toBe(3);
});
