// The folds of executions that are not loaded: which are held in memory, which are read, and when a snapshot is kept.
import { expect, test } from "vitest";
import { engineForTest, rowForTest } from "../../../test/support/test-engine.ts";
import { encodeEvent } from "../../journal/codec.ts";
import { pageOf } from "../../journal/read-journal.ts";
import { ExecutionSpans } from "../../observe/trace/execution-spans.ts";
import type { Snapshot, Store } from "../../store/store.ts";
import type { StoredEvent } from "../../store/stored-event.ts";
import { suspension } from "../../store-cases/store-cases.ts";
import { addPage, type ExecutionFold, emptyFold, packFold, sizeOf } from "../run/execution-fold.ts";
import type { LoadableState } from "./engine-kind.ts";
import { addEvents, type FoldOptions, Folds } from "./folds.ts";

const row = rowForTest({ status: "suspended" });
const state: LoadableState = { execution: row, suspensions: [suspension()], timers: [] };
/** A fourth of the memory for all folds, and a little more. */
const long = "x".repeat(4 * 1024 * 1024 + 1);
const clusterChannel = {
  lease: 1000,
  clockOffset: 0,
  listen: () => () => undefined,
  askToStop: () => undefined,
};

function held(kept: LoadableState, engine = engineForTest().engine): LoadableState | undefined {
  engine.folds.keep("e1", emptyFold(row), undefined, kept);
  return engine.folds.idleState("e1");
}

test("a state is held until its fold is taken", async () => {
  const { engine } = engineForTest({ events: async () => [] });
  expect(held(state, engine)).toBe(state);
  await engine.folds.take({ ...row, sequence: 0 });
  expect(engine.folds.idleState("e1")).toBeUndefined();
});

test("none is held on a store that other processes use", () => {
  expect(held(state, engineForTest({ clusterChannel }).engine)).toBeUndefined();
});

test.each<Partial<LoadableState>>([
  { execution: { ...row, input: long } },
  { execution: { ...row, context: long } },
  { suspensions: [suspension({ reason: long })] },
  { suspensions: [suspension({ data: long })] },
  { suspensions: [suspension({ onDeadline: long })] },
  { suspensions: [suspension({ resumeSchema: long })] },
])("one with a long text is not held (%#)", (fields) => {
  expect(held({ ...state, ...fields })).toBeUndefined();
});

/** Five events: the start, then the starts of steps. */
const journal: readonly StoredEvent[] = Array.from({ length: 5 }, (_, index) => ({
  ...encodeEvent(
    index === 0
      ? {
          type: "workflow-start",
          timestamp: 1,
          input: undefined,
          traceparent: undefined,
          replayOf: undefined,
        }
      : {
          ...{ type: "step-start", timestamp: 1 + index, path: `s${index}`, stepIndex: 0 },
          ...{ stepType: "andThen", input: "1" },
        },
  ),
  sequence: index + 1,
}));

const traced = rowForTest({ sequence: 5 });

/** The fold of the first events of the journal. */
function foldUpTo(sequence: number, startAt = 1): ExecutionFold {
  const fold = emptyFold({ ...traced, startAt });
  addPage(fold, pageOf(journal.slice(0, sequence)));
  return fold;
}

function foldsWith(options?: FoldOptions, operations: Partial<Store> = {}) {
  const calls: unknown[] = [];
  const kept: Snapshot[] = [];
  const { engine, logger } = engineForTest({
    events: async (query) => {
      calls.push(query);
      const { after, limit = 100 } = query;
      return journal.slice(after, after + limit);
    },
    snapshot: async (executionId) => {
      calls.push(`snapshot of ${executionId}`);
      return undefined;
    },
    keepSnapshot: async (snapshot) => void kept.push(snapshot),
    ...operations,
  });
  const { store, observation } = engine;
  const folds = new Folds({ store, observation, logger }, options);
  return { folds, calls, kept, logger };
}

