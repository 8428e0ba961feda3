// The strings that can be rendered as markdown.
import { expect, test } from "vitest";
import { looksLikeMarkdown } from "./looks-like-markdown.ts";

test.each([
  "# Title\n\nwords",
  "words\n\n- one\n- two",
  "1. one\n2. two",
  "it is **important**",
  "see [this](https://example.com/a)",
  "```\ncode\n```",
  "| a | b |\n| --- | --- |\n| 1 | 2 |",
])("%j does", (text) => {
  expect(looksLikeMarkdown(text)).toBe(true);
});

test.each([
  "plain words, and a star * or two *",
  "#hashtag and C#",
  "2 ** 8 ** 2",
  "- one thing",
  "a-b-c --- d",
  "https://example.com/a_b_c",
  "Error: x\n    at a (file.js:1:2)\n    at b (file.js:3:4)",
  `{"a":[1,2],"b":"c"}`,
  `# Title\n${"a".repeat(200_000)}`,
  "",
  // Strings that a naive pattern would match slowly.
  `- a${"\n".repeat(19_000)}b`,
  "[a".repeat(10_000),
])("%#: plain text, data and overlong text do not", (text) => {
  const { user } = process.cpuUsage();
  expect(looksLikeMarkdown(text)).toBe(false);
  expect((process.cpuUsage().user - user) / 1000).toBeLessThan(50);
});
