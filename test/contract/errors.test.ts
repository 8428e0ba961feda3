// The contract's tables "States and transitions" and "Errors", row by row (for workflows), and the order of checks.
import { describe, expect, test } from "vitest";
import { typesOf } from "../support/event-reader.ts";
import { startApproval, startGated } from "../support/executions.ts";
import { gates } from "../support/gates.ts";
import { dataOf, errorOf, fieldsOf, type TestResponse, timestamp } from "../support/responses.ts";
import { serveForTest } from "../support/serve-for-test.ts";

const server = await serveForTest();

const at = (workflow: string, executionId: unknown, what: string) =>
  `/workflows/${workflow}/executions/${executionId}/${what}`;
const statusOf = async (workflow: string, executionId: unknown) =>
  dataOf(await server.get(at(workflow, executionId, "state"))).status;

describe("States and transitions", () => {
  test("(new execution), execute, runs to the end: completed, with result and endAt", async () => {
    const data = dataOf(await server.post("/workflows/sum/execute", { input: { a: 1 } }));
    expect(data).toMatchObject({ status: "completed", result: { total: 2 }, endAt: timestamp });
    expect(await statusOf("sum", data.executionId)).toBe("completed");
  });

  test("(new execution), execute, a step suspends: suspended, with a suspension, result null, endAt null", async () => {
    const data = dataOf(await server.post("/workflows/approval/execute", { input: { topic: "x" } }));
    expect(data).toMatchObject({ status: "suspended", result: null, endAt: null });
    expect(fieldsOf(data, "suspension")).toMatchObject({ suspendedAt: timestamp, suspendedStepIndex: 1 });
    expect(await statusOf("approval", data.executionId)).toBe("suspended");
  });

  test("running, suspend, suspendable: suspended, with the given reason and suspendedAt", async () => {
    const id = await startGated(server, "table-suspend");
    expect(await statusOf("gated", id)).toBe("running");
    const data = dataOf(await server.post(at("gated", id, "suspend"), { reason: "because" }));
    expect(data).toMatchObject({
      status: "suspended",
      suspension: { reason: "because", suspendedAt: timestamp },
    });
    expect(await statusOf("gated", id)).toBe("suspended");
    gates.open("table-suspend");
  });

  test("suspended, resume, valid data: completed, with result and endAt", async () => {
    const { executionId } = await startApproval(server);
    const body = { resumeData: { approved: true } };
    const data = dataOf(await server.post(at("approval", executionId, "resume"), body));
    expect(data).toMatchObject({ status: "completed", result: { approved: true }, endAt: timestamp });
    expect(await statusOf("approval", executionId)).toBe("completed");
  });

  test("completed or suspended, suspend: unchanged, 400", async () => {
    const done = dataOf(await server.post("/workflows/sum/execute", { input: { a: 1 } }));
    errorOf(await server.post(at("sum", done.executionId, "suspend"), { reason: "r" }), 400);
    expect(await statusOf("sum", done.executionId)).toBe("completed");
    const waiting = await startApproval(server);
    errorOf(await server.post(at("approval", waiting.executionId, "suspend"), { reason: "r" }), 400);
    expect(await statusOf("approval", waiting.executionId)).toBe("suspended");
  });

  test("any execution not in suspended state, or unknown, resume: unchanged, 404", async () => {
    const done = dataOf(await server.post("/workflows/sum/execute", { input: { a: 1 } }));
    errorOf(await server.post(at("sum", done.executionId, "resume"), { resumeData: 1 }), 404);
    expect(await statusOf("sum", done.executionId)).toBe("completed");
    const running = await startGated(server, "table-resume");
    errorOf(await server.post(at("gated", running, "resume"), { resumeData: 1 }), 404);
    expect(await statusOf("gated", running)).toBe("running");
    gates.open("table-resume");
    errorOf(await server.post(at("sum", "unknown", "resume"), { resumeData: 1 }), 404);
  });

  test("(new execution), stream: per the events emitted", async () => {
    const stream = await server.stream("/workflows/sum/stream", { input: { a: 1 } });
    const events = await stream.rest();
    expect(typesOf(events)[0]).toBe("workflow-start");
    expect(events.at(-1)).toMatchObject({ type: "workflow-result", status: "completed" });
    expect(await statusOf("sum", stream.headers.get("x-execution-id"))).toBe("completed");
  });
});

