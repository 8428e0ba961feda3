// Cursors are places that we wrote; anything else is refused.
import { expect, test } from "vitest";
import { isNumber, isTimeAndId, readCursor, writeCursor } from "./cursor.ts";

test("a place is read as it was written, in letters that an address may hold", () => {
  const cursor = writeCursor(5, "é?");
  expect(cursor).toMatch(/^[\w-]+$/);
  expect(readCursor(cursor, isTimeAndId)).toEqual([5, "é?"]);
  expect(readCursor(writeCursor(7), isNumber)).toEqual([7]);
});

test.each([
  ["no JSON", "%%%"],
  ["nothing", ""],
  ["no list", Buffer.from('{"0":5,"1":"a"}').toString("base64url")],
  ["a list of something else", writeCursor("a", 5)],
  ["a time without an id", writeCursor(5)],
  ["a fraction", writeCursor(1.5, "a")],
])("%s is refused", (_, cursor) => {
  expect(() => readCursor(cursor, isTimeAndId)).toThrow("cursor: not a cursor of this server");
});

test("a number alone is a safe integer", () => {
  expect(() => readCursor(writeCursor("5"), isNumber)).toThrow("cursor");
  expect(() => readCursor(writeCursor(2 ** 53), isNumber)).toThrow("cursor");
});
