// POST /workflows/:id/stream
import { describe, expect, test } from "vitest";
import { typesOf } from "../support/event-reader.ts";
import { countExecutions, ended } from "../support/executions.ts";
import { gates } from "../support/gates.ts";
import { dataOf, errorOf, type Fields, fieldsOf, textOf, timestamp } from "../support/responses.ts";
import { serveForTest } from "../support/serve-for-test.ts";

const server = await serveForTest();

const open = (id: string, body: Fields) => server.stream(`/workflows/${id}/stream`, body);
const events = async (id: string, body: Fields) => (await open(id, body)).rest();
const last = (list: readonly Fields[]) => list.at(-1) ?? {};

describe("the response", () => {
  test("is text/event-stream that no proxy may buffer or change", async () => {
    const stream = await open("sum", { input: { a: 1 } });
    expect(stream.status).toBe(200);
    expect(stream.headers.get("content-type")).toMatch(/^text\/event-stream(;|$)/);
    expect(stream.headers.get("cache-control")).toBe("no-cache, no-transform");
    expect(stream.headers.get("x-accel-buffering")).toBe("no");
    await stream.rest();
  });

  test("names the execution in x-execution-id, the same one as its events", async () => {
    const stream = await open("sum", { input: { a: 1 } });
    const ids = new Set((await stream.rest()).map((event) => event.executionId));
    expect([...ids]).toEqual([stream.headers.get("x-execution-id")]);
  });

  test("is, byte by byte, one line `data: <JSON event>` and a blank line for each event", async () => {
    const response = await fetch(`${server.url}/workflows/sum/stream`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ input: { a: 1 } }),
    });
    const text = await response.text();
    expect(text).toMatch(/^(?:data: \{[^\n\r]*\}\n\n)+$/);
    expect(text.split("\n\n").length - 1).toBe(7);
  });

  test("stays one line when values hold line breaks, quotes and other letters", async () => {
    const nasty = "a\n\ndata: {}\r\nid: 1\u2028\u2029\0 ü 🎹";
    const list = await events("mirror", { input: nasty });
    expect(fieldsOf(last(list), "result").data).toBe(nasty);
  });
});

describe("the events of a workflow that completes", () => {
  test("are workflow-start, step-start and step-complete of each step, workflow-complete, workflow-result", async () => {
    const list = await events("sum", { input: { a: 1 } });
    expect(list.map((event) => [event.type, event.from])).toEqual([
      ["workflow-start", undefined],
      ["step-start", "add"],
      ["step-complete", "add"],
      ["step-start", "wrap"],
      ["step-complete", "wrap"],
      ["workflow-complete", undefined],
      ["workflow-result", undefined],
    ]);
  });

  test("each carry type, executionId and an ISO 8601 timestamp; step events carry from", async () => {
    const list = await events("everything", { input: { text: "ab" } });
    for (const event of list) {
      expect(event).toMatchObject({ type: expect.any(String), executionId: expect.any(String), timestamp });
      const isStep = /^(step|checkpoint)-/.test(textOf(event, "type"));
      expect(typeof event.from, textOf(event, "type")).toBe(isStep ? "string" : "undefined");
    }
  });

  test("are numbered without a gap, in the order of the journal; workflow-result alone has no number", async () => {
    const list = await events("everything", { input: { text: "ab" } });
    const numbers = list.slice(0, -1).map((event) => event.sequence);
    expect(numbers).toEqual(list.slice(0, -1).map((_, index) => index + 1));
    expect(last(list)).not.toHaveProperty("sequence");
  });

  test("have the input, output, position and type of each step", async () => {
    const list = await events("sum", { input: { a: 1 } });
    expect(list[1]).toMatchObject({
      type: "step-start",
      from: "add",
      stepPath: "add",
      stepIndex: 0,
      stepType: "andThen",
      input: { a: 1, b: 1 },
    });
    expect(list[2]).toMatchObject({ type: "step-complete", from: "add", stepIndex: 0, output: 2 });
  });

  test("end with workflow-result, which holds the execution result", async () => {
    const list = await events("sum", { input: { a: 1 } });
    expect(last(list)).toEqual({
      type: "workflow-result",
      executionId: list[0]?.executionId,
      timestamp,
      status: "completed",
      result: { total: 2 },
      startAt: list[0]?.timestamp,
      endAt: timestamp,
    });
  });

  test("show the steps inside containers and sub-workflows", async () => {
    const list = await events("everything", { input: { text: "ab" } });
    const paths = new Set(list.map((event) => event.stepPath));
    for (const path of ["when/shorten", "all/one", "all/two", "race/fast", "workflow/inner"]) {
      expect(paths).toContain(path);
    }
  });
});

