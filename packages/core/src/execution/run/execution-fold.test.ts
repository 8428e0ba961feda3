// The fold of a journal: how pages are added, its size, and the snapshots that it comes back from.
import { expect, test } from "vitest";
import { encodeEvent } from "../../journal/codec.ts";
import type { NewEvent } from "../../journal/events.ts";
import { pageOf } from "../../journal/read-journal.ts";
import type { Snapshot } from "../../store/store.ts";
import { addPage, type ExecutionFold, emptyFold, packFold, sizeOf, unpackFold } from "./execution-fold.ts";

const row = { startAt: 1000, sequence: 9, input: '"in"' };
const long = JSON.stringify("x".repeat(300));
const other = JSON.stringify("y".repeat(300));

const began = (input?: string): NewEvent => ({
  ...{ type: "workflow-start", timestamp: 1000, input, traceparent: undefined, replayOf: undefined },
});
const started = (path: string, input: string, timestamp = 1001): NewEvent => ({
  ...{ type: "step-start", timestamp, path, stepIndex: 0, stepType: "andThen", input },
});
const completed = (path: string, output: string, timestamp = 1002): NewEvent => ({
  ...{ type: "step-complete", timestamp, path, stepIndex: 0, stepType: "andThen", output, usage: undefined },
});
const page = (events: readonly NewEvent[], first = 1) =>
  pageOf(events.map((event, index) => ({ ...encodeEvent(event), sequence: first + index })));

function foldOf(events: readonly NewEvent[], of = row): ExecutionFold {
  const fold = emptyFold(of);
  addPage(fold, page(events));
  return fold;
}

test("an empty fold has the input of its row", () => {
  const empty = emptyFold(row);
  expect(empty).toMatchObject({ startAt: 1000, input: '"in"', bytes: 0, sequence: 0, lastAt: 1000 });
  expect(empty.kept).toEqual({ sequence: 0, bytes: 0, length: 0 });
  expect(emptyFold({ ...row, input: null }).input).toBeUndefined();
});

test("pages are added: the bytes, the number and the time of the last event, and the long values", () => {
  const fold = foldOf([began(), started("one", long)]);
  const bytes = page([began(), started("one", long)]).bytes;
  expect(bytes).toBeGreaterThan(300);
  expect(fold).toMatchObject({ input: '"in"', bytes, sequence: 2, lastAt: 1001 });
  // The clock of the process that wrote the next event was behind.
  const next = page([completed("one", other, 900)], 3);
  addPage(fold, next);
  expect(fold).toMatchObject({ bytes: bytes + next.bytes, sequence: 3, lastAt: 1001 });
  expect([...fold.values.places]).toEqual([
    [long, 2],
    [other, 3],
  ]);
  expect(fold.journal.get("one")?.outcome).toEqual({ kind: "output", value: other });
  const before = { ...fold };
  addPage(fold, page([]));
  expect(fold).toEqual(before);
});

test("the input is that of the first event, where the schema has changed it", () => {
  expect(foldOf([began('"parsed"')]).input).toBe('"parsed"');
  expect(foldOf([started("one", '"else"')]).input).toBe('"in"');
});

test("the size of a fold is that of its paths and texts; an input that was sent counts beside the parsed one", () => {
  const empty = sizeOf(emptyFold(row));
  expect(empty).toBe(2000 + '"in"'.length);
  expect(sizeOf(emptyFold({ ...row, input: null }))).toBe(2000);
  expect(sizeOf(foldOf([began(), started("one", "12345")]))).toBe(empty + 300 + 5);
  expect(sizeOf(foldOf([began(), started("one", "12345"), completed("one", "123")]))).toBe(empty + 300 + 8);
  expect(sizeOf(emptyFold({ ...row, input: long }))).toBe(2000 + long.length);
  expect(sizeOf(foldOf([began("1")], { ...row, input: long }))).toBe(2000 + 1 + long.length);
  // Long values of later events are in the states of their paths.
  expect(sizeOf(foldOf([began(), started("one", long)]))).toBe(empty + 300 + long.length);
});

