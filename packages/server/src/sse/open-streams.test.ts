// The open streams, and the bytes that wait for their readers.
import { afterEach, expect, test, vi } from "vitest";
import { StreamLimitError } from "../errors/request-errors.ts";
import { OpenStreams } from "./open-streams.ts";

const shared = { share: 0.5, refusal: (limit: number) => new StreamLimitError({ limit }) };

afterEach(() => void vi.useRealTimers());

test("beyond the limit a stream is refused, until one ends; ending twice frees one place", () => {
  const streams = new OpenStreams({ ...shared, limit: 2 });
  const first = streams.open("one", () => undefined);
  streams.open("one", () => undefined);
  const third = () => streams.open("one", () => undefined);
  expect(third).toThrow("Too many event streams are open (limit 2), try again later");
  first.end();
  first.end();
  third();
  expect(third).toThrow("limit 2");
});

test("when more waits than the bound, the stream that holds most is cut, and no other", () => {
  const streams = new OpenStreams({ ...shared, limit: 10, maxWaiting: 100 });
  const cuts = [vi.fn(), vi.fn(), vi.fn()];
  const [small, large, late] = cuts.map((cut) => streams.open("one", cut));
  small?.waits(30);
  large?.waits(60);
  late?.waits(10);
  expect(cuts.map(({ mock }) => mock.calls.length)).toEqual([0, 0, 0]);
  late?.waits(20);
  expect(cuts.map(({ mock }) => mock.calls.length)).toEqual([0, 1, 0]);
  // The bytes of the cut stream are released, and later reports about it are ignored.
  large?.waits(90);
  large?.end();
  late?.waits(70);
  expect(cuts.map(({ mock }) => mock.calls.length)).toEqual([0, 1, 0]);
});

test("of several clients, the one whose streams hold most together loses its largest", () => {
  const streams = new OpenStreams({ ...shared, limit: 10, maxWaiting: 100 });
  const cuts = [vi.fn(), vi.fn(), vi.fn()];
  const [first, second, other] = [
    streams.open("one", () => cuts[0]?.()),
    streams.open("one", () => cuts[1]?.()),
    streams.open("two", () => cuts[2]?.()),
  ];
  other.waits(40);
  first.waits(35);
  second.waits(30);
  expect(cuts.map(({ mock }) => mock.calls.length)).toEqual([1, 0, 0]);
});

test("bytes that were read do not count any more", () => {
  const streams = new OpenStreams({ ...shared, limit: 10, maxWaiting: 100 });
  const cut = vi.fn();
  const [one, other] = [streams.open("one", cut), streams.open("one", cut)];
  for (let n = 0; n < 5; n++) {
    one.waits(90);
    one.waits(0);
    other.waits(90);
    other.waits(0);
  }
  one.waits(90);
  one.end();
  other.waits(90);
  expect(cut).not.toHaveBeenCalled();
});

test("one that is slow is cut before one that has only just been sent something larger", () => {
  vi.useFakeTimers();
  const streams = new OpenStreams({ ...shared, limit: 10, maxWaiting: 100 });
  const cuts = [vi.fn(), vi.fn(), vi.fn()];
  const [slow, slower, reading] = cuts.map((cut) => streams.open("one", cut));
  slow?.waits(20);
  slower?.waits(30);
  vi.advanceTimersByTime(2000);
  reading?.waits(60);
  expect(cuts.map(({ mock }) => mock.calls.length)).toEqual([0, 1, 0]);
});
