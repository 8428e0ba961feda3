// The table in docs/ui-messages.md: the result of each part of a reply on every route. Each of its cells is a test.
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { type Fields, listOf } from "../../support/responses.ts";
import { serveForTest } from "../../support/serve-for-test.ts";
import { temporaryFile } from "../../support/temporary-file.ts";
import { type Row, rows } from "./rows.ts";
import { table } from "./table-agent.ts";
import { Teller } from "./telling.ts";

const page = new URL("../../../docs/ui-messages.md", import.meta.url);
const [head = [], ...lines] = readFileSync(page, "utf8")
  .split("\n")
  .filter((line) => /^\|(?! *-)/.test(line))
  .map((line) => line.slice(1, -1).split("|"))
  .map((cells) => cells.map((cell) => cell.trim()));

const file = temporaryFile();
const first = await serveForTest({ agents: { table }, workflows: {}, store: file.open() });

async function tell(name: string, row: Row) {
  const teller = new Teller(first, name, row);
  const isWhole = row.ends === undefined;
  const canCrash = isWhole && row.approved === undefined;
  // Both tools would be decided about.
  const isWaiting = row.kept.some(({ state }) => state === "approval-requested");
  const [chat, stream, text, attached, continued] = await Promise.all([
    teller.chat(),
    teller.stream(),
    teller.text(),
    isWhole ? teller.attached() : undefined,
    canCrash && !isWaiting ? teller.continued() : undefined,
  ]);
  if (canCrash) await teller.beginCrash();
  return { chat, stream, text, attached, continued, canCrash };
}

const told = new Map(
  await Promise.all(Object.entries(rows).map(async ([name, row]) => [name, await tell(name, row)] as const)),
);
await first.close();
const second = await serveForTest({ agents: { table }, workflows: {}, store: file.open() });
const recovered = new Map(
  await Promise.all(
    Object.entries(rows).map(async ([name, row]) => {
      const after = told.get(name)?.canCrash ? await new Teller(second, name, row).afterCrash() : undefined;
      return [name, after] as const;
    }),
  ),
);

/** The texts in backticks. */
const names = (cell: string) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name);
const typesOf = (events: readonly Fields[]) => events.map(({ type }) => type);
const partsOf = (message: Fields) => listOf(message, "parts");
/** A tool's part is known by its state, every other by its type. */
const nameOf = ({ type, state }: Fields) => (/^(tool-|dynamic)/.test(String(type)) ? state : type);

/** Ids of approvals are made for each reply, those of messages too. */
function comparable(message: Fields): unknown[] {
  return partsWithoutRecord(message).map((part) =>
    part.approval === undefined ? part : { ...part, approval: { ...Object(part.approval), id: "approval" } },
  );
}

/** Without the record of a decision, which the AI SDK's stream has no part for. */
function partsWithoutRecord(message: Fields): Fields[] {
  return partsOf(message).map((part) => {
    if (part.approval === undefined) return part;
    const { decision: _, ...approval } = Object(part.approval);
    return { ...part, approval };
  });
}

test("the table has a row for every kind of part, and no other", () => {
  expect(head).toEqual([
    "What",
    "`/chat` sends",
    "`/stream` sends",
    "Kept",
    "By `/stream`",
    "By `/text`",
    "Attached",
    "Continued",
    "After a crash",
  ]);
  expect(lines.map(([name]) => name)).toEqual(Object.keys(rows));
});

describe.each(lines)("%s", (name, chatCell = "", streamCell = "", keptCell = "", ...same) => {
  const row = rows[name] ?? { calls: [], kept: [] };
  const seen = told.get(name);
  const kept = seen?.chat.kept ?? {};
  const has = row.kept.map((part) => expect.objectContaining(part));

  test(`/chat sends ${chatCell}`, () => {
    const chunks = seen?.chat.chunks ?? [];
    expect(typesOf(chunks)).toEqual(expect.arrayContaining(names(chatCell)));
    for (const sent of row.sent ?? []) expect(chunks).toContainEqual(expect.objectContaining(sent));
  });

  test(`/stream sends ${streamCell}`, () => {
    expect(typesOf(seen?.stream.parts ?? [])).toEqual(expect.arrayContaining(names(streamCell)));
  });

  test(`kept is ${keptCell}`, () => {
    expect(names(keptCell)).toEqual([...new Set(row.kept.map(nameOf))]);
    expect(comparable(kept)).toEqual(expect.arrayContaining(has));
    if (row.metadata !== undefined) expect(kept.metadata).toEqual(row.metadata);
    // A client that has read all of it shows the kept message.
    expect(seen?.chat.built).toEqual({ ...kept, parts: partsWithoutRecord(kept) });
  });

  const ways: [way: string, message: () => Fields | undefined][] = [
    ["kept by /stream", () => seen?.stream.kept],
    ["kept by /text", () => seen?.text],
    ["attached", () => shown(seen?.attached)],
    ["continued", () => shown(seen?.continued)],
    ["after a crash", () => shown(recovered.get(name))],
  ];
  for (const [index, [way, message]] of ways.entries()) {
    test(`${way}: ${same[index]}`, () => {
      if (same[index] === "–") return expect(message()).toBeUndefined();
      expect(same[index]).toBe("yes");
      const parts = comparable(message() ?? {});
      if (way.startsWith("kept") || way === "attached") expect(parts).toEqual(comparable(kept));
      else expect(parts).toEqual(expect.arrayContaining(has));
    });
  }
});

/** The client's view, which equals the kept message. */
function shown(seen: { readonly built: Fields; readonly kept: Fields } | undefined): Fields | undefined {
  if (seen === undefined) return undefined;
  const parts = { built: partsWithoutRecord(seen.built), kept: partsWithoutRecord(seen.kept) };
  expect({ ...seen.built, parts: parts.built }).toEqual({ ...seen.kept, parts: parts.kept });
  return seen.built;
}
