// POST /workflows/:id/execute
import { describe, expect, onTestFinished, test } from "vitest";
import { countExecutions } from "../support/executions.ts";
import { gates } from "../support/gates.ts";
import { dataOf, errorOf, fieldsOf, textOf, timestamp } from "../support/responses.ts";
import { serveForTest } from "../support/serve-for-test.ts";

const server = await serveForTest();

const execute = (id: string, body?: unknown, headers?: Record<string, string>) =>
  server.post(`/workflows/${encodeURIComponent(id)}/execute`, body, headers);

const uuid7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe("a workflow that runs to the end", () => {
  test("is completed; the response carries result and endAt, and no suspension", async () => {
    const data = dataOf(await execute("sum", { input: { a: 2, b: 3 } }));
    expect(data).toEqual({
      executionId: expect.stringMatching(uuid7),
      startAt: timestamp,
      endAt: timestamp,
      status: "completed",
      result: { total: 5 },
    });
    expect(Date.parse(textOf(data, "endAt"))).toBeGreaterThanOrEqual(Date.parse(textOf(data, "startAt")));
  });

  test("gets the input as its schema returns it: defaults are filled in", async () => {
    expect(dataOf(await execute("sum", { input: { a: 2 } })).result).toEqual({ total: 3 });
  });

  test("has a result of null when its last step gave nothing", async () => {
    const data = dataOf(await execute("nothing", { input: {} }));
    expect(data).toHaveProperty("result", null);
    const state = dataOf(await server.get(`/workflows/nothing/executions/${data.executionId}/state`));
    expect(state).toHaveProperty("result", null);
  });

  test("works through every step type of the contract", async () => {
    const data = dataOf(await execute("everything", { input: { text: "ab" } }));
    expect(data).toMatchObject({ status: "suspended", suspension: { suspendedStepIndex: 7 } });
  });
});

describe("a step that suspends the workflow", () => {
  test("makes it suspended: a suspension, result null, endAt null", async () => {
    const data = dataOf(await execute("approval", { input: { topic: "tests" } }));
    expect(data).toEqual({
      executionId: expect.stringMatching(uuid7),
      startAt: timestamp,
      endAt: null,
      status: "suspended",
      result: null,
      suspension: expect.objectContaining({
        suspendedAt: timestamp,
        reason: "Waiting for approval",
        suspendedStepIndex: 1,
      }),
    });
  });

  test("has more than the contract's fields: the path, the data, and the schema of resume data", async () => {
    const data = dataOf(await execute("approval", { input: { topic: "tests" } }));
    expect(data.suspension).toEqual({
      suspensionId: expect.stringMatching(uuid7),
      suspendedAt: timestamp,
      reason: "Waiting for approval",
      suspendedStepIndex: 1,
      stepIndex: 1,
      stepId: "approve",
      stepPath: "approve",
      data: { text: "About tests" },
      resumeSchema: expect.objectContaining({ type: "object", required: ["approved"] }),
    });
  });

  test("has a reason that is a text also when the step gave none", async () => {
    expect(fieldsOf(dataOf(await execute("twice", { input: {} })), "suspension").reason).toBe("");
  });

  test("inside a container reports the top-level step's index", async () => {
    const suspension = fieldsOf(dataOf(await execute("both", { input: {} })), "suspension");
    expect(suspension).toMatchObject({ suspendedStepIndex: 0, stepPath: "fork/left", stepId: "left" });
  });
});

describe("a workflow that fails on the server", () => {
  test("is 500 `Failed to execute workflow`, without the step's error", async () => {
    const answer = await execute("failing", { input: {} });
    expect(errorOf(answer, 500)).toBe("Failed to execute workflow");
    expect(answer.text).not.toContain("hunter2");
  });

  test("names the execution in x-execution-id, and its state is error", async () => {
    const answer = await execute("failing", { input: {} });
    const executionId = answer.headers.get("x-execution-id");
    expect(executionId).toMatch(uuid7);
    const state = dataOf(await server.get(`/workflows/failing/executions/${executionId}/state`));
    expect(state).toMatchObject({ status: "error", result: null, endAt: timestamp });
  });
});

describe("the input", () => {
  test.each([
    ["wrong type", { input: { a: "two" } }, /^Input validation failed: a: .*expected number/],
    ["missing field", { input: {} }, /^Input validation failed: a: /],
    ["null", { input: null }, /^Input validation failed: .*expected object/],
    ["array", { input: [1] }, /^Input validation failed: .*expected object/],
    ["missing altogether", {}, /^Input validation failed: input: required$/],
  ])("%s is 400 `Input validation failed: <detail>`, and nothing is started", async (_, body, message) => {
    const before = await countExecutions(server);
    const answer = await execute("sum", body);
    expect(errorOf(answer, 400)).toMatch(message);
    expect(answer.headers.get("x-execution-id")).toBeNull();
    expect(await countExecutions(server)).toBe(before);
  });

  test("of null reaches a schema that takes it", async () => {
    const data = dataOf(await execute("mirror", { input: null }));
    expect(data.result).toMatchObject({ data: null });
  });
});

