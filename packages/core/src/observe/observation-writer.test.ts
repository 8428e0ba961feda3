// Old entries are removed by the clock that the processes share; a store in trouble gets entries again, one that refuses
// an entry gets the others.
import { expect, onTestFinished, test } from "vitest";
import { StoreRefusedError, StoreUnavailableError } from "../errors/index.ts";
import type { JournalEvent } from "../journal/events.ts";
import type { ObservationBatch } from "../store/observation-store.ts";
import type { RollupBatch } from "../store/rollup-store.ts";
import { memoryStore } from "../store/sqlite/sqlite-store.ts";
import { RecordingLogger } from "../test-kit/recording-logger.ts";
import { firstIdAt } from "./log/log-feed.ts";
import { ObservationWriter } from "./observation-writer.ts";
import { Rollups } from "./rollups/rollups.ts";

const clock = { now: () => 1_000_000_000 };
const logger = new RecordingLogger();

test("log lines and traces are removed by their age at the store's time", async () => {
  const { observations } = memoryStore();
  const asked: unknown[] = [];
  const trim = async (given: unknown) => {
    asked.push(given);
    return 0;
  };
  const keeps = { keepFrom: async () => ({ logs: 0, traces: 0 }), trim };
  const writer = new ObservationWriter({
    store: { ...observations, ...keeps },
    logger,
    logs: { maxAge: 1000, maxCount: 10 },
    traces: { maxAge: 2000, maxCount: 10 },
    clock,
  });
  await writer.trim();
  expect(asked).toMatchObject([{ logs: firstIdAt(999_999_000), traces: 999_998_000 }]);
  await writer.close();
});

test("and so are counts", async () => {
  const { rollups } = memoryStore();
  const asked: unknown[] = [];
  const trim = async (what: unknown) => {
    asked.push(what);
    return 0;
  };
  const days = 24 * 60 * 60_000;
  const counts = new Rollups({ maxAge: 2 * days }, { ...rollups, trim }, logger, clock);
  await counts.trim();
  expect(asked).toMatchObject([{ executions: 13_786, steps: 15_226 }]);
  await counts.close();
});

/** A writer whose store is in trouble until it is `healed`. */
function writerInTrouble() {
  const { observations } = memoryStore();
  const batches: number[] = [];
  const trouble = { healed: false, batches };
  const append = async ({ chunks }: ObservationBatch) => {
    if (!trouble.healed) throw new Error("in trouble");
    batches.push(chunks.reduce((total, { spans }) => total + spans.length, 0));
  };
  const keep = { maxAge: 1000, maxCount: 10 };
  const writer = new ObservationWriter({
    ...{ store: { ...observations, append }, logger, logs: keep, traces: keep, clock },
  });
  onTestFinished(() => writer.close());
  return { writer, trouble };
}

const chunk = (length: number) => ({
  traceId: "t",
  rootSpanId: "r",
  timestamp: 1,
  spans: "x".repeat(length),
});

test("long spans that wait for a store in trouble are dropped, the oldest first, beyond 32 million characters", async () => {
  const { writer, trouble } = writerInTrouble();
  for (let count = 0; count < 32; count++) writer.chunk(chunk(1_000_000));
  await writer.flush();
  expect(writer.dropped).toBe(0);
  for (let count = 0; count < 32; count++) writer.chunk(chunk(1_000_000));
  await writer.flush();
  expect(writer.dropped).toBeGreaterThanOrEqual(32);
  expect(writer.dropped).toBeLessThan(40);
  trouble.healed = true;
  await writer.flush();
  const written = trouble.batches.reduce((total, length) => total + length, 0);
  expect(written).toBe((64 - writer.dropped) * 1_000_000);
});

test("long spans are written in batches of a few million characters, short ones a hundred at a time", async () => {
  const { writer, trouble } = writerInTrouble();
  trouble.healed = true;
  for (let count = 0; count < 10; count++) writer.chunk(chunk(1_000_000));
  await writer.flush();
  expect(Math.max(...trouble.batches)).toBeLessThanOrEqual(4_000_000);
  trouble.batches.length = 0;
  for (let count = 0; count < 200; count++) writer.chunk(chunk(10));
  await writer.flush();
  expect(trouble.batches).toEqual([1000, 1000]);
});

