// Where an authenticated user appears, and that a caller cannot pretend to be one.
import { Agent } from "@andante/core";
import { demoModel } from "@andante/demo-model";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { call, dataOf, fieldsOf } from "../support/responses.ts";
import { serveForTest } from "../support/serve-for-test.ts";
import { bearer, provider, tokenFor } from "../support/tokens.ts";

const ada = { id: "ada", roles: ["reader"] };
const claims = { userId: "root", context: { user: { id: "root" }, userId: "root", color: "blue" } };

/** The arguments of the agent's hooks. */
const seen: unknown[] = [];
const watched = new Agent({
  id: "watched",
  model: demoModel(),
  hooks: {
    onStart: ({ context: { userId, context } }) =>
      seen.push({ userId, context: Object.fromEntries(context) }),
  },
});

const token = bearer(await tokenFor("ada"));
const server = await serveForTest({
  agents: { watched },
  auth: provider({ publicRoutes: ["POST /workflows/mirror/*", "POST /agents/watched/text"] }),
  configureApp: (app) => {
    app.post("/seen", async (c) => c.json({ success: true, data: await c.req.json() }));
    app.post("/seen/twice", async (c) =>
      c.json({ success: true, data: [await c.req.json(), await c.req.json()] }),
    );
    app.post("/raw", async (c) => c.text(await c.req.text()));
    app.post("/form", async (c) => c.json({ success: true, data: await c.req.parseBody() }));
    app.get("/me", (c) =>
      c.json({
        success: true,
        data: { user: c.get("authenticatedUser") ?? null, userId: c.get("userId") ?? null },
      }),
    );
  },
});

describe("in agents", () => {
  const ask = (options: object | undefined, headers: Record<string, string>, route = "text") => {
    seen.length = 0;
    return server.post(`/agents/watched/${route}`, { input: "hi", options }, headers);
  };

  test("hooks see the user in the context and the userId, and the token's win over the body's", async () => {
    for (const route of ["text", "stream", "chat"]) {
      expect((await ask(claims, token, route)).status).toBe(200);
      expect(seen, route).toEqual([{ userId: "ada", context: { color: "blue", user: ada } }]);
    }
  });

  test("without a token, on a public route, the caller is no user", async () => {
    expect((await ask(claims, {})).status).toBe(200);
    expect(seen).toEqual([{ userId: undefined, context: { color: "blue" } }]);
  });
});

describe("in workflows", () => {
  const run = async (options: object, headers: Record<string, string>) => {
    const answer = await server.post("/workflows/mirror/execute", { input: {}, options }, headers);
    return dataOf(answer);
  };

  test("the context holds user and userId, and the token's win over the body's", async () => {
    const result = fieldsOf(await run(claims, token), "result");
    expect(result.userId).toBe("ada");
    expect(result.context).toEqual({ color: "blue", user: ada, userId: "ada" });
  });

  test("they are there without any options, too", async () => {
    const answer = await server.post("/workflows/mirror/execute", { input: {} }, token);
    expect(fieldsOf(dataOf(answer), "result").context).toEqual({ user: ada, userId: "ada" });
  });

  test.each([
    ["no token", {}],
    ["a bad token", bearer("x.y.z")],
  ])("with %s on a public route the caller's claims are dropped", async (_, headers) => {
    const result = fieldsOf(await run(claims, headers), "result");
    expect(result.userId).toBeUndefined();
    expect(result.context).toEqual({ color: "blue" });
  });

  test("the stream runs with the same user", async () => {
    const stream = await server.stream("/workflows/mirror/stream", { input: {}, options: claims }, token);
    const last = (await stream.rest()).at(-1) ?? {};
    expect(fieldsOf(last, "result").context).toEqual({ color: "blue", user: ada, userId: "ada" });
  });

  test("the state shows them", async () => {
    const { executionId } = await run(claims, token);
    const state = dataOf(await server.get(`/workflows/mirror/executions/${executionId}/state`));
    expect(state.context).toEqual({ color: "blue", user: ada, userId: "ada" });
  });

  test("the same execution id of another user is a conflict, not their execution", async () => {
    const options = { executionId: "shared-id" };
    await run(options, token);
    const eve = bearer(await tokenFor("eve"));
    const answer = await server.post("/workflows/mirror/execute", { input: {}, options }, eve);
    expect(answer.status).toBe(409);
  });

  test("without authentication the body's userId and context are taken as they are", async () => {
    const open = await serveForTest();
    const answer = await open.post("/workflows/mirror/execute", { input: {}, options: claims }, token);
    expect(fieldsOf(dataOf(answer), "result")).toMatchObject({ userId: "root", context: claims.context });
  });

  test.each([
    ["fields that are undefined", { id: "ada", email: undefined }, { id: "ada" }],
    ["a date", { id: "ada", since: new Date(0) }, { id: "ada", since: "1970-01-01T00:00:00.000Z" }],
    ["a function", { id: "ada", can: () => true }, { id: "ada" }],
    ["no id", { name: "Ada" }, { name: "Ada" }],
    ["an empty id", { id: "" }, { id: "" }],
    ["a number as its id", { id: 7 }, { id: 7 }],
  ])("a user with %s is kept as JSON shows it", async (_, user, kept) => {
    const own = await serveForTest({ auth: { type: "test", verifyToken: () => user } });
    const answer = await own.post("/workflows/mirror/execute", { input: {} }, bearer("any"));
    const context = fieldsOf(fieldsOf(dataOf(answer), "result"), "context");
    expect(context.user).toEqual(kept);
  });
});

