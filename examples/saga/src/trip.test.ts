// All parts or none, also when a response is lost, and when the process dies at any write.
import { createAndante, memoryStore } from "@andante/core";
import { crashTest, TestClock } from "@andante/core/test";
import { expect, onTestFinished, test } from "vitest";
import { tripWith } from "./trip.ts";

interface Trouble {
  /** Parts that are not available. */
  readonly without?: readonly string[];
  /** Parts that are booked, but whose response is always lost. */
  readonly loses?: readonly string[];
  /** The number of calls that fail to arrive. */
  readonly drops?: number;
}

/** A bureau that keeps bookings by key, and remembers every key. */
function bureau({ without = [], loses = [], drops = 0 }: Trouble = {}) {
  const bookings = new Map<string, string>();
  const cancelledKeys = new Set<string>();
  const log: string[] = [];
  let calls = 0;
  const trip = tripWith({
    async book(part, key) {
      if (without.includes(part)) throw new Error(`no ${part} left`);
      if (calls++ < drops) throw new Error("the line is busy");
      if (cancelledKeys.has(key)) throw new Error("this booking was cancelled");
      bookings.set(key, part);
      if (loses.includes(part)) throw new Error("the line went dead");
      return `${part}-1`;
    },
    async cancel(part, key) {
      if (calls++ < drops) throw new Error("the line is busy");
      cancelledKeys.add(key);
      if (bookings.delete(key)) log.push(part);
    },
  });
  const reset = () => {
    bookings.clear();
    cancelledKeys.clear();
    log.length = 0;
  };
  return { trip, bookings, log, reset };
}

async function run({ trip }: ReturnType<typeof bureau>) {
  const andante = createAndante({ workflows: { trip }, store: memoryStore(), clock: new TestClock() });
  onTestFinished(() => andante.close());
  return (await andante.execute("trip", { to: "Sark" })).result;
}

test("every part is booked, also over a bad line", async () => {
  const good = bureau({ drops: 2 });
  const result = await run(good);
  expect(result?.failed).toBeNull();
  expect(result?.booked.map(({ part }) => part)).toEqual(["flight", "hotel", "car"]);
  expect([...good.bookings.values()]).toEqual(["flight", "hotel", "car"]);
});

test("without a car the hotel and the flight are cancelled, in that order", async () => {
  const carless = bureau({ without: ["car"] });
  expect(await run(carless)).toEqual({ booked: [], failed: "car" });
  expect(carless.log).toEqual(["hotel", "flight"]);
  expect(carless.bookings.size).toBe(0);
});

test("a trip without a flight books nothing", async () => {
  const flightless = bureau({ without: ["flight"] });
  expect(await run(flightless)).toEqual({ booked: [], failed: "flight" });
  expect(flightless.log).toEqual([]);
});

test("a booking whose response was lost is cancelled too", async () => {
  const unheard = bureau({ loses: ["car"] });
  expect(await run(unheard)).toEqual({ booked: [], failed: "car" });
  expect([...unheard.bookings.values()]).toEqual([]);
  expect(unheard.log).toEqual(["car", "hotel", "flight"]);
});

test("a crash anywhere leaves nothing booked", async () => {
  const { trip, bookings, log, reset } = bureau({ loses: ["car"] });
  const { expected, differences } = await crashTest({
    workflow: trip,
    input: { to: "Sark" },
    reset,
    observe: () => ({ left: bookings.size, cancelled: log }),
  });
  expect(expected.result).toEqual({ booked: [], failed: "car" });
  expect(expected.observed).toMatchObject({ left: 0 });
  expect(differences).toEqual([]);
});
