import { describe, expect, test } from "vitest";
import { redactText, withoutSecrets } from "../../values/redact-text.ts";
import { redactFields } from "./redact.ts";

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
    ["login failed: password=hunter2, user=ada", "login failed: password=[redacted], user=ada"],
    ["PGPASSWORD=hunter2 psql", "PGPASSWORD=[redacted] psql"],
    ["client_secret = 'a b c' was sent", "client_secret = [redacted] was sent"],
    ['body {"user":"ada","password":"hunter2"}', 'body {"user":"ada","password":[redacted]}'],
    ['{"apiKey": "abc"}', '{"apiKey": [redacted]}'],
    ["password: hunter2", "password: [redacted]"],
    ["AWS_SECRET_ACCESS_KEY=wJalr/XUtn", "AWS_SECRET_ACCESS_KEY=[redacted]"],
    [
      "Server=db;User Id=sa;Password=pw;Encrypt=true",
      "Server=db;User Id=sa;Password=[redacted];Encrypt=true",
    ],
    ["AccountName=a;AccountKey=abc==;Suffix=b", "AccountName=a;AccountKey=[redacted];Suffix=b"],
    ["at mongodb+srv://ada:p%40w@db.example/x?y=1", "at mongodb+srv://[redacted]@db.example/x?y=1"],
    ["redis://:pw@cache:6379", "redis://[redacted]@cache:6379"],
    ["https://ghp_token@github.com/a/b", "https://[redacted]@github.com/a/b"],
    ["authorization: Basic YWRhOnB3", "authorization: Basic [redacted]"],
    ['{"Authorization":"Bearer abc"}', '{"Authorization":"Bearer [redacted]"}'],
    ["set-cookie: sid=abc; Path=/", "set-cookie: [redacted]"],
    ["Token expired", "Token expired"],
    ["Invalid token: it was not accepted", "Invalid token: it was not accepted"],
    [
      "Input validation failed: password: expected string",
      "Input validation failed: password: expected string",
    ],
    ["7 of 9 tokens", "7 of 9 tokens"],
    ["https://x.example/@ada and a@b.example", "https://x.example/@ada and a@b.example"],
  ])("%s", (text, expected) => {
    expect(redactText(text)).toBe(expected);
    // A failure is redacted when it is kept and when it is read.
    expect(withoutSecrets(expected)).toBe(expected);
  });

  // Assembled here, so that no scanner mistakes them for real ones.
  const letters = "abcDEF0123456789".repeat(3);
  test.each([
    `sk-${letters}`,
    `sk-ant-api03-${letters}`,
    `sk-proj-${letters}_${letters}`,
    `sk_live_${letters}`,
    `rk_test_${letters}`,
    `gsk_${letters}`,
    `hf_${letters}`,
    `xai-${letters}`,
    `pplx-${letters}`,
    `AIza${letters}`,
    `AKIA${"ABCDEFGH12345678"}`,
    `ghp_${letters}`,
    `github_pat_${letters}`,
    `glpat-${letters}`,
    `xoxb-${letters}`,
    `npm_${letters}`,
    `r8_${letters}`,
    `ya29.${letters}`,
    `SG.${letters}.${letters}`,
    `eyJ${letters}.eyJ${letters}.${letters}`,
    `-----BEGIN RSA PRIVATE KEY-----\n${letters}\n-----END RSA PRIVATE KEY-----`,
  ])("%s is known by its shape, wherever it stands", (secret) => {
    expect(redactText(secret)).toBe("[redacted]");
    expect(redactText(`Incorrect key provided: ${secret}. See`)).toMatch(
      /^Incorrect key.*\[redacted\]\.? See$/,
    );
    expect(redactText(`(${secret})`)).toBe("([redacted])");
    expect(redactText(`"${secret}"`)).toBe('"[redacted]"');
    const { err } = redactFields({ err: new Error(`401: ${secret}`) });
    expect(JSON.stringify(err)).not.toContain(letters);
  });
});
