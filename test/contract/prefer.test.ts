// Prefer: respond-async and wait=N (RFC 7240) on execute and resume
import { describe, expect, test } from "vitest";
import { ended, startApproval } from "../support/executions.ts";
import { gates } from "../support/gates.ts";
import { dataOf, errorOf, type TestResponse, textOf, timestamp } from "../support/responses.ts";
import { serveForTest } from "../support/serve-for-test.ts";

const server = await serveForTest();

const execute = (door: string, prefer: string, options = {}) =>
  server.post("/workflows/gated/execute", { input: { door }, options }, { prefer });

function expectUnderWay(answer: TestResponse, workflow: string): string {
  const data = dataOf(answer, 202);
  expect(data).toEqual({
    executionId: expect.any(String),
    startAt: timestamp,
    endAt: null,
    status: "running",
    result: null,
  });
  const executionId = textOf(data, "executionId");
  expect(answer.headers.get("location")).toBe(`/workflows/${workflow}/executions/${executionId}/state`);
  expect(answer.headers.get("x-execution-id")).toBe(executionId);
  return executionId;
}

describe("respond-async", () => {
  test("on execute answers 202 at once: status running, Location of the state, x-execution-id", async () => {
    const answer = await execute("async", "respond-async");
    const executionId = expectUnderWay(answer, "gated");
    const state = await server.get(answer.headers.get("location") ?? "");
    expect(dataOf(state)).toMatchObject({ executionId, status: "running" });
    gates.open("async");
    expect(await ended(server, "gated", executionId)).toMatchObject({ status: "completed" });
  });

  test("on a start that is repeated after the execution came to rest answers 200 with its state", async () => {
    gates.open("repeated");
    const options = { executionId: "prefer-repeated" };
    const first = dataOf(await execute("repeated", "wait=30", options));
    expect(first).toMatchObject({ status: "completed" });
    expect(dataOf(await execute("repeated", "respond-async", options))).toEqual(first);
  });

  test("on resume responds 202 at once; the execution continues by itself", async () => {
    const { executionId } = await startApproval(server);
    const path = `/workflows/approval/executions/${executionId}/resume`;
    const answer = await server.post(path, { resumeData: { approved: true } }, { prefer: "respond-async" });
    expect(expectUnderWay(answer, "approval")).toBe(executionId);
    expect(await ended(server, "approval", textOf({ executionId }, "executionId"))).toMatchObject({
      status: "completed",
    });
  });

  test.each(["RESPOND-ASYNC", "handling=lenient, respond-async", 'respond-async; foo="bar"'])(
    "is understood as RFC 7240 writes it: %s",
    async (prefer) => {
      expectUnderWay(await execute(`async ${prefer}`, prefer), "gated");
      gates.open(`async ${prefer}`);
    },
  );

  test("does not hide errors: they are answered as ever", async () => {
    const prefer = { prefer: "respond-async" };
    errorOf(await server.post("/workflows/nope/execute", { input: {} }, prefer), 404);
    errorOf(await server.post("/workflows/sum/execute", { input: {} }, prefer), 400);
    errorOf(await server.post("/workflows/sum/executions/x/resume", {}, prefer), 404);
  });

  test("has a Location that can be followed also when the id needs encoding", async () => {
    const options = { executionId: "a/b ü%" };
    const answer = await execute("async-encoded", "respond-async", options);
    expect(answer.headers.get("x-execution-id")).toBe(encodeURIComponent("a/b ü%"));
    const state = dataOf(await server.get(answer.headers.get("location") ?? ""));
    expect(state.executionId).toBe("a/b ü%");
    gates.open("async-encoded");
  });
});

describe("wait=N", () => {
  test("answers 200 as soon as the execution rests within the time", async () => {
    const answer = server.post("/workflows/sum/execute", { input: { a: 1 } }, { prefer: "wait=20" });
    expect(dataOf(await answer)).toMatchObject({ status: "completed", result: { total: 2 } });
    const suspended = await server.post(
      "/workflows/approval/execute",
      { input: { topic: "x" } },
      { prefer: "respond-async, wait=20" },
    );
    expect(dataOf(suspended)).toMatchObject({ status: "suspended" });
  });

  test.each(["wait=1", "respond-async, wait=1", 'wait="1"', "Wait = 1"])(
    "responds 202 when the time is up: %s",
    async (prefer) => {
      const begin = performance.now();
      const executionId = expectUnderWay(await execute(prefer, prefer), "gated");
      expect(performance.now() - begin).toBeGreaterThanOrEqual(990);
      gates.open(prefer);
      expect(await ended(server, "gated", executionId)).toMatchObject({ status: "completed" });
    },
  );

  test("on resume waits that long, too", async () => {
    const door = "wait-resume";
    const { executionId } = dataOf(
      await server.post("/workflows/gated-approval/execute", { input: { door } }),
    );
    const path = `/workflows/gated-approval/executions/${executionId}/resume`;
    expectUnderWay(await server.post(path, { resumeData: 1 }, { prefer: "wait=1" }), "gated-approval");
    gates.open(door);
  });

  test("answers a failure within the time with 500", async () => {
    const answer = await server.post("/workflows/failing/execute", { input: {} }, { prefer: "wait=20" });
    expect(errorOf(answer, 500)).toBe("Failed to execute workflow");
  });
});

test.each([
  "wait=soon",
  "wait=-1",
  "wait=",
  "return=minimal",
  "",
  "foo; wait=0",
  "foo; respond-async",
  "xrespond-async",
])("a preference that is not understood is ignored: %s", async (prefer) => {
  const answer = await server.post("/workflows/sum/execute", { input: { a: 1 } }, { prefer });
  expect(dataOf(answer)).toMatchObject({ status: "completed" });
});
