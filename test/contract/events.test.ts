// GET /workflows/:id/executions/:executionId/events
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { typesOf } from "../support/event-reader.ts";
import { startApproval } from "../support/executions.ts";
import { dataOf, errorOf, payloadOf } from "../support/responses.ts";
import { serveForTest } from "../support/serve-for-test.ts";

const server = await serveForTest();

const list = z.array(z.record(z.string(), z.unknown()));
const at = (workflow: string, executionId: unknown, query = "") =>
  `/workflows/${workflow}/executions/${executionId}/events${query}`;
const events = async (workflow: string, executionId: unknown, query = "") =>
  list.parse(payloadOf(await server.get(at(workflow, executionId, query))));

test("the journal in order, the same events as the stream but workflow-result", async () => {
  const stream = await server.stream("/workflows/sum/stream", { input: { a: 1 } });
  const streamed = await stream.rest();
  const journal = await events("sum", stream.headers.get("x-execution-id"));
  expect(journal).toEqual(streamed.slice(0, -1));
  expect(typesOf(streamed).at(-1)).toBe("workflow-result");
});

test("after and limit cut a part out of it", async () => {
  const { executionId } = dataOf(await server.post("/workflows/sum/execute", { input: { a: 1 } }));
  const whole = await events("sum", executionId);
  expect(await events("sum", executionId, "?after=2&limit=3")).toEqual(whole.slice(2, 5));
  expect(await events("sum", executionId, "?after=4")).toEqual(whole.slice(4));
  expect(await events("sum", executionId, "?limit=1")).toEqual(whole.slice(0, 1));
  expect(await events("sum", executionId, `?after=${whole.length}`)).toEqual([]);
  expect(await events("sum", executionId, "?after=999999")).toEqual([]);
});

test("suspensions and answers are in it", async () => {
  const { executionId } = await startApproval(server);
  await server.post(`/workflows/approval/executions/${executionId}/resume`, {
    resumeData: { approved: true },
  });
  const journal = await events("approval", executionId);
  expect(journal).toContainEqual(
    expect.objectContaining({ type: "workflow-resumed", resumeData: { approved: true } }),
  );
});

test("errors have their name and full message, but no stack", async () => {
  const answer = await server.post("/workflows/failing/execute", { input: {} });
  const journal = await events("failing", answer.headers.get("x-execution-id"));
  expect(journal.at(-1)).toMatchObject({
    type: "workflow-error",
    error: { name: "RangeError", message: "password hunter2 is wrong", step: "broken" },
  });
  expect(JSON.stringify(journal)).not.toMatch(/\bat .*\.ts/);
});

describe("wrong requests", () => {
  test.each(["after=-1", "after=x", "after=1.5", "limit=0", "limit=10001", "limit=1e99", "after=1e99"])(
    "%s is 400",
    async (query) => {
      const { executionId } = dataOf(await server.post("/workflows/sum/execute", { input: { a: 1 } }));
      errorOf(await server.get(at("sum", executionId, `?${query}`)), 400);
    },
  );

  test("an unknown workflow is 404 before a bad query is 400", async () => {
    expect(errorOf(await server.get(at("nope", "x", "?limit=0")), 404)).toBe("Workflow nope not found");
  });

  test("an unknown execution, and one of another workflow, is 404", async () => {
    const { executionId } = await startApproval(server);
    errorOf(await server.get(at("sum", "nope")), 404);
    errorOf(await server.get(at("sum", executionId)), 404);
  });
});