test("spans that are dropped while others are written leave nothing to write", async () => {
  const { observations } = memoryStore();
  const [began, first] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const batches: number[] = [];
  const append = async ({ chunks }: ObservationBatch) => {
    batches.push(chunks.length);
    began.resolve();
    if (batches.length > 20) throw new Error("the writer does not end");
    await first.promise;
  };
  const keep = { maxAge: 1000, maxCount: 10 };
  const store = { ...observations, append };
  const writer = new ObservationWriter({ store, logger, logs: keep, traces: keep, clock });
  onTestFinished(() => writer.close());
  for (let count = 0; count < 10; count++) writer.chunk(chunk(3_000_000));
  const flushed = writer.flush();
  await began.promise;
  writer.chunk(chunk(31_000_000));
  first.resolve();
  await flushed;
  await writer.flush();
  expect(writer.dropped).toBe(8);
  expect(batches).toEqual([2, 1]);
});

test("spans that the store refuses are dropped and counted, and the others are written once, also after trouble", async () => {
  const { observations } = memoryStore();
  const lines = new RecordingLogger();
  const written: number[] = [];
  let calls = 0;
  const append = async ({ chunks }: ObservationBatch) => {
    const lengths = chunks.map(({ spans }) => spans.length);
    if (++calls === 4) throw new StoreUnavailableError();
    if (lengths.some((length) => length % 20 === 0)) throw new StoreRefusedError({ operation: "append" });
    written.push(...lengths);
  };
  const keep = { maxAge: 1000, maxCount: 10 };
  const store = { ...observations, append };
  const writer = new ObservationWriter({ store, logger: lines, logs: keep, traces: keep, clock });
  onTestFinished(() => writer.close());
  const lengths = Array.from({ length: 50 }, (_, index) => index + 1);
  for (const length of lengths) writer.chunk(chunk(length));
  await writer.flush();
  await writer.flush();
  expect(written).toEqual(lengths.filter((length) => length % 20 !== 0));
  expect(writer.dropped).toBe(2);
  const warnings = lines.of("warn");
  expect(warnings.reduce((total, { lost }) => total + Number(lost), 0)).toBe(2);
  expect(new Set(warnings.map(({ msg }) => msg))).toEqual(
    new Set(["log lines and spans were dropped: the store refused them"]),
  );
  await writer.flush();
  expect(lines.of("warn")).toHaveLength(warnings.length);
});

test("a count that the store refuses is dropped, and those of other workflows are added once, also after trouble", async () => {
  const { rollups } = memoryStore();
  const seen = new Map<number, RollupBatch>();
  const added: string[] = [];
  let calls = 0;
  const add = async (batch: RollupBatch) => {
    if (batch.counts.some(({ workflowId }) => workflowId === "w7"))
      throw new StoreRefusedError({ operation: "addRollups" });
    // The store repeats no batch that it has: the result of this one was lost.
    if (!seen.has(batch.number)) added.push(...batch.counts.map(({ workflowId }) => workflowId));
    else expect(batch).toEqual(seen.get(batch.number));
    seen.set(batch.number, batch);
    if (++calls === 2) throw new StoreUnavailableError();
  };
  const counts = new Rollups({}, { ...rollups, add }, logger, clock);
  onTestFinished(() => counts.close());
  const ids = Array.from({ length: 20 }, (_, index) => `w${index}`);
  const place = { path: "a", stepIndex: 0, stepType: "andThen", output: undefined, usage: undefined };
  const event: JournalEvent = { type: "step-complete", sequence: 1, timestamp: 60_000, ...place };
  for (const workflowId of ids) counts.receive({ workflowId, startAt: 0 }, [event]);
  await counts.flush();
  await counts.flush();
  expect(added).toEqual(ids.filter((id) => id !== "w7"));
  expect([...seen.keys()]).toEqual(Array.from({ length: seen.size }, (_, index) => index + 1));
  expect(counts.lost).toBe(1);
});
