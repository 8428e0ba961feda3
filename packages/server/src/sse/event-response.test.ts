import { RecordingLogger } from "@andante/core/test";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type EventResponseOptions, eventResponse } from "./event-response.ts";
import type { SentEvent } from "./frames.ts";

const silent = new RecordingLogger();

/** A source whose events the test sends; it counts the reads. */
function source() {
  const asked: PromiseWithResolvers<IteratorResult<SentEvent>>[] = [];
  const given: PromiseWithResolvers<IteratorResult<SentEvent>>[] = [];
  const returned = vi.fn();
  /** The n-th event, whether it is requested or sent first. */
  const at = (list: typeof asked, other: typeof asked) => {
    const event = other[list.length] ?? Promise.withResolvers<IteratorResult<SentEvent>>();
    list.push(event);
    return event;
  };
  const end: IteratorResult<SentEvent> = { done: true, value: undefined };
  const events: AsyncIterableIterator<SentEvent> = {
    [Symbol.asyncIterator]: () => events,
    next: () => at(asked, given).promise,
    async return() {
      returned();
      for (const event of asked) event.resolve(end);
      return end;
    },
  };
  return {
    events,
    returned,
    asked: () => asked.length,
    send: (value: SentEvent & Record<string, unknown>) => at(given, asked).resolve({ done: false, value }),
    end: () => at(given, asked).resolve(end),
    fail: (error: Error) => at(given, asked).reject(error),
  };
}

interface Given extends EventResponseOptions {
  readonly signal?: AbortSignal;
  readonly logger?: RecordingLogger;
}

