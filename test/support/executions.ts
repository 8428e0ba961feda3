// Executions that tests start and follow over HTTP.
import { expect } from "vitest";
import { gates } from "./gates.ts";
import { dataOf, type Fields, listOf, textOf } from "./responses.ts";
import type { TestServer } from "./serve-for-test.ts";

/** How many executions the server knows. */
export async function countExecutions(server: TestServer): Promise<number> {
  return listOf(dataOf(await server.get("/api/executions?limit=500")), "executions").length;
}

/** Starts an execution of the workflow `gated` and waits until its body is inside. */
export async function startGated(server: TestServer, door: string, options: Fields = {}): Promise<string> {
  const body = { input: { door }, options };
  const started = dataOf(
    await server.post("/workflows/gated/execute", body, { prefer: "respond-async" }),
    202,
  );
  await gates.arrival(door);
  return textOf(started, "executionId");
}

/** Starts an execution of the workflow `approval`, which waits for resume data. */
export async function startApproval(server: TestServer, options: Fields = {}): Promise<Fields> {
  const body = { input: { topic: "tests" }, options };
  const data = dataOf(await server.post("/workflows/approval/execute", body));
  expect(data.status).toBe("suspended");
  return data;
}

/** Resolves when the execution has ended. */
export async function ended(server: TestServer, workflow: string, executionId: string): Promise<Fields> {
  const stream = await server.stream(`/workflows/${workflow}/executions/${executionId}/stream`);
  if (stream.status !== 204) await stream.rest();
  return dataOf(await server.get(`/workflows/${workflow}/executions/${executionId}/state`));
}
