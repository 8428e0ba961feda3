// GET /workflows/:id/executions/:executionId/state
import { expect, test } from "vitest";
import { ended, startApproval, startGated } from "../support/executions.ts";
import { gates } from "../support/gates.ts";
import { dataOf, errorOf, timestamp } from "../support/responses.ts";
import { serveForTest } from "../support/serve-for-test.ts";
import { temporaryFile } from "../support/temporary-file.ts";

const server = await serveForTest();

const stateOf = async (workflow: string, executionId: unknown, on = server) =>
  dataOf(await on.get(`/workflows/${workflow}/executions/${executionId}/state`));

test("a suspended execution shows where it waits: suspendedAt, reason, stepIndex, stepId", async () => {
  const { executionId, startAt } = await startApproval(server);
  const state = await stateOf("approval", executionId);
  expect(state).toMatchObject({ executionId, workflowId: "approval", status: "suspended", startAt });
  expect(state.suspension).toMatchObject({
    suspendedAt: timestamp,
    reason: "Waiting for approval",
    stepIndex: 1,
    stepId: "approve",
  });
});

test("suspension is present only when suspended", async () => {
  const executionId = await startGated(server, "state");
  const running = await stateOf("gated", executionId);
  expect(running).toMatchObject({ status: "running", endAt: null, result: null });
  expect(running).not.toHaveProperty("suspension");
  gates.open("state");
  await ended(server, "gated", executionId);
  const completed = await stateOf("gated", executionId);
  expect(completed).toMatchObject({ status: "completed", endAt: timestamp, result: { passed: "state" } });
  expect(completed).not.toHaveProperty("suspension");
});

test("input is the execution's input, as the caller sent it", async () => {
  const { executionId } = dataOf(
    await server.post("/workflows/sum/execute", { input: { a: 4, extra: true } }),
  );
  expect((await stateOf("sum", executionId)).input).toEqual({ a: 4, extra: true });
});

test("context is a plain object: options.context with the user tracking data", async () => {
  const options = { userId: "ada", conversationId: "c-9", context: { tier: "gold" } };
  const { executionId } = await startApproval(server, options);
  const { context } = await stateOf("approval", executionId);
  expect(context).toEqual({ tier: "gold", userId: "ada", conversationId: "c-9" });
});

test("context is an empty object when the caller gave none", async () => {
  const { executionId } = await startApproval(server);
  expect((await stateOf("approval", executionId)).context).toEqual({});
});

test("several waiting steps are all listed; suspension is the first", async () => {
  const { executionId } = dataOf(await server.post("/workflows/both/execute", { input: {} }));
  const state = await stateOf("both", executionId);
  expect(state.suspensions).toEqual([
    expect.objectContaining({ stepPath: "fork/left", stepIndex: 0 }),
    expect.objectContaining({ stepPath: "fork/right", stepIndex: 0 }),
  ]);
  expect(state.suspension).toMatchObject({ stepPath: "fork/left" });
});

test("a failed execution is error, in words for everyone", async () => {
  const answer = await server.post("/workflows/failing/execute", { input: {} });
  const state = await stateOf("failing", answer.headers.get("x-execution-id"));
  expect(state).toMatchObject({ status: "error", error: "Failed to execute workflow", result: null });
  expect(JSON.stringify(state)).not.toContain("hunter2");
});

test("an unknown workflow is 404 `Workflow <id> not found`", async () => {
  expect(errorOf(await server.get("/workflows/nope/executions/x/state"), 404)).toBe(
    "Workflow nope not found",
  );
});

test("an unknown execution is 404", async () => {
  expect(errorOf(await server.get("/workflows/sum/executions/x/state"), 404)).toBe("Execution x not found");
});

test("an execution of another workflow is 404", async () => {
  const { executionId } = await startApproval(server);
  errorOf(await server.get(`/workflows/sum/executions/${executionId}/state`), 404);
});

test("state, context and suspension survive a restart, and the execution can be resumed after it", async () => {
  const file = temporaryFile();
  const options = { executionId: "kept", userId: "ada", context: { tier: "gold" } };
  let running = await serveForTest({ store: file.open() });
  await startApproval(running, options);
  const before = await stateOf("approval", "kept", running);
  await running.close();
  running = await serveForTest({ store: file.open() });
  expect(await stateOf("approval", "kept", running)).toEqual(before);
  const resumed = await running.post("/workflows/approval/executions/kept/resume", {
    resumeData: { approved: true },
  });
  expect(dataOf(resumed)).toMatchObject({ status: "completed", result: { published: true } });
  expect((await stateOf("approval", "kept", running)).context).toEqual(before.context);
});