describe("Errors", () => {
  test.each([
    ["GET", "/workflows/no such"],
    ["GET", "/workflows/no such/executions"],
    ["GET", "/workflows/no such/executions/x/state"],
    ["GET", "/workflows/no such/executions/x/events"],
    ["GET", "/workflows/no such/executions/x/stream"],
    ["POST", "/workflows/no such/execute"],
    ["POST", "/workflows/no such/stream"],
    ["POST", "/workflows/no such/executions/x/suspend"],
    ["POST", "/workflows/no such/executions/x/resume"],
    ["POST", "/workflows/no such/executions/x/cancel"],
  ])("404 workflow unknown, `Workflow <id> not found`: %s %s", async (method, path) => {
    const url = encodeURI(path);
    const answer = method === "GET" ? await server.get(url) : await server.post(url, { input: {} });
    expect(errorOf(answer, 404)).toBe("Workflow no such not found");
  });

  test("404 suspend/resume: execution not found (resume: or not suspended)", async () => {
    errorOf(await server.post(at("sum", "x", "suspend"), { reason: "r" }), 404);
    errorOf(await server.post(at("sum", "x", "resume"), { resumeData: 1 }), 404);
    const done = dataOf(await server.post("/workflows/sum/execute", { input: { a: 1 } }));
    errorOf(await server.post(at("sum", done.executionId, "resume"), { resumeData: 1 }), 404);
  });

  test("400 workflow input fails validation, `Input validation failed: <detail>`", async () => {
    const body = { input: { a: "x" } };
    for (const what of ["execute", "stream"]) {
      expect(errorOf(await server.post(`/workflows/sum/${what}`, body), 400)).toMatch(
        /^Input validation failed: a: \S/,
      );
    }
  });

  test("400 suspend: workflow not in a suspendable state", async () => {
    const { executionId } = await startApproval(server);
    errorOf(await server.post(at("approval", executionId, "suspend"), { reason: "r" }), 400);
  });

  test("400 resume: resume data fails schema validation", async () => {
    const { executionId } = await startApproval(server);
    errorOf(await server.post(at("approval", executionId, "resume"), { resumeData: { approved: 1 } }), 400);
  });

  test("500 workflow execution fails on the server, `Failed to execute workflow`", async () => {
    const answer = await server.post("/workflows/failing/execute", { input: {} });
    expect(errorOf(answer, 500)).toBe("Failed to execute workflow");
  });
});

describe("the order of checks", () => {
  const raw = async (path: string, body: string): Promise<TestResponse> => {
    const response = await fetch(server.url + path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
    });
    return { status: response.status, headers: response.headers, text: await response.text() };
  };

  test.each(["execute", "stream", "executions/x/suspend", "executions/x/resume", "executions/x/cancel"])(
    "an unknown workflow is 404 before a malformed body is 400: %s",
    async (what) => {
      expect(errorOf(await raw(`/workflows/nope/${what}`, "{"), 404)).toBe("Workflow nope not found");
    },
  );

  test.each(["suspend", "resume", "cancel"])(
    "a malformed body, or one of the wrong shape, is 400 before an unknown execution is 404: %s",
    async (what) => {
      errorOf(await raw(at("sum", "unknown", what), "{"), 400);
      errorOf(await raw(at("sum", "unknown", what), '{"reason":1,"options":1}'), 400);
      errorOf(await raw(at("sum", "unknown", what), "{}"), 404);
    },
  );

  test("an execution of another workflow is 404 before its state is 400 or 404", async () => {
    const done = dataOf(await server.post("/workflows/sum/execute", { input: { a: 1 } }));
    for (const what of ["suspend", "cancel", "resume"]) {
      const message = errorOf(await server.post(at("approval", done.executionId, what)), 404);
      expect(message).toBe(`Execution ${done.executionId} not found`);
    }
  });

  test("the state is 404 before a wrong stepId, suspensionId or wrong data is 400", async () => {
    const { executionId } = await startApproval(server);
    const path = at("approval", executionId, "resume");
    const wrong = { resumeData: { approved: "x" }, options: { stepId: "nope" } };
    dataOf(await server.post(path, { resumeData: { approved: true } }));
    expect(errorOf(await server.post(path, wrong), 404)).toBe(`Execution ${executionId} is not suspended`);
  });

  test("a wrong stepId is 400 before wrong data is 400, and both leave the execution suspended", async () => {
    const { executionId } = await startApproval(server);
    const path = at("approval", executionId, "resume");
    const both = { resumeData: { approved: "x" }, options: { stepId: "nope" } };
    expect(errorOf(await server.post(path, both), 400)).toMatch(/"nope"/);
    expect(errorOf(await server.post(path, { resumeData: { approved: "x" } }), 400)).toMatch(/approved/);
    expect(await statusOf("approval", executionId)).toBe("suspended");
  });

  test("the input is 400 before an id in use for something else is 409", async () => {
    const options = { executionId: "ordered" };
    dataOf(await server.post("/workflows/sum/execute", { input: { a: 1 }, options }));
    const wrong = { input: { a: "x" }, options };
    expect(errorOf(await server.post("/workflows/sum/execute", wrong), 400)).toMatch(/^Input validation/);
  });
});
