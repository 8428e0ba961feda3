// GET /api/executions/:executionId, its events and its cancel: by the execution's id alone, without its workflow.
import { createWorkflow } from "@andante/core";
import { expect, test } from "vitest";
import { z } from "zod";
import { cleanup } from "../support/cleanup.ts";
import { startApproval, startGated } from "../support/executions.ts";
import { dataOf, errorOf, payloadOf, textOf } from "../support/responses.ts";
import { serveForTest } from "../support/serve-for-test.ts";
import { storeForTest } from "../support/store-for-test.ts";
import { bearer, provider, tokenFor } from "../support/tokens.ts";

const approval = createWorkflow({ id: "gone", input: z.unknown() }).andThen({
  id: "gate",
  execute: ({ suspend, resumeData }) => resumeData ?? suspend("why"),
});

/** A server that no longer knows the workflow of the execution in its store. */
async function afterRemoval(options: Parameters<typeof serveForTest>[0] = {}) {
  const store = storeForTest();
  const shared = { ...store, open: () => store.open(), close: async () => undefined };
  cleanup(() => store.close());
  const before = await serveForTest({ workflows: { approval }, store: shared });
  const { executionId } = await before.andante.execute("gone", 1, { userId: "ada" });
  await before.close();
  const server = await serveForTest({ ...options, store: { ...shared, open: async () => undefined } });
  return { server, executionId, path: `/api/executions/${executionId}` };
}

test("an execution of a workflow that is gone is listed, read and cancelled", async () => {
  const { server, executionId, path } = await afterRemoval();
  const listed = dataOf(await server.get("/api/executions?workflowId=gone"));
  expect(listed).toMatchObject({ executions: [{ executionId, workflowId: "gone", status: "suspended" }] });
  expect(dataOf(await server.get(path))).toMatchObject({
    executionId,
    workflowId: "gone",
    status: "suspended",
    input: 1,
    suspension: { reason: "why" },
  });
  const events = await server.get(`${path}/events`);
  expect(payloadOf(events)).toMatchObject([
    { type: "workflow-start" },
    { type: "step-start" },
    { type: "step-suspended" },
    { type: "workflow-suspended" },
  ]);
  expect(dataOf(await server.post(`${path}/cancel`, { reason: "gone" }))).toMatchObject({
    status: "cancelled",
  });
  expect(errorOf(await server.post(`${path}/cancel`), 400)).toContain("already cancelled");
});

test("the workflow's own routes do not find it, as in the contract", async () => {
  const { server, executionId } = await afterRemoval();
  for (const what of ["state", "events"]) {
    const response = await server.get(`/workflows/gone/executions/${executionId}/${what}`);
    expect(errorOf(response, 404)).toBe("Workflow gone not found");
  }
});

test("one of a registered workflow is found, too; an unknown one is 404", async () => {
  const server = await serveForTest();
  const started = dataOf(await server.post("/workflows/approval/execute", { input: { topic: "x" } }));
  const executionId = textOf(started, "executionId");
  expect(dataOf(await server.get(`/api/executions/${executionId}`))).toMatchObject({
    workflowId: "approval",
  });
  for (const path of ["/api/executions/none", "/api/executions/none/events"]) {
    expect(errorOf(await server.get(path), 404)).toBe("Execution none not found");
  }
  expect(errorOf(await server.post("/api/executions/none/cancel"), 404)).toBe("Execution none not found");
});

test("with authentication a token is needed, and another user's is not found", async () => {
  const { server, path } = await afterRemoval({ auth: provider() });
  expect((await server.get(path)).status).toBe(401);
  expect((await server.post(`${path}/cancel`)).status).toBe(401);
  const [ada, bob] = [bearer(await tokenFor("ada")), bearer(await tokenFor("bob"))];
  expect((await server.get(path, bob)).status).toBe(404);
  expect((await server.get(`${path}/events`, bob)).status).toBe(404);
  expect((await server.get(`${path}/explain`, bob)).status).toBe(404);
  expect(dataOf(await server.get(path, ada))).toMatchObject({ status: "suspended" });
  expect((await server.get(`${path}/events`, ada)).status).toBe(200);
});

test("the waits of an execution are explained to its owner, and to callers that may read its journal", async () => {
  const denied = new Set<string>();
  const authorize = ({ action }: { readonly action: string }) => !denied.has(action);
  const { server, executionId, path } = await afterRemoval({ auth: provider(), authorize });
  const ada = bearer(await tokenFor("ada"));
  expect((await server.get(`${path}/explain`)).status).toBe(401);
  expect((await server.get("/api/executions/none/explain", ada)).status).toBe(404);
  const explained = dataOf(await server.get(`${path}/explain`, ada));
  expect(explained).toMatchObject({ executionId, workflowId: "gone", status: "suspended" });
  expect(explained.sentence).toMatch(/^Step gate waits since \S+Z for an answer: why\.$/);
  expect(explained.waits).toMatchObject([{ kind: "suspension", stepPath: "gate", reason: "why" }]);
  const list = dataOf(await server.get("/api/executions?explain=true", ada));
  expect(list.executions).toMatchObject([
    {
      executionId,
      explanation: { kind: "suspension", sentence: expect.stringMatching(/ for an answer\.$/) },
    },
  ]);
  expect((await server.get("/api/executions?explain=perhaps", ada)).status).toBe(400);
  for (const action of ["executions.read", "executions.events"]) {
    denied.add(action);
    expect((await server.get(`${path}/explain`, ada)).status).toBe(403);
    denied.delete(action);
  }
});

test("every response about an execution names it in x-execution-id, also one that refuses", async () => {
  const server = await serveForTest();
  const executionId = "named/by path";
  const name = encodeURIComponent(executionId);
  await startApproval(server, { executionId });
  const [ofWorkflow, byId] = [`/workflows/approval/executions/${name}`, `/api/executions/${name}`];
  const namedIn = async (method: string, path: string, body?: unknown) => {
    const { status, headers } = await server.send(method, path, body);
    return [`${method} ${path}`, status, headers.get("x-execution-id")];
  };
  const asked: [method: string, path: string, status: number, body?: unknown][] = [
    ["GET", `${ofWorkflow}/state`, 200],
    ["GET", `${ofWorkflow}/events`, 200],
    ["GET", byId, 200],
    ["GET", `${byId}/events`, 200],
    ["POST", `${ofWorkflow}/suspend`, 400],
    ["GET", `${ofWorkflow}/events?after=x`, 400],
    ["POST", `${ofWorkflow}/cancel`, 200, { reason: "enough" }],
    ["POST", `${byId}/cancel`, 400],
    ["POST", `${ofWorkflow}/resume`, 404, { resumeData: 1 }],
    ["GET", `${ofWorkflow}/stream?after=999`, 204],
  ];
  for (const [method, path, status, body] of asked)
    expect(await namedIn(method, path, body)).toEqual([`${method} ${path}`, status, name]);
  const gated = await startGated(server, "named");
  const suspended = await server.post(`/workflows/gated/executions/${gated}/suspend`);
  expect([suspended.status, suspended.headers.get("x-execution-id")]).toEqual([200, gated]);
});
