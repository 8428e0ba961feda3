// A workflow that has changed under its executions: 409 in words, parked and visible, cancel works
import { createWorkflow } from "@andante/core";
import type { WorkflowDefinition } from "@andante/core/internal";
import { expect, test } from "vitest";
import { z } from "zod";
import { dataOf, errorOf, fieldsOf, listOf, textOf, timestamp } from "../support/responses.ts";
import { serveForTest, type TestServer } from "../support/serve-for-test.ts";
import { temporaryFile } from "../support/temporary-file.ts";

const file = temporaryFile();
const seen = { definition: expect.stringMatching(/^[\w-]{43}$/), firstAt: timestamp, lastAt: timestamp };
let running: TestServer | undefined;

/** The server of one life: the one before is closed first. */
async function serveWith(...workflows: WorkflowDefinition[]): Promise<TestServer> {
  await running?.close();
  const registered = Object.fromEntries(workflows.map((workflow) => [workflow.id, workflow]));
  running = await serveForTest({ workflows: registered, store: file.open(), grace: 0 });
  return running;
}

const publish = (review: string) =>
  createWorkflow({ id: "publish", input: z.object({}) })
    .andThen({ id: "draft", execute: () => "text" })
    .andThen({
      id: review,
      execute: ({ data, suspend, resumeData }) => (resumeData === undefined ? suspend("Waiting") : data),
    });

test("resume is 409 with both definitions, and works again under the old definition", async () => {
  let server = await serveWith(publish("review"));
  const { executionId } = dataOf(await server.post("/workflows/publish/execute", { input: {} }));
  const resume = () => server.post(`/workflows/publish/executions/${executionId}/resume`, { resumeData: 1 });

  server = await serveWith(publish("check"));
  const refused = await resume();
  expect(errorOf(refused, 409)).toBe(
    'The workflow "publish" has changed since this execution began: ' +
      'step 2 was "review" (andThen), now "check" (andThen)',
  );
  expect(refused.headers.get("x-execution-id")).toBe(executionId);

  server = await serveWith(publish("review"));
  expect(dataOf(await resume())).toMatchObject({ status: "completed", result: "text" });
});

test("one that was running is parked, marked in state and lists, and can be cancelled", async () => {
  const arrived = Promise.withResolvers<void>();
  const stuck = (id: string) =>
    createWorkflow({ id: "stuck", input: z.object({}) }).andThen({
      id,
      execute: ({ signal }) => {
        arrived.resolve();
        return new Promise((_, reject) => signal.addEventListener("abort", reject));
      },
    });
  let server = await serveWith(stuck("old"));
  const prefer = { prefer: "respond-async" };
  const started = dataOf(await server.post("/workflows/stuck/execute", { input: {} }, prefer), 202);
  await arrived.promise;

  server = await serveWith(stuck("new"));
  const at = `/workflows/stuck/executions/${textOf(started, "executionId")}`;
  const state = dataOf(await server.get(`${at}/state`));
  expect(state.status).toBe("running");
  expect(fieldsOf(state, "parked").reason).toContain('step 1 was "old" (andThen), now "new" (andThen)');
  const listed = listOf(dataOf(await server.get("/workflows/stuck/executions")), "executions");
  expect(listed).toMatchObject([{ parked: state.parked }]);
  const parked = "/api/executions?workflowId=stuck&parked=true";
  expect(listOf(dataOf(await server.get(parked)), "executions")).toMatchObject([{ parked: state.parked }]);
  expect(dataOf(await server.get("/api/execution-counts?parked=true"))).toMatchObject({
    running: { count: 1 },
  });
  const { definitions, complete } = dataOf(await server.get("/api/workflows/stuck/definitions"));
  expect(complete).toBe(true);
  expect(definitions).toEqual([
    { ...seen, isCurrent: true, steps: ["new"], open: 0 },
    { ...seen, isCurrent: false, steps: ["old"], open: 1 },
  ]);
  expect(dataOf(await server.post(`${at}/cancel`))).toMatchObject({ status: "cancelled" });
  expect(dataOf(await server.get(`${at}/state`))).not.toHaveProperty("parked");
  expect(listOf(dataOf(await server.get(parked)), "executions")).toEqual([]);
});
