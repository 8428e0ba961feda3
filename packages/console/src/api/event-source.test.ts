// Reading server-sent events, and giving up on a connection that is silent.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { readEventStream } from "./event-source.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("events are handed over; heartbeats are not, but keep the connection", async () => {
  let cancelled = false;
  let send: (text: string) => void = () => undefined;
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start: (controller) => {
      send = (text) => controller.enqueue(new TextEncoder().encode(text));
    },
    cancel: () => {
      cancelled = true;
    },
  });
  const seen: unknown[] = [];
  const reading = readEventStream(new Response(body), (data) => seen.push(data), 40_000);
  send('data: {"type":"open"}\n\ndata: {"ty');
  send('pe":"changes"}\n\n');
  await vi.advanceTimersByTimeAsync(30_000);
  expect(seen).toEqual([{ type: "open" }, { type: "changes" }]);
  send(": heartbeat\n\n");
  await vi.advanceTimersByTimeAsync(39_000);
  expect(cancelled).toBe(false);
  await vi.advanceTimersByTimeAsync(2000);
  await reading;
  expect(cancelled).toBe(true);
  expect(seen).toHaveLength(2);
});
