// The store removes old entries by the clock that its processes share, not by the machine's own.
import { expect, test } from "vitest";
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
