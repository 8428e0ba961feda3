// Parsed markdown: a growing text gives the same blocks as the whole text, and finished blocks stay the same objects.
import { expect, test } from "vitest";
import { type Blocks, blocksOf } from "./blocks.ts";

const reply = `Here is **what** I found, with \`code\` and [a link](https://example.com/a?b=c).
Second line
#5 is not a heading
***bold and slanted***

## Orders

1. first
2. second
   - inside *here*

   and more of the second

- [ ] open
- [x] done

> quoted
lazy line

| id | sum |
|----|----:|
| 1  | 20  |

\`\`\`ts
const a = "| b |";

# not a heading either
\`\`\`

A title
===
***
***bold and slanted***

    indented code

<b>raw</b> <br> &amp; end`;

const types = ({ blocks }: Blocks) => blocks.map(({ type }) => type).filter((type) => type !== "space");

test.each([1, 7, 40])(
  "a text that comes in pieces of %i letters gives the blocks of the whole one",
  (size) => {
    let grown = blocksOf("");
    for (let end = size; end < reply.length + size; end += size) grown = blocksOf(reply.slice(0, end), grown);
    expect(types(grown)).toEqual(types(blocksOf(reply)));
    expect(grown.blocks).toEqual(blocksOf(reply).blocks);
  },
);

test("finished blocks stay the same objects while the text grows", () => {
  const before = blocksOf(reply.slice(0, -10));
  const after = blocksOf(reply, before);
  const same = after.blocks.filter((block, index) => block === before.blocks[index]);
  expect(same.length).toBeGreaterThan(after.blocks.length - 6);
});

test("an address that is defined at the end reaches the links above; another text begins anew", () => {
  const start = "See [the page][1].\n\nSome words.\n\nMore words.\n\n";
  const before = blocksOf(start);
  const whole = `${start}[1]: https://example.com/`;
  expect(blocksOf(whole, before).blocks).toEqual(blocksOf(whole).blocks);
  expect(JSON.stringify(blocksOf(whole, before).blocks)).toContain('"href":"https://example.com/"');
  expect(blocksOf("Another one", before).blocks).toEqual(blocksOf("Another one").blocks);
});

test("text with other ends of lines gives the same blocks in parts as in one piece", () => {
  const text = reply.replaceAll("\n", "\r\n");
  expect(types(blocksOf(text, blocksOf(text.slice(0, 300))))).toEqual(types(blocksOf(reply)));
});

/** As many paragraphs of the longest line as fit into the longest text. */
const paragraphs = (unit: string) =>
  `${unit.repeat(Math.floor(3990 / unit.length))}\n\n`.repeat(50).slice(0, 199_000);

test.each([
  ["quotes in quotes", ">".repeat(20_000)],
  ["lists in lists", Array.from({ length: 100 }, (_, n) => `${"  ".repeat(n)}- a`).join("\n")],
  ["marks without a partner", "a_".repeat(10_000)],
  ["dots before a sign", `${"a.".repeat(10_000)}@`],
  ["more than is parsed", "**a** ".repeat(40_000)],
])("%s neither break nor hold up the page", (_, text) => {
  const { user } = process.cpuUsage();
  const { blocks } = blocksOf(text);
  expect(blocks.map(({ raw }) => raw).join("")).toBe(text);
  expect((process.cpuUsage().user - user) / 1000).toBeLessThan(400);
});

test.each<readonly [string, string]>([
  ...["_a*", "***a_", "**a*", "a_", "!", "![", "[", "[a](", "`a``b", "~a~~", "<a ", " "].map(
    (unit): [string, string] => [`paragraphs of ${unit}`, paragraphs(unit)],
  ),
  ["quotes that lines join", ">a\nb\n".repeat(33_000)],
  ["lists", "- a\n".repeat(49_000)],
  ["quotes with lists", "> - a\n".repeat(33_000)],
  ["a wide table", `${"|a".repeat(1900)}|\n${"|-".repeat(1900)}|\n${`${"|a".repeat(1900)}|\n`.repeat(48)}`],
])("200 KB of %s take less than two seconds of the processor", (_, text) => {
  const before = process.cpuUsage();
  const { blocks } = blocksOf(text);
  expect(blocks.length).toBeGreaterThan(0);
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1000).toBeLessThan(2000);
});

test("many marks and many joined lines are still read", () => {
  const marked = Array.from({ length: 60 }, () => "**a** _b_ `c` ".repeat(20)).join("\n\n");
  const { blocks } = blocksOf(marked);
  expect(JSON.stringify(blocks).split('"type":"strong"')).toHaveLength(60 * 20 + 1);
  const quotes = blocksOf(">a\nb\n\n".repeat(400)).blocks.filter(({ type }) => type === "blockquote");
  expect(quotes).toHaveLength(400);
});
