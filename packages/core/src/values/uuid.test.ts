// Ids: their format, their order within a millisecond and across clock changes, and that none comes twice.
import { expect, test } from "vitest";
import { uuid, uuidMaker } from "./uuid.ts";

const timeOf = (id: string) => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);

test("an id is a UUID of version 7 that begins with the time", () => {
  for (let round = 0; round < 1000; round++) {
    const before = Date.now();
    const id = uuid();
    expect(id).toMatch(/^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
    expect(timeOf(id)).toBeGreaterThanOrEqual(before);
    expect(timeOf(id)).toBeLessThanOrEqual(Date.now());
  }
});

test("a time with fewer digits is padded", () => {
  expect(uuidMaker(() => 0x123)()).toMatch(/^00000000-0123-7/);
});

test("every variant comes up", () => {
  const variants = new Set(Array.from({ length: 1000 }, () => uuid()[19]));
  expect([...variants].sort()).toEqual(["8", "9", "a", "b"]);
});

test("ids of one millisecond are in order, also when there are more than it can count", () => {
  const make = uuidMaker(() => 1_700_000_000_000);
  const ids = Array.from({ length: 20_000 }, () => make());
  expect(ids).toEqual([...ids].sort());
  expect(timeOf(ids[0] ?? "")).toBe(1_700_000_000_000);
  expect(timeOf(ids.at(-1) ?? "")).toBeLessThan(1_700_000_000_000 + 12);
});

test("ids stay in order when the clock goes back, and follow it again when it has caught up", () => {
  let now = 1_700_000_000_000;
  const make = uuidMaker(() => now);
  const ids = [make()];
  now -= 3_600_000;
  ids.push(make(), make());
  expect(timeOf(ids[2] ?? "")).toBe(1_700_000_000_000);
  now += 3_600_001;
  ids.push(make());
  expect(timeOf(ids[3] ?? "")).toBe(1_700_000_000_001);
  expect(ids).toEqual([...ids].sort());
});

test("a hundred thousand ids are all different and in order", () => {
  const ids = new Set<string>();
  let last = "";
  let ordered = true;
  for (let count = 0; count < 100_000; count++) {
    const id = uuid();
    ordered &&= id > last;
    last = id;
    ids.add(id);
  }
  expect(ordered).toBe(true);
  expect(ids.size).toBe(100_000);
});
