import { OptionError } from "@andante/core/errors";
import { expect, test } from "vitest";
import { basePathOf, pathBehind } from "./base-path.ts";

test.each([
  [undefined, ""],
  ["", ""],
  ["/", ""],
  ["/ai", "/ai"],
  ["ai", "/ai"],
  ["/ai/", "/ai"],
  ["/api/v1.2/~ada/my-ai_", "/api/v1.2/~ada/my-ai_"],
])("%o is understood as %o", (given, understood) => {
  expect(basePathOf(given)).toBe(understood);
});

test.each([
  "//ai",
  "/ai//",
  "/a//b",
  "/.",
  "/a/../b",
  "/a b",
  "/ä",
  "/%61i",
  "/:id",
  "/*",
  "/ai?x",
  "/ai#x",
  "\\ai",
  "https://example.com/ai",
  7,
  null,
  {},
])("%o is refused", (given) => {
  expect(() => basePathOf(given)).toThrow(OptionError);
});

test.each([
  ["", "/workflows", "/workflows"],
  ["/ai", "/ai", "/"],
  ["/ai", "/ai/", "/"],
  ["/ai", "/ai/workflows", "/workflows"],
  ["/ai", "/ai/ai", "/ai"],
  ["/ai", "/ais/workflows", undefined],
  ["/ai", "/workflows", undefined],
  ["/ai", "/AI/workflows", undefined],
])("behind %o, %o is %o", (basePath, path, rest) => {
  expect(pathBehind(basePath, path)).toBe(rest);
});