describe("the events of a workflow that suspends", () => {
  test("end with workflow-suspended, which holds the suspension, and workflow-result; then the stream closes", async () => {
    const list = await events("approval", { input: { topic: "x" } });
    expect(typesOf(list).slice(-3)).toEqual(["step-suspended", "workflow-suspended", "workflow-result"]);
    const suspension = { suspendedAt: timestamp, reason: "Waiting for approval", suspendedStepIndex: 1 };
    expect(list.at(-2)).toMatchObject({ suspension });
    expect(list.at(-2)).not.toHaveProperty("from");
    expect(last(list)).toMatchObject({ status: "suspended", result: null, endAt: null, suspension });
  });

  test("from outside end so at once, while the body is still in flight", async () => {
    const stream = await open("gated", { input: { door: "paused-stream" } });
    await gates.arrival("paused-stream");
    const executionId = stream.headers.get("x-execution-id");
    dataOf(await server.post(`/workflows/gated/executions/${executionId}/suspend`, { reason: "lunch" }));
    const list = await stream.rest();
    expect(typesOf(list).slice(-2)).toEqual(["workflow-suspended", "workflow-result"]);
    expect(last(list)).toMatchObject({ status: "suspended", suspension: { reason: "lunch" } });
    gates.open("paused-stream");
  });
});

describe("the events of a workflow that fails", () => {
  test("end with workflow-error, which holds a text, and workflow-result with status error", async () => {
    const list = await events("failing", { input: {} });
    expect(typesOf(list).slice(-3)).toEqual(["step-error", "workflow-error", "workflow-result"]);
    expect(list.at(-2)).toMatchObject({ type: "workflow-error", error: "Failed to execute workflow" });
    expect(last(list)).toMatchObject({ status: "error", result: null, error: "Failed to execute workflow" });
    expect(JSON.stringify(list)).not.toContain("hunter2");
  });
});

test("events of a cancelled execution end with workflow-cancelled, workflow-result", async () => {
  const stream = await open("gated", { input: { door: "cancelled-stream" } });
  await gates.arrival("cancelled-stream");
  const executionId = stream.headers.get("x-execution-id");
  dataOf(await server.post(`/workflows/gated/executions/${executionId}/cancel`));
  const list = await stream.rest();
  expect(typesOf(list).slice(-2)).toEqual(["workflow-cancelled", "workflow-result"]);
  expect(last(list)).toMatchObject({ status: "cancelled", result: null, endAt: timestamp });
  gates.open("cancelled-stream");
});

test("each event is sent at once: the first ones arrive while a later step is still blocked", async () => {
  const stream = await open("gated", { input: { door: "flushed" } });
  const seen = [await stream.next(), await stream.next(), await stream.next(), await stream.next()];
  expect(seen.map((event) => event?.type)).toEqual([
    "workflow-start",
    "step-start",
    "step-complete",
    "step-start",
  ]);
  const state = dataOf(await server.get(`/workflows/gated/executions/${seen[0]?.executionId}/state`));
  expect(state.status).toBe("running");
  gates.open("flushed");
  expect(typesOf(await stream.rest()).at(-1)).toBe("workflow-result");
});

test("a client that drops does not stop the execution", async () => {
  const stream = await open("gated", { input: { door: "dropped" } });
  await stream.until("step-complete");
  const executionId = stream.headers.get("x-execution-id") ?? "";
  await stream.drop();
  gates.open("dropped");
  expect(await ended(server, "gated", executionId)).toMatchObject({ status: "completed" });
});

test("options are the same as of execute, the idempotent executionId included", async () => {
  const body = { input: { a: 3 }, options: { executionId: "streamed", userId: "ada" } };
  const first = await events("sum", body);
  expect(first[0]?.executionId).toBe("streamed");
  const second = await events("sum", body);
  expect(second.slice(0, -1)).toEqual(first.slice(0, -1));
  expect(last(second)).toEqual({ ...last(first), timestamp });
  expect(dataOf(await server.post("/workflows/sum/execute", body)).result).toEqual({ total: 4 });
});

test("the stream of a resumed execution's id goes past the old suspension to the end", async () => {
  const body = { input: { topic: "x" }, options: { executionId: "streamed-resumed" } };
  await events("approval", body);
  const path = "/workflows/approval/executions/streamed-resumed/resume";
  dataOf(await server.post(path, { resumeData: { approved: true } }));
  const list = await events("approval", body);
  expect(typesOf(list)).toContain("workflow-resumed");
  expect(last(list)).toMatchObject({ type: "workflow-result", status: "completed" });
});

describe("errors before the first event are JSON envelopes", () => {
  test.each([
    ["404 unknown workflow", "nope", { input: {} }, 404, "Workflow nope not found"],
    ["400 missing input", "sum", {}, 400, "Input validation failed: input: required"],
    ["400 wrong option", "sum", { input: { a: 1 }, options: { userId: 5 } }, 400, /options\.userId/],
  ])("%s", async (_, workflow, body, status, message) => {
    const before = await countExecutions(server);
    const error = errorOf(await server.post(`/workflows/${workflow}/stream`, body), status);
    expect(error).toMatch(message);
    expect(await countExecutions(server)).toBe(before);
  });

  test("400 input that fails validation", async () => {
    const answer = await server.post("/workflows/sum/stream", { input: { a: "x" } });
    expect(errorOf(answer, 400)).toMatch(/^Input validation failed: a: /);
  });

  test("409 an id in use for something else", async () => {
    const options = { executionId: "stream-taken" };
    await events("sum", { input: { a: 1 }, options });
    errorOf(await server.post("/workflows/sum/stream", { input: { a: 2 }, options }), 409);
  });
});