const read = (after: number) => ({ executionId: "e1", after, limit: 5 - after, length: 8_000_000 });

test("without a held fold the journal is read from its beginning, up to the number of the row", async () => {
  const { folds, calls } = foldsWith();
  const { fold, spans } = await folds.take(traced);
  expect(fold).toEqual(foldUpTo(5));
  expect(spans).toBeUndefined();
  expect((await folds.take({ ...traced, sequence: 2 })).fold.sequence).toBe(2);
  expect(calls).toEqual([read(0), { ...read(0), limit: 2 }]);
});

test.each<[string, ExecutionFold, unknown[]]>([
  ["behind the row is continued", foldUpTo(3), [read(3)]],
  ["of all events is used as it is", foldUpTo(5), []],
  ["of another execution of this id is dropped", foldUpTo(3, 2), [read(0)]],
  ["ahead of the row is dropped", { ...foldUpTo(5), sequence: 6 }, [read(0)]],
])("a held fold %s", async (_, fold, reads) => {
  const { folds, calls } = foldsWith();
  folds.keep("e1", fold, undefined);
  const taken = await folds.take(traced);
  expect(taken.fold).toEqual(foldUpTo(5));
  expect(calls).toEqual(reads);
  // It belongs to the caller now.
  calls.length = 0;
  await folds.take(traced);
  expect(calls).toEqual([read(0)]);
});

const lookup = { executionId: "e1", after: 2, limit: 1, length: 1 };

test.each<[string, Partial<ExecutionFold>, readonly StoredEvent[], number]>([
  ["is in the journal", {}, journal, 3],
  ["has another time there", { lastAt: 4 }, journal, 0],
  ["is not there", {}, [], 0],
])("on a shared store a held fold counts when its last event %s", async (_, fields, stored, after) => {
  const queries: unknown[] = [];
  const { folds } = foldsWith(undefined, {
    clusterChannel,
    events: async (query) => {
      queries.push(query);
      return query.limit === 1 ? stored.slice(query.after, query.after + 1) : journal.slice(query.after);
    },
  });
  folds.keep("e1", { ...foldUpTo(3), ...fields }, undefined);
  expect((await folds.take(traced)).fold.sequence).toBe(5);
  expect(queries).toEqual([lookup, read(after)]);
});

test("a journal whose event of that number is another one does not continue the fold", async () => {
  const [, , third] = journal;
  const { folds } = foldsWith(undefined, {
    clusterChannel,
    events: async ({ after, limit }) =>
      limit === 1 && third !== undefined ? [{ ...third, sequence: 4 }] : journal.slice(after),
  });
  const fold = foldUpTo(3);
  folds.keep("e1", fold, undefined);
  expect((await folds.take(traced)).fold).not.toBe(fold);
});

const snapshotOf = (sequence: number) => packFold("e1", foldUpTo(sequence), undefined);

test("a snapshot is looked for from the hundredth event on, by default", async () => {
  const many = Array.from({ length: 20 }, () => journal)
    .flat()
    .map((event, index) => ({ ...event, sequence: index + 1 }));
  const { folds, calls } = foldsWith(undefined, {
    events: async ({ after, limit = 0 }) => many.slice(after, after + limit),
  });
  await folds.take({ ...traced, sequence: 99 });
  expect(calls).toEqual([]);
  await folds.take({ ...traced, sequence: 100 });
  expect(calls).toEqual(["snapshot of e1"]);
});

test.each([
  [5, [read(3)]],
  [6, [read(0)]],
])("a snapshot is continued when the journal has at least %s events", async (minEvents, reads) => {
  const { folds, calls } = foldsWith({ minEvents }, { snapshot: async () => snapshotOf(3) });
  expect(await folds.take(traced)).toMatchObject({ fold: { sequence: 5, bytes: foldUpTo(5).bytes } });
  expect(calls).toEqual(reads);
});

