// Ids that callers choose: the refused ones, and their errors.
import { expect, test } from "vitest";
import { checkDefinedUrlId, checkId, checkUrlId } from "./check-id.ts";

test.each([
  ["a NUL", "a\u0000b", "it contains a control character"],
  ["a line break", "a\nb", "it contains a control character"],
  ["half a surrogate pair", "a\ud800", "it contains half a surrogate pair"],
  ["nothing", "", "expected a string of 1 to 200 characters"],
  ["too much", "a".repeat(201), "expected a string of 1 to 200 characters"],
  ["a number", 5, "expected a string of 1 to 200 characters"],
])("%s is refused", (_, value, problem) => {
  expect(() => checkId(value, "userId")).toThrow(`Invalid option userId: ${problem}`);
});

test.each([
  ["an id", "order-7"],
  ["any script", "заказ 🌍"],
  ["none", undefined],
])("%s is taken", (_, value) => {
  expect(() => checkId(value, "userId")).not.toThrow();
});

test.each([".", ".."])("%s is not for URLs, which clients resolve like folders", (id) => {
  expect(() => checkId(id, "userId")).not.toThrow();
  expect(() => checkUrlId(id, "executionId")).toThrow("Invalid option executionId: cannot be used in a URL");
  expect(() => checkDefinedUrlId(id, "Agent")).toThrow(`Agent: the id "${id}" cannot be used in a URL`);
});

test.each(["...", "a.b", ".a", undefined])("%s is", (id) => {
  expect(() => checkUrlId(id, "executionId")).not.toThrow();
});
