// Formatting of numbers, durations and ids.
import { expect, test } from "vitest";
import {
  age,
  amount,
  bytes,
  count,
  duration,
  period,
  plural,
  share,
  shortCount,
  shortId,
} from "./numbers.ts";

test.each([
  [9, "9 ms"],
  [6100, "6.1 s"],
  [48_000, "48 s"],
  [64_000, "1 min 04 s"],
  [2_280_000, "38 min"],
  [8_040_000, "2 h 14 min"],
  [273_600_000, "3 d 4 h"],
  [-5, "0 ms"],
])("%i ms is %s", (milliseconds, words) => expect(duration(milliseconds)).toBe(words));

test.each([
  [1000, "1 s"],
  [1500, "1.5 s"],
  [120_000, "2 min"],
  [600_000, "10 min"],
  [3_600_000, "1 h"],
  [5_400_000, "1 h 30 min"],
  [86_400_000, "24 h"],
  [604_800_000, "7 d"],
  [273_600_000, "3 d 4 h"],
])("a period of %i ms is %s", (milliseconds, words) => expect(period(milliseconds)).toBe(words));

test.each([
  [0, "0.00"],
  [0.003_14, "0.0031"],
  [12.5, "12.50"],
  [1_204.5, "1\u2009204.50"],
])("an amount of %d is %s", (value, text) => expect(amount(value)).toBe(text));

test.each([
  [100, "now"],
  [42_000, "42 s"],
  [2_280_000, "38 min"],
  [8_040_000, "2 h 14 min"],
])("an age of %i ms is %s", (milliseconds, words) => expect(age(milliseconds)).toBe(words));

test("thousands are separated", () => {
  expect(count(18_204)).toBe("18\u2009204");
  expect(count(999)).toBe("999");
  expect(shortCount(88_214)).toBe("88 k");
  expect(bytes(224_395_264)).toBe("214 MB");
  expect([plural(1, "step"), plural(2, "step")]).toEqual(["1 step", "2 steps"]);
});

test("a long id is cut, a short one is not", () => {
  expect(shortId("01a1de5d-a0d0-7b1e-8000-000000000000")).toBe("01a1de5d-a0d0");
  expect(shortId("order-8813")).toBe("order-8813");
  expect(shortId("shipment:evt_ord_8813")).toBe("ship…ord_8813");
});

test.each([
  [1, 3, "33 %"],
  [1, 1000, "0.10 %"],
  [5, 2, "100 %"],
  [0, 0, "0.00 %"],
])("%i of %i are %s", (part, whole, words) => expect(share(part, whole)).toBe(words));
