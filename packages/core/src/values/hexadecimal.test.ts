import { expect, test } from "vitest";
import { digitValue, hexadecimal } from "./hexadecimal.ts";

test.each([0, 1, 15, 16, 255, 256, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 1_700_000_000_123, 2 ** 48 - 1])(
  "%d has the digits that toString writes",
  (value) => {
    expect(hexadecimal(value, 6)).toBe(value.toString(16).padStart(12, "0"));
  },
);

test("only as many bytes as asked for", () => {
  expect(hexadecimal(0x1_2345_6789, 4)).toBe("23456789");
});

test("a digit is worth its number", () => {
  expect(Array.from("0123456789abcdef", digitValue)).toEqual(Array.from({ length: 16 }, (_, n) => n));
});