test.each([
  ["holds its last event", snapshotOf(3), 3],
  ["does not hold it", packFold("e1", { ...foldUpTo(3), lastAt: 9 }, undefined), 0],
])("on a shared store a snapshot counts when the journal %s", async (_, snapshot, after) => {
  const { folds, calls } = foldsWith({ minEvents: 5 }, { clusterChannel, snapshot: async () => snapshot });
  await folds.take(traced);
  expect(calls).toEqual([lookup, read(after)]);
});

test("a snapshot that cannot be read is one line, and the journal is read from its beginning", async () => {
  const snapshot = { ...snapshotOf(3), body: "{" };
  const { folds, calls, logger } = foldsWith({ minEvents: 5 }, { snapshot: async () => snapshot });
  expect((await folds.take(traced)).fold.sequence).toBe(5);
  expect(calls).toEqual([read(0)]);
  expect(logger.lines).toEqual([
    {
      ...{ level: "warn", executionId: "e1", err: expect.any(SyntaxError) },
      msg: "a snapshot could not be read: the journal is read from its beginning",
    },
  ]);
});

/** The growth of the journal since the last snapshot: its texts, and a hundred bytes for each event. */
const growth = foldUpTo(5).bytes + 500;

test.each<[string, FoldOptions, Partial<ExecutionFold>, boolean]>([
  ["a journal that is long enough", { minEvents: 5, minGrowth: growth }, {}, true],
  ["a shorter one", { minEvents: 6, minGrowth: growth }, {}, false],
  ["too little growth", { minEvents: 5, minGrowth: growth + 1 }, {}, false],
  [
    "growth since the last by as much as that takes",
    { minEvents: 5, minGrowth: 1 },
    { kept: { sequence: 2, bytes: 1, length: growth - 201 } },
    true,
  ],
  [
    "less growth than that",
    { minEvents: 5, minGrowth: 1 },
    { kept: { sequence: 2, bytes: 1, length: growth - 200 } },
    false,
  ],
  [
    "any growth",
    { minEvents: 5, minGrowth: 0 },
    { kept: { sequence: 5, bytes: foldUpTo(5).bytes - 1, length: 9000 } },
    true,
  ],
  [
    "no growth",
    { minEvents: 5, minGrowth: 0 },
    { kept: { sequence: 5, bytes: foldUpTo(5).bytes, length: 1 } },
    false,
  ],
  ["a small fold by default", { minEvents: 5 }, { bytes: 19_500 }, true],
  ["a smaller fold by default", { minEvents: 5 }, { bytes: 19_499 }, false],
])("a snapshot is kept where there is enough to gain: %s", (_, options, fields, isKept) => {
  const { folds, kept } = foldsWith(options);
  const fold = { ...foldUpTo(5), ...fields };
  const { kept: before } = fold;
  folds.keep("e1", fold, undefined);
  expect(kept).toEqual(isKept ? [packFold("e1", fold, undefined)] : []);
  const after = { sequence: 5, bytes: fold.bytes, length: kept[0]?.body.length };
  expect(fold.kept).toEqual(isKept ? after : before);
});

test.each([0, 1])("a fold of 4 MiB is kept as a snapshot, a larger one is not (%s more)", (more) => {
  const { folds, kept } = foldsWith({ minEvents: 0, minGrowth: 0, memory: 0 });
  const fold = foldUpTo(5);
  fold.input = "x".repeat(4 * 1024 * 1024 - sizeOf({ ...fold, input: undefined }) + more);
  folds.keep("e1", fold, undefined);
  expect(kept).toHaveLength(1 - more);
});

