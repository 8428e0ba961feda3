// All parts or none, also when the process dies at any write.
import { createAndante, memoryStore } from "@andante/core";
import { crashTest, TestClock } from "@andante/core/test";
import { expect, onTestFinished, test } from "vitest";
import { tripWith } from "./trip.ts";

/** A bureau that keeps what is booked; it cannot get some parts, and drops some of its calls. */
function bureau({ without = [], drops = 0 }: { without?: string[]; drops?: number } = {}) {
  const bookings = new Map<string, string>();
  const log: string[] = [];
  let dropped = 0;
  const trip = tripWith({
    async book(part, key) {
      if (without.includes(part)) throw new Error(`no ${part} left`);
      if (dropped++ < drops) throw new Error("the line is busy");
      bookings.set(key, part);
      return key;
    },
    async cancel(part, booking) {
      if (dropped++ < drops) throw new Error("the line is busy");
      if (bookings.delete(booking)) log.push(part);
    },
  });
  return { trip, bookings, log };
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

test("what cannot be had is not followed by what could", async () => {
  const flightless = bureau({ without: ["flight"] });
  expect(await run(flightless)).toEqual({ booked: [], failed: "flight" });
  expect(flightless.log).toEqual([]);
});

test("a crash anywhere leaves nothing booked", async () => {
  const { trip, bookings, log } = bureau({ without: ["car"] });
  const { expected, differences } = await crashTest({
    workflow: trip,
    input: { to: "Sark" },
    reset: () => {
      bookings.clear();
      log.length = 0;
    },
    observe: () => ({ left: bookings.size, cancelled: log }),
  });
  expect(expected.result).toEqual({ booked: [], failed: "car" });
  expect(differences).toEqual([]);
});