test("steps in rounds that are over count, too", () => {
  const loop: NewEvent = {
    ...{ type: "step-start", timestamp: 1001, path: "loop", stepIndex: 0, input: "1" },
    stepType: "andDoWhile",
  };
  const fold = foldOf([
    ...[began(), loop, started("loop[0]/one", "22"), completed("loop[0]/one", "333")],
    started("loop[1]/one", "4444"),
  ]);
  expect([[...fold.journal.paths.keys()], [...(fold.journal.parts.past?.steps.keys() ?? [])]]).toEqual([
    ["loop", "loop[1]/one"],
    ["loop[0]/one"],
  ]);
  // The loop holds the data of its round.
  expect(sizeOf(fold)).toBe(2000 + 4 + 3 * 300 + 1 + 4 + 2 + 3 + 4);
});

test("a snapshot is continued as the fold would be", () => {
  const given = { ...row, input: long };
  const fold = foldOf([began('"parsed"'), started("one", other), completed("one", "7")], given);
  const snapshot = packFold("e1", fold, "the spans");
  expect(snapshot).toEqual({ executionId: "e1", sequence: 3, format: 2, body: expect.any(String) });
  const texts = ["7", other, '"parsed"'];
  expect(JSON.parse(snapshot.body)).toMatchObject({
    ...{ startAt: 1000, texts, input: 2, bytes: fold.bytes, lastAt: 1002, spans: "the spans" },
    // The input as it was sent is in the row, and its text in no state.
    values: [[1, 2]],
  });
  const unpacked = unpackFold({ ...given, sequence: 3 }, snapshot);
  expect(unpacked?.spans).toBe("the spans");
  expect(unpacked?.fold).toMatchObject({
    ...{ startAt: 1000, input: '"parsed"', bytes: fold.bytes, sequence: 3, lastAt: 1002 },
    kept: { sequence: 3, bytes: fold.bytes, length: snapshot.body.length },
  });
  expect([...(unpacked?.fold.values.places ?? [])]).toEqual([
    [long, 0],
    [other, 2],
  ]);
  expect(unpacked?.fold.journal.get("one")).toEqual(fold.journal.get("one"));
});

test("without spans and without an input neither is in the snapshot", () => {
  const snapshot = packFold("e1", emptyFold({ ...row, input: null }), undefined);
  const body = JSON.parse(snapshot.body);
  expect([body.input, "spans" in body]).toEqual([null, false]);
  const unpacked = unpackFold({ ...row, input: null }, snapshot);
  expect([unpacked?.fold.input, unpacked?.spans]).toEqual([undefined, undefined]);
});

const good = packFold("e1", foldOf([began(), started("one", "1")]), undefined);
const changed = (fields: object): Snapshot => ({
  ...good,
  body: JSON.stringify({ ...JSON.parse(good.body), ...fields }),
});

test.each<[string, Snapshot]>([
  ["of another format", { ...good, format: 1 }],
  ["ahead of the journal", { ...good, sequence: 10 }],
  ["without an object", { ...good, body: "5" }],
  ["of another execution of this id", changed({ startAt: 1001 })],
  ["without its start", changed({ startAt: undefined })],
  ["without its bytes", changed({ bytes: null })],
  ["without its time", changed({ lastAt: "1" })],
  ["without texts", changed({ texts: {} })],
  ["without values", changed({ values: {} })],
  ["without a journal", changed({ journal: 1 })],
])("a snapshot %s is passed over", (_, snapshot) => {
  expect(unpackFold(row, good)).toBeDefined();
  expect(unpackFold(row, { ...good, sequence: 9 })).toBeDefined();
  expect(unpackFold(row, snapshot)).toBeUndefined();
});

test("a value whose text is missing is not referred to", () => {
  const unpacked = unpackFold(row, changed({ values: [[77, 1]] }));
  expect([...(unpacked?.fold.values.places ?? [])]).toEqual([]);
});