describe("in custom routes", () => {
  test("the user is authenticatedUser", async () => {
    expect(dataOf(await server.get("/me", token))).toEqual({ user: ada, userId: "ada" });
  });

  test.each([
    ["no token", {}],
    ["a bad token", bearer("x.y.z")],
  ])("with %s there is none", async (_, headers) => {
    expect(dataOf(await server.get("/me", headers))).toEqual({ user: null, userId: null });
  });

  test("c.req.json() has the user in context.user, and userId", async () => {
    const body = dataOf(await server.post("/seen", { a: 1, ...claims }, token));
    expect(body).toEqual({ a: 1, userId: "ada", context: { color: "blue", user: ada, userId: "ada" } });
  });

  test("a body without a context gets one", async () => {
    const body = dataOf(await server.post("/seen", { a: 1 }, token));
    expect(body).toEqual({ a: 1, userId: "ada", context: { user: ada, userId: "ada" } });
  });

  test("claims of a caller without a token are not in it", async () => {
    expect(dataOf(await server.post("/seen", { a: 1, ...claims }))).toEqual({
      a: 1,
      context: { color: "blue" },
    });
  });

  test.each(["text/plain", "application/vnd.api+json", "multipart/form-data; boundary=x", ""])(
    "the content type %j makes no way around",
    async (type) => {
      const init = { method: "POST", headers: { "content-type": type }, body: JSON.stringify(claims) };
      expect(dataOf(await call(`${server.url}/seen`, init))).toEqual({ context: { color: "blue" } });
    },
  );

  test("reading the body twice is possible", async () => {
    const answer = await server.post("/seen/twice", {}, token);
    const { data } = z.object({ data: z.array(z.unknown()) }).parse(JSON.parse(answer.text));
    expect(data[0]).toEqual({ userId: "ada", context: { user: ada, userId: "ada" } });
    expect(data[1]).toEqual(data[0]);
  });

  test.each([[[1, 2]], ["text"], [3], [null]])(
    "the body %j has no place for a user and stays",
    async (body) => {
      const answer = await server.post("/seen", body, token);
      expect(JSON.parse(answer.text)).toEqual({ success: true, data: body });
    },
  );

  test("text() is the raw body, for handlers that check a signature", async () => {
    expect((await server.post("/raw", claims, token)).text).toBe(JSON.stringify(claims));
  });

  test("a form is read as ever", async () => {
    const form = new FormData();
    form.set("field", "value");
    const answer = await call(`${server.url}/form`, { method: "POST", headers: token, body: form });
    expect(dataOf(answer)).toEqual({ field: "value" });
  });
});
