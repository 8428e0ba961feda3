import { RecordingLogger } from "@andante/core/test";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { boundConnections } from "./bound-connections.ts";

const period = 100;
const logger = new RecordingLogger();

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
  logger.lines.length = 0;
});
afterEach(() => void vi.useRealTimers());

/** A connection with this many unsent bytes. */
function connection(bytes: number) {
  const destroy = vi.fn(() => {
    made.writableLength = 0;
    return undefined as never;
  });
  const made = { writableLength: bytes, destroy };
  return made;
}

test("below the limit no connection is closed", () => {
  const all = [connection(40), connection(60), connection(0)];
  boundConnections(new Set(all), logger, { maxBytes: 100, period }).watch();
  vi.advanceTimersByTime(10_000);
  expect(all.map(({ destroy }) => destroy.mock.calls.length)).toEqual([0, 0, 0]);
});

test("beyond that the largest are closed, no more of them than are needed, with one log line", () => {
  const all = [connection(50), connection(90), connection(40), connection(0)];
  boundConnections(new Set(all), logger, { maxBytes: 100, period }).watch();
  vi.advanceTimersByTime(period);
  expect(all.map(({ destroy }) => destroy.mock.calls.length)).toEqual([0, 1, 0, 0]);
  expect(logger.lines).toEqual([
    { level: "warn", msg: expect.stringContaining("closed"), connections: 1, bytes: 90 },
  ]);
});

test("those that have not read for a second go before a larger one that has just been sent something", () => {
  const [silent, lively] = [connection(60), connection(0)];
  boundConnections(new Set([lively, silent]), logger, { maxBytes: 100, period }).watch();
  vi.advanceTimersByTime(2000);
  lively.writableLength = 90;
  vi.advanceTimersByTime(period);
  expect([silent.destroy.mock.calls.length, lively.destroy.mock.calls.length]).toEqual([1, 0]);
});

test("one that has read everything in between is not slow", () => {
  const [first, second] = [connection(60), connection(0)];
  boundConnections(new Set([first, second]), logger, { maxBytes: 100, period }).watch();
  vi.advanceTimersByTime(900);
  first.writableLength = 0;
  vi.advanceTimersByTime(period);
  first.writableLength = 60;
  second.writableLength = 90;
  vi.advanceTimersByTime(period);
  expect([first.destroy.mock.calls.length, second.destroy.mock.calls.length]).toEqual([0, 1]);
});

test("without connections nothing is watched, and the next one is", () => {
  const connections = new Set<ReturnType<typeof connection>>();
  const bound = boundConnections(connections, logger, { maxBytes: 100, period });
  bound.watch();
  vi.advanceTimersByTime(period);
  expect(vi.getTimerCount()).toBe(0);
  const large = connection(200);
  connections.add(large);
  bound.watch();
  vi.advanceTimersByTime(period);
  expect(large.destroy).toHaveBeenCalledTimes(1);
});
