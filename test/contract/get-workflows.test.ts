// GET /workflows
import { expect, test } from "vitest";
import { z } from "zod";
import { ended, startGated } from "../support/executions.ts";
import { gates } from "../support/gates.ts";
import { payloadOf } from "../support/responses.ts";
import { serveForTest } from "../support/serve-for-test.ts";
import { workflows } from "../support/workflows.ts";

const server = await serveForTest();

const list = z.array(
  z.strictObject({
    id: z.string(),
    name: z.string(),
    purpose: z.string(),
    stepsCount: z.int(),
    status: z.enum(["idle", "running", "suspended", "completed", "error"]),
  }),
);

async function summaries(on = server) {
  return list.parse(payloadOf(await on.get("/workflows")));
}

async function statusOf(id: string) {
  return (await summaries()).find((summary) => summary.id === id)?.status;
}

test("data is an array of workflow summaries with exactly the contract's fields, in order of registration", async () => {
  const ids = (await summaries()).map((summary) => summary.id);
  expect(ids).toEqual(Object.values(workflows).map((workflow) => workflow.id));
});

test("a summary holds the workflow's id, name and purpose, and the number of its top-level steps", async () => {
  const all = await summaries();
  expect(all.find(({ id }) => id === "everything")).toEqual({
    id: "everything",
    name: "Everything",
    purpose: "Shows each step type",
    stepsCount: 8,
    status: "idle",
  });
});

test("name and purpose are texts also when the definition has none", async () => {
  const all = await summaries();
  expect(all.find(({ id }) => id === "gated")).toMatchObject({ name: "gated", purpose: "" });
});

test("status is idle while nothing runs, running while a body runs, and idle again", async () => {
  expect(await statusOf("gated")).toBe("idle");
  const executionId = await startGated(server, "status");
  expect(await statusOf("gated")).toBe("running");
  expect(await statusOf("sum")).toBe("idle");
  gates.open("status");
  await ended(server, "gated", executionId);
  expect(await statusOf("gated")).toBe("idle");
});

test("a server without workflows lists none", async () => {
  const empty = await serveForTest({ workflows: {} });
  expect(await summaries(empty)).toEqual([]);
});

test("HEAD answers as GET does, without a body", async () => {
  const response = await fetch(`${server.url}/workflows`, { method: "HEAD" });
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toBe("application/json");
  expect(await response.text()).toBe("");
});
