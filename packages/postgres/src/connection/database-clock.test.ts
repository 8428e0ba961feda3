// The clock of the database, as a node comes to know it.
import { expect, test } from "vitest";
import { DatabaseClock } from "./database-clock.ts";

test("a clock that may agree is taken to agree, one that cannot is followed", () => {
  const clock = new DatabaseClock();
  expect(clock.adjust(1_003, 1_000, 1_010)).toBe(0);
  expect(clock.offset).toBe(0);
  expect(clock.adjust(61_005, 1_000, 1_010)).toBe(0);
  expect(clock.offset).toBe(60_000);
  // A slow reply adds no information.
  clock.adjust(62_900, 2_000, 3_000);
  expect(clock.offset).toBe(60_000);
  expect(clock.adjust(1_500, 2_000, 2_002)).toBe(60_501);
  expect(clock.offset).toBe(-501);
});

test("the first measurement is not a step back", () => {
  const clock = new DatabaseClock();
  expect(clock.adjust(1_000, 61_000, 61_002)).toBe(0);
  expect(clock.offset).toBe(-60_001);
});