describe("options", () => {
  test("userId, conversationId and context reach the steps", async () => {
    const options = {
      userId: "ada",
      conversationId: "c-1",
      context: { tier: "gold", nested: { deep: [1] } },
    };
    const data = dataOf(await execute("mirror", { input: {}, options }));
    expect(data.result).toMatchObject({
      userId: "ada",
      conversationId: "c-1",
      context: { tier: "gold", nested: { deep: [1] } },
    });
  });

  test("executionId is the id of the execution", async () => {
    const answer = await execute("sum", { input: { a: 1 }, options: { executionId: "my-own" } });
    expect(dataOf(answer).executionId).toBe("my-own");
    expect(answer.headers.get("x-execution-id")).toBe("my-own");
    const state = dataOf(await server.get("/workflows/sum/executions/my-own/state"));
    expect(state).toMatchObject({ executionId: "my-own", status: "completed" });
  });

  test("are optional, and null counts as absent, also for each of them", async () => {
    expect(dataOf(await execute("sum", { input: { a: 1 }, options: null })).status).toBe("completed");
    const nothing = { userId: null, conversationId: null, executionId: null, context: null };
    expect(dataOf(await execute("sum", { input: { a: 1 }, options: nothing })).executionId).toMatch(uuid7);
  });

  test("without executionId each call makes an execution of its own", async () => {
    const first = dataOf(await execute("sum", { input: { a: 1 } }));
    const second = dataOf(await execute("sum", { input: { a: 1 } }));
    expect(first.executionId).not.toBe(second.executionId);
  });
});

describe("the same executionId again", () => {
  test("with the same workflow, input and user answers as that execution does", async () => {
    const body = { input: { b: 1, a: 7 }, options: { executionId: "again", userId: "ada" } };
    const first = dataOf(await execute("sum", body));
    const reordered = { input: { a: 7, b: 1 }, options: { executionId: "again", userId: "ada" } };
    expect(dataOf(await execute("sum", reordered))).toEqual(first);
  });

  test("of one that waits answers with its suspension", async () => {
    const body = { input: { topic: "x" }, options: { executionId: "again-suspended" } };
    const first = dataOf(await execute("approval", body));
    expect(dataOf(await execute("approval", body))).toEqual(first);
  });

  test("of one that failed is 500 again", async () => {
    const body = { input: {}, options: { executionId: "again-failed" } };
    errorOf(await execute("failing", body), 500);
    expect(errorOf(await execute("failing", body), 500)).toBe("Failed to execute workflow");
  });

  test("of one that runs waits for it, and the body runs once", async () => {
    const body = { input: { door: "again" }, options: { executionId: "again-running" } };
    const first = execute("gated", body);
    await gates.arrival("again");
    const second = execute("gated", body);
    gates.open("again");
    const data = dataOf(await first);
    expect(dataOf(await second)).toEqual(data);
    expect(gates.arrivals.get("again")).toBe(1);
  });

  test.each([
    ["another input", "sum", { a: 2 }, undefined],
    ["another user", "sum", { a: 1 }, "eve"],
    ["another workflow", "mirror", { a: 1 }, undefined],
  ])("with %s is 409 without details of the other", async (_, workflow, input, userId) => {
    const options = { executionId: "taken" };
    dataOf(await execute("sum", { input: { a: 1 }, options }));
    const message = errorOf(await execute(workflow, { input, options: { ...options, userId } }), 409);
    expect(message).toBe("Execution id taken is already in use");
  });
});

test("x-execution-id names the execution on a success", async () => {
  const answer = await execute("sum", { input: { a: 1 } });
  expect(answer.headers.get("x-execution-id")).toBe(dataOf(answer).executionId);
});

test("an unknown workflow is 404 `Workflow <id> not found`", async () => {
  expect(errorOf(await execute("nope", { input: {} }), 404)).toBe("Workflow nope not found");
});

test("more executions than the limit allows are 503 with Retry-After, and none is left behind", async () => {
  const small = await serveForTest({ limits: { running: 1 } });
  onTestFinished(() => gates.open("full"));
  const first = small.post("/workflows/gated/execute", { input: { door: "full" } });
  await gates.arrival("full");
  const refused = await small.post("/workflows/sum/execute", { input: { a: 1 } });
  expect(errorOf(refused, 503)).toMatch(/limit 1/);
  expect(refused.headers.get("retry-after")).toBe("1");
  expect(await countExecutions(small)).toBe(1);
  gates.open("full");
  expect(dataOf(await first).status).toBe("completed");
});

describe("Idempotency-Key", () => {
  const start = (key: string, body: object, path = "/workflows/sum/execute") =>
    server.post(path, body, { "idempotency-key": key });

  test("is another name of options.executionId: the repeated start is the same execution", async () => {
    const first = dataOf(await start("key-1", { input: { a: 4 } }));
    expect(first).toMatchObject({ executionId: "key-1", result: { total: 5 } });
    expect(dataOf(await start("key-1", { input: { a: 4 } }))).toEqual(first);
    expect(errorOf(await start("key-1", { input: { a: 5 } }), 409)).toContain("key-1");
  });

  test("may be in quotation marks, and equal to options.executionId", async () => {
    const body = { input: { a: 4 }, options: { executionId: "key-2", tags: ["keyed"] } };
    expect(dataOf(await start('"key-2"', body))).toMatchObject({ executionId: "key-2" });
  });

  test("starts the stream of one execution", async () => {
    const response = await start("key-3", { input: { a: 4 } }, "/workflows/sum/stream");
    expect([response.status, response.headers.get("x-execution-id")]).toEqual([200, "key-3"]);
  });

  test.each([
    ["", { input: { a: 4 } }],
    ["..", { input: { a: 4 } }],
    ["key-4", { input: { a: 4 }, options: { executionId: "other" } }],
  ])("%j with %j is 400 and starts nothing", async (key, body) => {
    errorOf(await start(key, body), 400);
    expect((await server.get("/workflows/sum/executions/key-4/state")).status).toBe(404);
  });
});
