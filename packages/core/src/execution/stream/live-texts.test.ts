// Unread text of an agent: in order, at its place, bounded.
import { expect, test } from "vitest";
import type { LiveText } from "./feed.ts";
import { LiveTexts } from "./live-texts.ts";

const piece = (delta: string, path = "ask"): LiveText => ({
  timestamp: 1,
  path,
  stepIndex: 0,
  stepType: "andAgent",
  delta,
});
const call = (delta: string): LiveText => ({
  ...piece(delta),
  tool: { type: "tool-call", toolCallId: "c", toolName: "add" },
});

/** The texts that a reader takes who has read this far. */
function taken(texts: LiveTexts, read: number): string[] {
  const all: string[] = [];
  for (let text = texts.take(read); text !== undefined; text = texts.take(read)) all.push(text.delta);
  return all;
}

test("neighbouring pieces of one reply are one, at one place and of one step alone", () => {
  const texts = new LiveTexts();
  for (const delta of ["a", "b"]) texts.add(piece(delta), 1);
  texts.add(piece("c"), 2);
  texts.add(piece("d", "other"), 2);
  texts.add(piece("h"), 2);
  texts.add(call("e"), 2);
  texts.add(call("f"), 2);
  texts.add(piece("g"), 2);
  expect(taken(texts, 2)).toEqual(["ab", "c", "d", "h", "e", "f", "g"]);
});

test("a piece is delivered when its reader has reached its place, unchanged", () => {
  const texts = new LiveTexts();
  expect(texts.take(9)).toBeUndefined();
  texts.add(piece("a"), 3);
  expect(texts.take(2)).toBeUndefined();
  expect(texts.take(3)).toStrictEqual(piece("a"));
  expect(texts.take(3)).toBeUndefined();
});

test("more than fits removes the oldest, and taken or cleared texts leave room", () => {
  const texts = new LiveTexts(4);
  texts.add(piece("ab", "one"), 1);
  texts.add(piece("cd", "two"), 1);
  texts.add(piece("e", "three"), 1);
  expect(taken(texts, 1)).toEqual(["cd", "e"]);
  for (const path of ["one", "two"]) texts.add(piece("xx", path), 1);
  expect(taken(texts, 1)).toEqual(["xx", "xx"]);
  texts.add(piece("abcd", "one"), 1);
  texts.clear();
  expect(texts.take(1)).toBeUndefined();
  for (const path of ["one", "two"]) texts.add(piece("yy", path), 1);
  expect(taken(texts, 1)).toEqual(["yy", "yy"]);
  texts.add(piece("longer"), 1);
  expect(taken(texts, 1)).toEqual([]);
});

test("the length of the texts that are left counts", () => {
  const texts = new LiveTexts(10);
  for (const [path, delta] of [
    ["one", "01234"],
    ["two", "abcde"],
    ["three", "x"],
    ["four", "yyyyyyyy"],
  ] as const)
    texts.add(piece(delta, path), 1);
  expect(taken(texts, 1)).toEqual(["x", "yyyyyyyy"]);
});
