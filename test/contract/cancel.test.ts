// POST /workflows/:id/executions/:executionId/cancel
import { describe, expect, test } from "vitest";
import { startApproval, startGated } from "../support/executions.ts";
import { gates } from "../support/gates.ts";
import { dataOf, errorOf, payloadOf, timestamp } from "../support/responses.ts";
import { serveForTest } from "../support/serve-for-test.ts";

const server = await serveForTest();

const at = (workflow: string, executionId: unknown, what = "cancel") =>
  `/workflows/${workflow}/executions/${executionId}/${what}`;

test("a running execution becomes cancelled, and the later output of its body is not kept", async () => {
  const executionId = await startGated(server, "cancel");
  const data = dataOf(await server.post(at("gated", executionId)));
  expect(data).toEqual({
    executionId,
    startAt: timestamp,
    endAt: timestamp,
    status: "cancelled",
    result: null,
  });
  gates.open("cancel");
  const state = dataOf(await server.get(at("gated", executionId, "state")));
  expect(state).toMatchObject({ status: "cancelled", result: null });
});

test("a waiting caller gets 200 with status cancelled", async () => {
  const options = { executionId: "cancel-waiting" };
  const waiting = server.post("/workflows/gated/execute", { input: { door: "cancel-wait" }, options });
  await gates.arrival("cancel-wait");
  const data = dataOf(await server.post(at("gated", "cancel-waiting")));
  expect(dataOf(await waiting)).toEqual(data);
  gates.open("cancel-wait");
});

test("a suspended execution becomes cancelled and waits no longer", async () => {
  const { executionId } = await startApproval(server);
  expect(dataOf(await server.post(at("approval", executionId)))).toMatchObject({ status: "cancelled" });
  const state = dataOf(await server.get(at("approval", executionId, "state")));
  expect(state.status).toBe("cancelled");
  expect(state).not.toHaveProperty("suspension");
  expect(state).not.toHaveProperty("suspensions");
});

test("the reason is kept in the journal", async () => {
  const { executionId } = await startApproval(server);
  dataOf(await server.post(at("approval", executionId), { reason: "not needed" }));
  const events = payloadOf(await server.get(at("approval", executionId, "events")));
  expect(events).toContainEqual(
    expect.objectContaining({ type: "workflow-cancelled", reason: "not needed", timestamp }),
  );
});

describe("an execution that has ended is 400 and unchanged:", () => {
  test("completed", async () => {
    const { executionId } = dataOf(await server.post("/workflows/sum/execute", { input: { a: 1 } }));
    const message = errorOf(await server.post(at("sum", executionId)), 400);
    expect(message).toBe(`Execution ${executionId} cannot be cancelled: it is already completed`);
    expect(dataOf(await server.get(at("sum", executionId, "state"))).status).toBe("completed");
  });

  test("error", async () => {
    const answer = await server.post("/workflows/failing/execute", { input: {} });
    errorOf(await server.post(at("failing", answer.headers.get("x-execution-id"))), 400);
  });

  test("cancelled", async () => {
    const { executionId } = await startApproval(server);
    dataOf(await server.post(at("approval", executionId)));
    expect(errorOf(await server.post(at("approval", executionId)), 400)).toMatch(/already cancelled$/);
  });
});

test("of ten simultaneous cancels one wins", async () => {
  const { executionId } = await startApproval(server);
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => server.post(at("approval", executionId))),
  );
  expect(answers.map((answer) => answer.status).sort()).toEqual([
    200,
    ...Array.from({ length: 9 }, () => 400),
  ]);
});

test("an unknown execution, and one of another workflow, is 404", async () => {
  const { executionId } = await startApproval(server);
  errorOf(await server.post(at("approval", "nope")), 404);
  errorOf(await server.post(at("sum", executionId)), 404);
  expect(dataOf(await server.get(at("approval", executionId, "state"))).status).toBe("suspended");
});