function respond(from: ReturnType<typeof source>, given: Given = {}) {
  const { signal = new AbortController().signal, logger = silent, ...options } = given;
  const context = { http: { req: { raw: { signal } } }, logger };
  const response = eventResponse(from.events, context, options).toResponse();
  const reader = response.body?.getReader();
  if (reader === undefined) throw new Error("no body");
  const decoder = new TextDecoder();
  const read = async () => {
    const { done, value } = await reader.read();
    return done ? undefined : decoder.decode(value);
  };
  return { response, reader, read };
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe("the frame", () => {
  test("is one data line and a blank line", async () => {
    const from = source();
    const { read } = respond(from);
    const text = read();
    from.send({ sequence: 7, text: "a\nb" });
    expect(await text).toBe('data: {"sequence":7,"text":"a\\nb"}\n\n');
  });

  test("has an id line only where that is asked for and the event has a number", async () => {
    const from = source();
    const { read } = respond(from, { withIds: true });
    let text = read();
    from.send({ sequence: 7 });
    expect(await text).toBe('id: 7\ndata: {"sequence":7}\n\n');
    text = read();
    from.send({ type: "workflow-result" });
    expect(await text).toBe('data: {"type":"workflow-result"}\n\n');
  });
});

describe("the heartbeat", () => {
  test("is a comment, sent only after 15 seconds of silence, and again after the next", async () => {
    const from = source();
    const { read } = respond(from);
    const seen: (string | undefined)[] = [];
    const first = read().then((text) => seen.push(text));
    await vi.advanceTimersByTimeAsync(14_999);
    expect(seen).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    await first;
    expect(seen).toEqual([": heartbeat\n\n"]);
    const second = read();
    await vi.advanceTimersByTimeAsync(15_000);
    expect(await second).toBe(": heartbeat\n\n");
  });

  test("starts its count anew with each event, and loses no event that comes after it", async () => {
    const from = source();
    const { read } = respond(from);
    for (let sequence = 1; sequence <= 5; sequence++) {
      const text = read();
      await vi.advanceTimersByTimeAsync(14_000);
      from.send({ sequence });
      expect(await text).toBe(`data: {"sequence":${sequence}}\n\n`);
    }
    const before = from.asked();
    const silence = read();
    await vi.advanceTimersByTimeAsync(15_000);
    expect(await silence).toBe(": heartbeat\n\n");
    expect(from.asked(), "a heartbeat does not read a further event").toBe(before);
    const text = read();
    from.send({ sequence: 6 });
    expect(await text).toBe('data: {"sequence":6}\n\n');
  });

  test("leaves no timer behind", async () => {
    const from = source();
    const { read } = respond(from);
    const text = read();
    from.end();
    expect(await text).toBeUndefined();
    expect(vi.getTimerCount()).toBe(0);
  });
});

test("nothing is asked for before the client reads, and one event ahead while it does not read on", async () => {
  const from = source();
  const { read } = respond(from);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(from.asked()).toBe(0);
  const text = read();
  from.send({ sequence: 1 });
  await text;
  from.send({ sequence: 2 });
  from.send({ sequence: 3 });
  await vi.advanceTimersByTimeAsync(60_000);
  expect(from.asked()).toBe(2);
});

describe("events that are there together", () => {
  const frames = (first: number, last: number) =>
    Array.from({ length: last - first + 1 }, (_, n) => `data: {"sequence":${first + n}}\n\n`).join("");

  test("come in one write, and the end with them", async () => {
    const from = source();
    const { read } = respond(from, { last: "[DONE]" });
    for (let sequence = 1; sequence <= 3; sequence++) from.send({ sequence });
    expect(await read()).toBe(frames(1, 3));
    const rest = read();
    from.send({ sequence: 4 });
    from.end();
    expect(await rest).toBe(frames(4, 4));
    expect(await read()).toBe("data: [DONE]\n\n");
    expect(await read()).toBeUndefined();
  });

  test("fill no more than a bounded write", async () => {
    const from = source();
    const { read } = respond(from);
    for (let n = 0; n < 100; n++) from.send({ text: "x".repeat(1000) });
    expect((await read())?.length).toBeLessThan(20_000);
    expect(from.asked()).toBeLessThan(20);
  });

  test("are sent before the stream ends when the next one fails", async () => {
    const from = source();
    const { read } = respond(from);
    from.send({ sequence: 1 });
    from.fail(new Error("broken"));
    expect(await read()).toBe(frames(1, 1));
    expect(await read()).toBeUndefined();
  });
});

describe("a client that goes away", () => {
  test("ends the events, while one is awaited", async () => {
    const from = source();
    const { reader, read } = respond(from);
    const text = read();
    await reader.cancel();
    expect(await text).toBeUndefined();
    expect(from.returned).toHaveBeenCalled();
  });

  test("ends the events also when it was gone before the response", () => {
    const from = source();
    respond(from, { signal: AbortSignal.abort() });
    expect(from.returned).toHaveBeenCalledOnce();
  });

  test("ends the events also without a reader", () => {
    const from = source();
    const controller = new AbortController();
    respond(from, { signal: controller.signal });
    expect(from.returned).not.toHaveBeenCalled();
    controller.abort();
    expect(from.returned).toHaveBeenCalledOnce();
  });
});

test("events that cannot be read end the stream without details for the client, and are logged", async () => {
  const from = source();
  const logger = new RecordingLogger();
  const { read } = respond(from, { logger });
  let text = read();
  from.send({ sequence: 1 });
  await text;
  text = read();
  const problem = new Error("the disk is gone");
  from.fail(problem);
  expect(await text).toBeUndefined();
  expect(logger.lines).toEqual([{ level: "warn", msg: expect.any(String), err: problem }]);
  expect(from.returned).toHaveBeenCalledOnce();
});

describe("an event that cannot be sent", () => {
  const cycle: Record<string, unknown> = {};
  cycle.again = cycle;

  test("ends the stream: the source is left, no timer stays, and a line gives the reason", async () => {
    const from = source();
    const logger = new RecordingLogger();
    const { read } = respond(from, { logger });
    const first = read();
    from.send({ sequence: 1 });
    expect(await first).toBe('data: {"sequence":1}\n\n');
    const second = read();
    from.send(cycle);
    expect(await second).toBeUndefined();
    expect(from.returned).toHaveBeenCalledOnce();
    expect(logger.of("warn")).toHaveLength(1);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("a source that cannot be left causes no unhandled rejection", async () => {
    const from = source();
    const leaving = vi.fn(() => Promise.reject(new Error("cannot leave")));
    from.events.return = leaving;
    const gone = new AbortController();
    const { read, reader } = respond(from, { signal: gone.signal });
    const reading = read();
    gone.abort();
    await reader.cancel();
    expect(await reading).toBeUndefined();
    expect(leaving).toHaveBeenCalled();
    // Vitest fails the run for an unhandled rejection; one turn of the event loop lets it show.
    await vi.advanceTimersByTimeAsync(1);
  });
});
