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

  test("values that JSON cannot hold, circular ones and getters that throw are all survived", () => {
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
    ["x-api-key:4f9a-77b1-c0de-9911-abcd", "x-api-key:[redacted]"],
    ["token:550e8400-e29b-41d4-a716-446655440000", "token:[redacted]"],
    ["secret:my_long_secret_value_0123456789", "secret:[redacted]"],
    ["client_secret:8Q~abc.DEF-0123456789", "client_secret:[redacted]"],
    ["bearer ABCDEFGHIJKLMNOPQRST", "bearer [redacted]"],
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
    ['{"cookie":"sid=abc; theme=dark"}', '{"cookie":[redacted]'],
    ["cookie: 4f9a0b", "cookie: [redacted]"],
    ["cookie=4f9a0b; Path=/", "cookie=[redacted]; Path=/"],
    ["bearer abcdefgh1", "bearer [redacted]"],
    [`bearer ${"abcdef".repeat(4)}`, "bearer [redacted]"],
    [`api_key:${"ab1d".repeat(5)}`, "api_key:[redacted]"],
    ['password:"hunter2"', "password:[redacted]"],
    ["password:hunter2", "password:[redacted]"],
    ["login ada passwd:open-sesame; retry", "login ada passwd:[redacted]; retry"],
    ["(password:a&b#c)", "(password:[redacted]"],
    ["DB_PWD:x", "DB_PWD:[redacted]"],
    ["passphrase:correct-horse", "passphrase:[redacted]"],
    ["password:", "password:"],
    ["authorization: bearer abcdef", "authorization: bearer [redacted]"],
    ["Proxy-Authorization: Basic abc", "Proxy-Authorization: Basic [redacted]"],
    ["authorization: 4f9a0b", "authorization: [redacted]"],
    ["authorization: expected a string", "authorization: expected a string"],
    ["sent bearer abcdef", "sent bearer abcdef"],
    ["Agent token:abc not found", "Agent token:abc not found"],
    ["Agent token:ab1 not found", "Agent token:ab1 not found"],
    ["cookie: expected a string", "cookie: expected a string"],
    ["Invalid cookie: the session of user 7 has ended", "Invalid cookie: the session of user 7 has ended"],
    ["bearer authentication is required", "bearer authentication is required"],
    ["Workflow secret:v2 not found", "Workflow secret:v2 not found"],
    ["Workflow rotate-token:v2-rollout-2026 not found", "Workflow rotate-token:v2-rollout-2026 not found"],
    ["Agent api-key:eu-west-1 not found", "Agent api-key:eu-west-1 not found"],
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

  // A fixed seed: the same texts in every run.
  let state = 4711;
  const random = () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
  const pick = <T>(from: readonly [T, ...T[]]): T => from[Math.floor(random() * from.length)] ?? from[0];
  const key = (length: number) =>
    `${Array.from({ length }, () => "abcdefXYZ".charAt(random() * 9)).join("")}7Q`;
  const contexts: readonly [(secret: string) => string, ...((secret: string) => string)[]] = [
    (secret) => `authorization: Bearer ${secret}`,
    (secret) => `Authorization: Basic ${secret}`,
    (secret) => `sent bearer ${secret} to it`,
    (secret) => `cookie: sid=${secret}; theme=dark`,
    (secret) => `set-cookie: a=1; session=${secret}`,
    (secret) => `password=${secret}&next=1`,
    (secret) => `{"client_secret":"${secret}"}`,
    (secret) => `token: ${secret}`,
    (secret) => `api_key:${secret}`,
    (secret) => `https://ada:${secret}@db.example/x`,
    (secret) => `Server=db;Password=${secret};Encrypt=true`,
    (secret) => `GET /ws?key=${secret}`,
  ];
  const words = ["the", "session", "of", "step", "is", "missing", "expected", "a", "string", "not", "valid"];
  const names = ["cookie", "bearer", "secret", "token", "password", "api key", "credentials"];

  test("random secrets are removed from every place that holds one", () => {
    for (let n = 0; n < 2_000; n += 1) {
      const secret = key(20 + Math.floor(random() * 40));
      const text = pick(contexts)(secret);
      const shown = redactText(text);
      expect(shown, text).not.toContain(secret);
      expect(withoutSecrets(shown)).toBe(shown);
    }
  });

  test("random prose and ids with the names of secrets in them stay as they are", () => {
    for (let n = 0; n < 2_000; n += 1) {
      const some = Array.from({ length: 6 }, () => words[Math.floor(random() * words.length)]);
      const name = names[Math.floor(random() * names.length)];
      // The text after the name of a password is one, without a space too.
      const id = `${name === "password" ? "rule" : name?.replace(" ", "-")}:v${Math.floor(random() * 99)}`;
      for (const text of [
        `${name}: ${some.join(" ")}`,
        `${name} ${some.join(" ")}`,
        `Workflow ${id} not found`,
      ])
        expect(redactText(text)).toBe(text);
    }
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
  ])("%s is known by its shape, at any place", (secret) => {
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
