import { describe, expect, test } from "vitest";
import { redactFields, redactText } from "./redact.ts";

describe("fields", () => {
  test.each([
    "authorization",
    "Authorization",
    "cookie",
    "set-cookie",
    "password",
    "secret",
    "clientSecret",
    "client_secret",
    "apiKey",
    "api_key",
    "X-Api-Key",
    "token",
    "accessToken",
    "refresh_token",
    "credentials",
  ])("%s is redacted at any depth", (key) => {
    expect(redactFields({ [key]: "hidden" })).toEqual({ [key]: "[redacted]" });
    expect(redactFields({ a: { b: [{ c: { [key]: { deep: "hidden" } } }] } })).toEqual({
      a: { b: [{ c: { [key]: "[redacted]" } }] },
    });
  });

  test.each(["totalTokens", "maxOutputTokens", "author", "keyboard", "executionId"])("%s stays", (key) => {
    expect(redactFields({ [key]: 7 })).toEqual({ [key]: 7 });
  });

  test("an error becomes name, message, stack and cause", () => {
    const { err } = redactFields({ err: new TypeError("no", { cause: new Error("why") }) });
    expect(err).toEqual({
      name: "TypeError",
      message: "no",
      stack: expect.stringContaining("redact.test.ts"),
      cause: { name: "Error", message: "why", stack: expect.any(String) },
    });
  });

  test("what JSON cannot hold, what has no end and what throws are all survived", () => {
    const cycle: Record<string, unknown> = { when: new Date(0), big: 10n, not: Number.NaN, call: () => 1 };
    cycle.again = cycle;
    Object.defineProperty(cycle, "trap", {
      enumerable: true,
      get() {
        throw new Error("trap");
      },
    });
    const copy = redactFields(cycle);
    expect(copy).toMatchObject({
      when: "1970-01-01T00:00:00.000Z",
      big: "10",
      not: "NaN",
      trap: "[unreadable]",
    });
    expect(JSON.stringify(copy).length).toBeLessThan(2_000);
  });

  test("texts, lists and objects are bounded", () => {
    const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`k${index}`, 1]));
    const copy = redactFields({ text: "x".repeat(1_000_000), list: Array(5_000).fill(1), many });
    expect(JSON.stringify(copy).length).toBeLessThan(12_000);
  });
});

describe("texts", () => {
  test.each([
    ["GET /ws?token=abc.def&a=1", "GET /ws?token=[redacted]&a=1"],
    ["https://x/y?a=1&access_token=abc#z", "https://x/y?a=1&access_token=[redacted]#z"],
    ["https://x/?api_key=abc", "https://x/?api_key=[redacted]"],
    ["Authorization: Bearer eyJhbGciOi.eyJzdWIi.sig", "Authorization: Bearer [redacted]"],
    ["postgres://ada:pw@db/x", "postgres://[redacted]@db/x"],
    ["a = b, mail@example.com", "a = b, mail@example.com"],
    ["the bearer of news", "the bearer of news"],
  ])("%s", (text, expected) => {
    expect(redactText(text)).toBe(expected);
  });
});
