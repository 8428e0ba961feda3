// The caller of a start and of a custom route: no client can name another user.
import { Hono } from "hono";
import { expect, test } from "vitest";
import type { Caller } from "./gate.ts";
import { announceCaller, startOptionsOf } from "./inject-user.ts";

const unknown: Caller = { user: undefined, userId: undefined };
const ada: Caller = { user: { id: "ada", tier: "pro", sign: () => "x" }, userId: "ada" };
const nameless: Caller = { user: { team: "red" }, userId: undefined };
const known = { id: "ada", tier: "pro" };

const forged = { input: 1, userId: "root", context: { user: { id: "root" }, userId: "root", tab: 2 } };

test.each<[string, object, Caller, boolean, object]>([
  ["without authentication all options stay", forged, unknown, false, forged],
  ["without a token the user is dropped", forged, unknown, true, { input: 1, context: { tab: 2 } }],
  [
    "the user of the token replaces the others",
    forged,
    ada,
    true,
    { input: 1, userId: "ada", context: { tab: 2, user: known } },
  ],
  [
    "without a context there is one",
    { input: 1 },
    ada,
    true,
    { input: 1, userId: "ada", context: { user: known } },
  ],
  [
    "a user without an id starts an execution that no other start returns",
    { input: 1 },
    nameless,
    true,
    { input: 1, userId: undefined, context: { user: { team: "red" } }, exclusive: true },
  ],
])("%s", (_, options, caller, authEnabled, expected) => {
  expect(startOptionsOf(structuredClone(options), caller, authEnabled)).toStrictEqual(expected);
});

test.each<[string, Caller, unknown, unknown]>([
  [
    "a forged user is dropped",
    unknown,
    { a: 1, userId: "root", context: { user: 1, userId: 2, tab: 3 } },
    { a: 1, context: { tab: 3 } },
  ],
  ["a body without a context has none", unknown, { a: 1 }, { a: 1 }],
  ["a context that is no object stays", unknown, { context: "x" }, { context: "x" }],
  ["a body that is no object stays", ada, [1], [1]],
  [
    "the user of the token is added",
    ada,
    { a: 1, userId: "root", context: { user: 1, tab: 3 } },
    { a: 1, userId: "ada", context: { tab: 3, user: known, userId: "ada" } },
  ],
  [
    "and replaces a context that is no object",
    ada,
    { context: "x" },
    { userId: "ada", context: { user: known, userId: "ada" } },
  ],
  ["a user without an id", nameless, {}, { context: { user: { team: "red" } } }],
])("a custom route reads the body: %s", async (_, caller, body, expected) => {
  const app = new Hono<{ Variables: { authenticatedUser: unknown; userId: unknown } }>();
  app.post("/", async (http) => {
    announceCaller(http, caller);
    const values = { user: http.get("authenticatedUser"), userId: http.get("userId") };
    return http.json({ values, json: await http.req.json(), text: await http.req.text() });
  });
  const response = await app.request("/", { method: "POST", body: JSON.stringify(body) });
  const user = caller === ada ? known : caller.user;
  const values = JSON.parse(JSON.stringify({ user, userId: caller.userId }));
  expect(await response.json()).toEqual({ values, json: expected, text: JSON.stringify(body) });
});
