// POST /workflows/:id/executions/:executionId/suspend
import { describe, expect, test } from "vitest";
import { ended, startApproval, startGated } from "../support/executions.ts";
import { gates } from "../support/gates.ts";
import { dataOf, errorOf, textOf, timestamp } from "../support/responses.ts";
import { serveForTest } from "../support/serve-for-test.ts";

const server = await serveForTest();

const at = (workflow: string, executionId: string, what: string) =>
  `/workflows/${workflow}/executions/${executionId}/${what}`;

describe("a running execution", () => {
  test("becomes suspended; the suspension holds the given reason and suspendedAt", async () => {
    const id = await startGated(server, "suspend");
    const data = dataOf(await server.post(at("gated", id, "suspend"), { reason: "lunch" }));
    expect(data).toEqual({
      executionId: id,
      status: "suspended",
      suspension: expect.objectContaining({ suspendedAt: timestamp, reason: "lunch" }),
    });
    const state = dataOf(await server.get(at("gated", id, "state")));
    expect(state).toMatchObject({
      status: "suspended",
      suspension: { reason: "lunch", stepIndex: 1, stepId: "wait" },
    });
    gates.open("suspend");
  });

  test("answers the caller whose execute waits at once: suspended, with the same suspension", async () => {
    const options = { executionId: "suspend-waiting" };
    const waiting = server.post("/workflows/gated/execute", { input: { door: "suspend-wait" }, options });
    await gates.arrival("suspend-wait");
    const { suspension } = dataOf(
      await server.post(at("gated", "suspend-waiting", "suspend"), { reason: "r" }),
    );
    expect(dataOf(await waiting)).toMatchObject({
      status: "suspended",
      endAt: null,
      result: null,
      suspension,
    });
    gates.open("suspend-wait");
  });

  test("starts nothing new, but the body in flight may finish, and its work is not repeated", async () => {
    const id = await startGated(server, "suspend-finish");
    dataOf(await server.post(at("gated", id, "suspend"), {}));
    const stream = await server.stream(at("gated", id, "stream"));
    gates.open("suspend-finish");
    await stream.until("workflow-suspended");
    expect(await stream.next()).toMatchObject({ type: "step-complete", from: "wait" });
    expect(dataOf(await server.get(at("gated", id, "state"))).status).toBe("suspended");
    const resumed = dataOf(await server.post(at("gated", id, "resume")));
    expect(resumed).toMatchObject({ status: "completed", result: { passed: "suspend-finish" } });
    expect(gates.arrivals.get("suspend-finish")).toBe(1);
    await stream.rest();
  });

  test("may be resumed before the body in flight has finished", async () => {
    const id = await startGated(server, "suspend-early");
    dataOf(await server.post(at("gated", id, "suspend"), {}));
    const resumed = server.post(at("gated", id, "resume"));
    const stream = await server.stream(at("gated", id, "stream"));
    await stream.until("workflow-resumed");
    gates.open("suspend-early");
    expect(dataOf(await resumed)).toMatchObject({ status: "completed", result: { passed: "suspend-early" } });
    await stream.rest();
    expect(gates.arrivals.get("suspend-early")).toBe(1);
  });
});

describe("the body", () => {
  test.each([
    ["absent", undefined, "Suspended by request"],
    ["empty", {}, "Suspended by request"],
    ["null reason", { reason: null }, "Suspended by request"],
    ["empty reason", { reason: "" }, ""],
  ])("%s is taken", async (name, body, reason) => {
    const id = await startGated(server, `suspend-${name}`);
    const data = dataOf(await server.post(at("gated", id, "suspend"), body));
    expect(data).toMatchObject({ status: "suspended", suspension: { reason } });
    gates.open(`suspend-${name}`);
  });

  test("with a reason of the wrong type is 400 and suspends nothing", async () => {
    const id = await startGated(server, "suspend-type");
    expect(errorOf(await server.post(at("gated", id, "suspend"), { reason: 5 }), 400)).toMatch(
      /body\.reason/,
    );
    expect(dataOf(await server.get(at("gated", id, "state"))).status).toBe("running");
    gates.open("suspend-type");
    expect(await ended(server, "gated", id)).toMatchObject({ status: "completed" });
  });
});

describe("an execution that is not in a suspendable state is 400 and unchanged:", () => {
  test("completed", async () => {
    const id = textOf(
      dataOf(await server.post("/workflows/sum/execute", { input: { a: 1 } })),
      "executionId",
    );
    const before = dataOf(await server.get(at("sum", id, "state")));
    const message = errorOf(await server.post(at("sum", id, "suspend"), { reason: "late" }), 400);
    expect(message).toBe(`Execution ${id} cannot be suspended: it is already completed`);
    expect(dataOf(await server.get(at("sum", id, "state")))).toEqual(before);
  });

  test("suspended by a step", async () => {
    const id = textOf(await startApproval(server), "executionId");
    const before = dataOf(await server.get(at("approval", id, "state")));
    const message = errorOf(await server.post(at("approval", id, "suspend"), { reason: "too" }), 400);
    expect(message).toMatch(/already suspended$/);
    expect(dataOf(await server.get(at("approval", id, "state")))).toEqual(before);
  });

  test("suspended by request", async () => {
    const id = await startGated(server, "suspend-twice");
    dataOf(await server.post(at("gated", id, "suspend"), { reason: "first" }));
    errorOf(await server.post(at("gated", id, "suspend"), { reason: "second" }), 400);
    const state = dataOf(await server.get(at("gated", id, "state")));
    expect(state).toMatchObject({ status: "suspended", suspension: { reason: "first" } });
    gates.open("suspend-twice");
  });

  test("ended with an error", async () => {
    const answer = await server.post("/workflows/failing/execute", { input: {} });
    const id = answer.headers.get("x-execution-id") ?? "";
    expect(errorOf(await server.post(at("failing", id, "suspend")), 400)).toMatch(/ended with an error$/);
  });

  test("cancelled", async () => {
    const id = textOf(await startApproval(server), "executionId");
    dataOf(await server.post(at("approval", id, "cancel")));
    expect(errorOf(await server.post(at("approval", id, "suspend")), 400)).toMatch(/already cancelled$/);
  });
});

test("an unknown execution is 404", async () => {
  expect(errorOf(await server.post(at("gated", "nope", "suspend"), { reason: "r" }), 404)).toBe(
    "Execution nope not found",
  );
});

test("an execution of another workflow is 404 and untouched", async () => {
  const id = await startGated(server, "suspend-other");
  errorOf(await server.post(at("sum", id, "suspend"), { reason: "r" }), 404);
  expect(dataOf(await server.get(at("gated", id, "state"))).status).toBe("running");
  gates.open("suspend-other");
});
