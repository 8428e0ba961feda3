// GET /api/activity by the host's decision on each workflow: everyone's executions, the caller's own, or none.
import { memoryStore } from "@andante/core";
import type { Authorize } from "@andante/server";
import { describe, expect, test, vi } from "vitest";
import { dataOf, listOf } from "../support/responses.ts";
import { serveForTest, type TestServer } from "../support/serve-for-test.ts";
import { bearer } from "../support/tokens.ts";

/** The token is the id of the user; one has none. */
const auth = {
  type: "test",
  verifyToken: (token: string) => (token === "nameless" ? { name: token } : { id: token }),
};

/** By workflow: of `sum` ada has 1 execution and eve 2, of `failing` ada 2 and eve 1, of `approval` ada 1. */
async function runAll(server: TestServer): Promise<void> {
  const run = (workflowId: string, user: string, input: object) =>
    server.post(`/workflows/${workflowId}/execute`, { input }, bearer(user));
  for (const user of ["ada", "eve", "eve"]) await run("sum", user, { a: 1 });
  for (const user of ["ada", "ada", "eve"]) await run("failing", user, {});
  await run("approval", "ada", { topic: "tests" });
}

async function activityFor(server: TestServer, user: string, query = "") {
  const activity = dataOf(await server.get(`/api/activity${query}`, bearer(user)));
  const workflows = listOf(activity, "workflows").map(({ workflowId, started }) => [workflowId, started]);
  const points = listOf(activity, "points");
  const inPoints = (kind: string) => points.reduce((all, point) => all + Number(point[kind]), 0);
  expect([activity.complete, points.length]).toEqual([true, 60]);
  return {
    workflows: Object.fromEntries(workflows),
    inPoints: ["started", "completed", "failed", "suspended"].map(inPoints),
  };
}

const deciding =
  (decisions: Readonly<Record<string, "own" | false>>, whole: "own" | true = true): Authorize =>
  ({ action, resource: { workflowId = "" } }) =>
    action === "executions.list" ? (decisions[workflowId] ?? whole) : true;

describe.each([
  ["counts per minute", {}],
  ["no counts per minute", false],
] as const)("with %s", (_, rollups) => {
  const serve = async (authorize: Authorize) => {
    const server = await serveForTest({ auth, authorize, rollups });
    await runAll(server);
    return server;
  };

  test("a refused workflow is in no figure, and of the others everyone's executions are", async () => {
    const server = await serve(deciding({ failing: false }));
    expect(await activityFor(server, "ada")).toEqual({
      workflows: { sum: 3, approval: 1 },
      inPoints: [4, 3, 0, 1],
    });
    expect((await server.get("/api/activity?workflowId=failing", bearer("ada"))).status).toBe(403);
  });

  test("of a workflow decided as own the caller's executions are counted, beside everyone's of the others", async () => {
    const server = await serve(deciding({ failing: "own", approval: false }));
    expect(await activityFor(server, "ada")).toEqual({
      workflows: { sum: 3, failing: 2 },
      inPoints: [5, 3, 2, 0],
    });
    expect(await activityFor(server, "eve")).toEqual({
      workflows: { sum: 3, failing: 1 },
      inPoints: [4, 3, 1, 0],
    });
    // Without an id a caller has none of its own.
    expect(await activityFor(server, "nameless")).toEqual({ workflows: { sum: 3 }, inPoints: [3, 3, 0, 0] });
    expect(await activityFor(server, "eve", "?workflowId=failing")).toEqual({
      workflows: { failing: 1 },
      inPoints: [1, 0, 1, 0],
    });
  });

  test("of two workflows decided as own both are counted", async () => {
    const server = await serve(deciding({ failing: "own", approval: "own", sum: false }));
    expect(await activityFor(server, "ada")).toEqual({
      workflows: { failing: 2, approval: 1 },
      inPoints: [3, 0, 2, 1],
    });
    expect((await activityFor(server, "eve")).workflows).toEqual({ failing: 1 });
  });

  test("a caller that sees only its own sees none of a refused workflow", async () => {
    const server = await serve(deciding({ failing: false }, "own"));
    expect((await activityFor(server, "ada")).workflows).toEqual({ sum: 1, approval: 1 });
    expect((await activityFor(server, "eve")).workflows).toEqual({ sum: 2 });
    expect(await activityFor(server, "nameless")).toEqual({ workflows: {}, inPoints: [0, 0, 0, 0] });
  });
});

test("the permitted workflows are counted from the counts per minute, once for requests within a moment", async () => {
  const store = memoryStore();
  const list = vi.spyOn(store, "list");
  const totals = vi.spyOn(store.rollups, "totals");
  const server = await serveForTest({ store, auth, authorize: deciding({ failing: false }) });
  await runAll(server);
  list.mockClear();
  const readsOfSecond = async () => {
    await server.get(`/api/activity`, bearer("ada"));
    const before = totals.mock.calls.length;
    await server.get(`/api/activity`, bearer("eve"));
    return totals.mock.calls.length - before;
  };
  await expect.poll(readsOfSecond).toBe(0);
  expect(totals).toHaveBeenCalledWith(expect.objectContaining({ workflowId: "sum" }));
  expect(totals).not.toHaveBeenCalledWith(expect.objectContaining({ workflowId: "failing" }));
  expect(list).not.toHaveBeenCalled();
});

test("of more than 10 000 own executions the newest are counted, and the response is marked", async () => {
  const store = memoryStore();
  const server = await serveForTest({ store, auth, authorize: deciding({ failing: "own" }) });
  await runAll(server);
  const [row] = await store.list({ workflowId: "failing", userId: "ada", limit: 1 });
  if (row === undefined) throw new Error("ada has executions");
  const list = vi.spyOn(store, "list").mockImplementation(async ({ limit }) => Array(limit).fill(row));
  const activity = dataOf(await server.get("/api/activity", bearer("ada")));
  expect(listOf(activity, "workflows")).toContainEqual(
    expect.objectContaining({ workflowId: "failing", started: 10_000 }),
  );
  expect(activity.complete).toBe(false);
  for (const [query] of list.mock.calls)
    expect(query).toMatchObject({ workflowId: "failing", userId: "ada" });
});
