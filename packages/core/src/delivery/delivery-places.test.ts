import { expect, test } from "vitest";
import { DeliveryPlaces, type PlaceResult } from "./delivery-places.ts";

function open() {
  const stopping = new AbortController();
  const places = new DeliveryPlaces({ now: () => 1_000_000 }, stopping.signal);
  /** Asks for places, and returns the results that there are. */
  const ask = (endpointId: string, count: number, results: PlaceResult[] = []) => {
    for (let asked = 0; asked < count; asked++)
      void places.take(endpointId).then((result) => results.push(result));
    return results;
  };
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  const taken = (results: readonly PlaceResult[]) => results.filter(({ kind }) => kind === "taken").length;
  return { places, stop: () => stopping.abort(), ask, settled, taken };
}

const free = (result: PlaceResult | undefined) => result?.kind === "taken" && result.free();

test("an endpoint has 16 places at most, and no more than it leaves free of 64; endpoints take turns", async () => {
  const { ask, settled, taken } = open();
  const all = ["a", "b", "c", "d", "e"].map((endpointId) => ask(endpointId, 20));
  await settled();
  expect(all.map(taken)).toEqual([16, 16, 16, 8, 4]);
  for (let freed = 0; freed < 3; freed++) free(all[0]?.shift());
  await settled();
  expect(all.map(taken)).toEqual([13, 16, 16, 8, 6]);
});

test("hanging endpoints with many deliveries leave places and a line to others, however many they are", async () => {
  const { places, ask, settled, taken } = open();
  const hanging = Array.from({ length: 20 }, (_, index) => ask(`hangs-${index}`, 200));
  await settled();
  expect(hanging.map(taken).reduce((sum, count) => sum + count)).toBe(64);
  expect(places.dueAt("other")).toBe(1_000_000);
  const other = ask("other", 1);
  await settled();
  expect(other).toEqual([]);
  // Their requests end one after the other, and more follow.
  for (let round = 0; round < 300; round++) {
    const lane = hanging[round % 20] ?? [];
    const [ended] = lane.splice(
      lane.findIndex(({ kind }) => kind === "taken"),
      1,
    );
    free(ended);
    ask(`hangs-${round % 20}`, 1, lane);
    await settled();
  }
  expect(taken(other)).toBe(1);
  const healthy = ask("healthy", 2);
  await settled();
  expect(taken(healthy)).toBe(2);
});

test("behind a full line, deliveries get later and later times, twice as many as the endpoint takes", async () => {
  const { places, ask, settled } = open();
  expect(places.dueAt("a")).toBe(1_000_000);
  ask("a", 116);
  await settled();
  const full = ask("a", 3);
  await settled();
  // A place is taken for a second, as far as is known.
  const times = [1_001_031, 1_001_063, 1_001_094];
  expect(full).toEqual(times.map((tryAt) => ({ kind: "full", tryAt })));
  expect(places.dueAt("a")).toBe(1_001_125);
  expect(places.dueAt("b")).toBe(1_000_000);
  ask("a", 20_000);
  await settled();
  expect(places.dueAt("a")).toBeLessThanOrEqual(1_000_000 + 5 * 60_000);
});

test("no more places are given after the stop", async () => {
  const { stop, ask, settled } = open();
  const results = ask("a", 20);
  stop();
  results.push(...ask("b", 1));
  await settled();
  expect(results.filter(({ kind }) => kind === "stopped")).toHaveLength(4);
});