test("a fold that is taken is kept as a snapshot, too; a store that refuses it is a line for debugging", async () => {
  const { folds, logger } = foldsWith(
    { minEvents: 5, minGrowth: 1 },
    { keepSnapshot: () => Promise.reject(new Error("full")) },
  );
  const { fold } = await folds.take(traced);
  expect(fold.kept.sequence).toBe(5);
  await expect.poll(() => logger.lines).toHaveLength(1);
  expect(logger.lines).toEqual([
    { level: "debug", msg: "a snapshot could not be kept", executionId: "e1", err: new Error("full") },
  ]);
});

test("spans are kept beside the fold and in its snapshot, when they lack no event", async () => {
  const { folds, kept } = foldsWith({ minEvents: 5, minGrowth: 0 });
  const spansUpTo = (sequence: number) => {
    const spans = new ExecutionSpans(traced, { wants: () => false, ended: () => undefined });
    spans.replay(pageOf(journal.slice(0, sequence)).events);
    return spans;
  };
  const spans = spansUpTo(5);
  folds.keep("e1", foldUpTo(5), spansUpTo(4));
  expect(folds.forget("e1")?.spans).toBeUndefined();
  folds.keep("e1", foldUpTo(5), spans);
  expect((await folds.take(traced)).spans).toBe(spans);
  expect(kept.map(({ body }) => JSON.parse(body).spans)).toEqual([undefined, spans.pack()]);
  // Later events are added to both.
  const [half, fold] = [spansUpTo(3), foldUpTo(3)];
  addEvents({ fold, spans: half }, pageOf(journal.slice(3)));
  expect([half.isWholeAt(5), fold.sequence]).toEqual([true, 5]);
});

const size = sizeOf(foldUpTo(5));
const isHeld = (folds: Folds, ...ids: readonly string[]) =>
  ids.map((id) => folds.idleState(id) !== undefined);

test.each([
  [4 * (size + 2), true],
  [4 * (size + 2) - 1, false],
])("one fold takes at most a fourth of the memory (%s)", (memory, expected) => {
  const { folds } = foldsWith({ memory });
  // The context of the row is two characters long, its input one.
  const small = { ...state, execution: { ...row, input: null }, suspensions: [] };
  folds.keep("e1", foldUpTo(5), undefined, small);
  expect(isHeld(folds, "e1")).toEqual([expected]);
});

test("the folds that were used longest ago leave when the memory is full", () => {
  const bare = { ...state, execution: { ...row, context: "", input: null }, suspensions: [] };
  const { folds } = foldsWith({ memory: 5 * size });
  for (const id of ["a", "b", "c", "d", "e"]) folds.keep(id, foldUpTo(5), undefined, bare);
  expect(isHeld(folds, "a", "b", "c", "d", "e")).toEqual([true, true, true, true, true]);
  // One that is held again takes its room once, and is the newest.
  folds.keep("a", foldUpTo(5), undefined, bare);
  expect(isHeld(folds, "a", "b", "c", "d", "e")).toEqual([true, true, true, true, true]);
  folds.keep("f", foldUpTo(5), undefined, bare);
  expect(isHeld(folds, "a", "b", "c", "d", "e", "f")).toEqual([true, false, true, true, true, true]);
  // A larger one takes the room of two.
  folds.keep("g", { ...foldUpTo(5), input: "x".repeat(100) }, undefined, bare);
  expect(isHeld(folds, "a", "c", "d", "e", "f", "g")).toEqual([true, false, false, true, true, true]);
  expect(folds.forget("b")).toBeUndefined();
});

test.each<[string, ExecutionFold, boolean]>([
  ["a fold that has read further", foldUpTo(4), true],
  ["one of the same event", foldUpTo(3), false],
  ["one of an earlier execution of the id", foldUpTo(4, 2), false],
])(
  "a fold that is held is replaced by one that has read as far or belongs to another execution: %s",
  (_, before, stays) => {
    const { folds } = foldsWith();
    folds.keep("e1", before, undefined);
    const fold = foldUpTo(3);
    folds.keep("e1", fold, undefined);
    expect(folds.forget("e1")?.fold).toBe(stays ? before : fold);
  },
);
