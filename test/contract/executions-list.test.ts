// GET /api/executions and GET /workflows/:id/executions
import { beforeAll, describe, expect, test } from "vitest";
import { dataOf, errorOf, type Fields, listOf, textOf, timestamp } from "../support/responses.ts";
import { serveForTest } from "../support/serve-for-test.ts";

const server = await serveForTest();
/** Every execution of this file, in the order in which they were started. */
const started: Fields[] = [];

beforeAll(async () => {
  await start("sum", { a: 1 }, { executionId: "order-1", userId: "ada" });
  await start("approval", { topic: "x" }, { executionId: "order-2", userId: "ada", conversationId: "c-1" });
  await start("failing", {}, { executionId: "order_3", userId: "bob" });
  await start("sum", { a: 2 }, { executionId: "o%", userId: "bob" });
  await start("approval", { topic: "y" }, { executionId: "übung" });
  await server.post("/workflows/approval/executions/%C3%BCbung/cancel");
});

async function start(workflow: string, input: unknown, options: Fields) {
  await server.post(`/workflows/${workflow}/execute`, { input, options });
  const id = encodeURIComponent(textOf(options, "executionId"));
  started.push(dataOf(await server.get(`/workflows/${workflow}/executions/${id}/state`)));
}

async function ids(path: string): Promise<unknown[]> {
  return listOf(dataOf(await server.get(path)), "executions").map((each) => each.executionId);
}

const newestFirst = ["übung", "o%", "order_3", "order-2", "order-1"];
const inAnyOrder = (list: unknown[]) => list.map(String).sort();

test("lists every execution, newest first", async () => {
  const page = dataOf(await server.get("/api/executions"));
  expect(page.nextCursor).toBeNull();
  const executions = listOf(page, "executions");
  // Several may start in the same millisecond; among those the order is by id.
  expect(inAnyOrder(executions.map((each) => each.executionId))).toEqual(inAnyOrder(newestFirst));
  const times = executions.map((each) => textOf(each, "startAt"));
  expect(times).toEqual([...times].sort().reverse());
});

test("shows the fields for lists: ids, status, times, user and conversation", async () => {
  const executions = listOf(dataOf(await server.get("/api/executions?id=order-2")), "executions");
  expect(executions).toEqual([
    {
      executionId: "order-2",
      workflowId: "approval",
      status: "suspended",
      startAt: timestamp,
      endAt: null,
      userId: "ada",
      conversationId: "c-1",
      stepIndex: 1,
    },
  ]);
});

test("shows when one has ended", async () => {
  const [ended] = listOf(dataOf(await server.get("/api/executions?id=order-1")), "executions");
  expect(ended).toMatchObject({ status: "completed", startAt: timestamp, endAt: timestamp });
});

test("has the step and the error of a failed one", async () => {
  const [failed] = listOf(dataOf(await server.get("/api/executions?status=error")), "executions");
  expect(failed?.error).toEqual({ name: "RangeError", message: "password hunter2 is wrong", step: "broken" });
});

test.each([
  ["", { running: 0, suspended: 1, completed: 2, error: 1, cancelled: 1 }],
  ["?workflowId=sum&userId=bob", { running: 0, suspended: 0, completed: 1, error: 0, cancelled: 0 }],
  ["?id=order-", { running: 0, suspended: 1, completed: 1, error: 0, cancelled: 0 }],
])("counts those that match %s by status", async (query, expected) => {
  const counts = Object.entries(dataOf(await server.get(`/api/execution-counts${query}`)));
  expect(counts).toEqual(Object.entries(expected).map(([status, count]) => [status, { count, more: false }]));
});

test("counts those of a time: from is inclusive, to is exclusive", async () => {
  const of = async (status: string, query: string) =>
    dataOf(await server.get(`/api/execution-counts?${query}`))[status];
  const startAt = textOf(started[2] ?? {}, "startAt");
  const next = new Date(Date.parse(startAt) + 1).toISOString();
  const one = { count: 1, more: false };
  const none = { count: 0, more: false };
  expect(await of("error", `from=${startAt}&to=${next}`)).toEqual(one);
  expect(await of("error", `from=${next}`)).toEqual(none);
  expect(await of("error", `to=${startAt}`)).toEqual(none);
  expect(await of("completed", "from=2000-01-01")).toEqual({ count: 2, more: false });
});

describe("the filter", () => {
  test.each([
    ["workflowId=sum", ["order-1", "o%"]],
    ["workflowId=nope", []],
    ["status=completed", ["order-1", "o%"]],
    ["status=suspended", ["order-2"]],
    ["status=error", ["order_3"]],
    ["status=cancelled", ["übung"]],
    ["status=running", []],
    ["userId=ada", ["order-1", "order-2"]],
    ["userId=nobody", []],
    ["id=order-", ["order-1", "order-2"]],
    ["id=o%25", ["o%"]],
    ["id=%C3%BC", ["übung"]],
    ["workflowId=sum&userId=bob", ["o%"]],
    ["userId=ada&status=suspended", ["order-2"]],
    ["from=2000-01-01", newestFirst],
    ["to=2000-01-01", []],
    ["from=2999-01-01", []],
    ["to=2999-01-01", newestFirst],
  ])("%s", async (query, expected) => {
    expect(inAnyOrder(await ids(`/api/executions?${query}`))).toEqual(inAnyOrder(expected));
  });

  test("from is inclusive, to is exclusive, to the millisecond", async () => {
    const startAt = textOf(started[2] ?? {}, "startAt");
    const same = started.filter((each) => each.startAt === startAt).map((each) => each.executionId);
    const next = new Date(Date.parse(startAt) + 1).toISOString();
    expect(inAnyOrder(await ids(`/api/executions?from=${startAt}&to=${next}`))).toEqual(inAnyOrder(same));
    expect(await ids(`/api/executions?from=${startAt}&to=${startAt}`)).toEqual([]);
  });
});

describe("a page", () => {
  test.each(["/api/executions?", "/api/executions?from=2000-01-01&"])(
    "of any size leads by its cursor to the next one, until all were seen once: %s",
    async (path) => {
      const whole = await ids(path);
      for (const limit of [1, 2, 3, 5]) {
        const seen: unknown[] = [];
        let cursor = "";
        do {
          const page = dataOf(await server.get(`${path}limit=${limit}${cursor}`));
          const executions = listOf(page, "executions");
          expect(executions.length).toBeLessThanOrEqual(limit);
          seen.push(...executions.map((each) => each.executionId));
          cursor = page.nextCursor === null ? "" : `&cursor=${textOf(page, "nextCursor")}`;
        } while (cursor !== "" && seen.length <= whole.length);
        expect(seen).toEqual(whole);
      }
    },
  );

  test("stays where it is when executions start between two calls", async () => {
    const page = dataOf(await server.get("/api/executions?limit=2"));
    const rest = await ids(`/api/executions?cursor=${textOf(page, "nextCursor")}`);
    await server.post("/workflows/mirror/execute", { input: 1, options: { executionId: "newcomer" } });
    expect(await ids(`/api/executions?cursor=${textOf(page, "nextCursor")}`)).toEqual(rest);
    await server.post("/workflows/mirror/executions/newcomer/cancel");
  });
});

describe("a workflow's own list", () => {
  test("holds only its executions, with the same filters", async () => {
    expect(inAnyOrder(await ids("/workflows/sum/executions"))).toEqual(inAnyOrder(["o%", "order-1"]));
    expect(await ids("/workflows/sum/executions?userId=bob")).toEqual(["o%"]);
    expect(await ids("/workflows/sum/executions?workflowId=approval&userId=bob")).toEqual(["o%"]);
    expect(await ids("/workflows/sum/executions?id=order")).toEqual(["order-1"]);
  });

  test("is 404 for an unknown workflow, with any query", async () => {
    const message = errorOf(await server.get("/workflows/nope/executions?limit=0"), 404);
    expect(message).toBe("Workflow nope not found");
  });
});

describe("a query that makes no sense is 400 and names the field:", () => {
  test.each([
    ["limit=0", "limit"],
    ["limit=501", "limit"],
    ["limit=-1", "limit"],
    ["limit=1.5", "limit"],
    ["limit=ten", "limit"],
    ["limit=", "limit"],
    ["limit=99999999999999999999999999", "limit"],
    ["limit=1e400", "limit"],
    ["status=sleeping", "status"],
    ["from=yesterday", "from"],
    ["to=", "to"],
    ["cursor=nonsense", "cursor"],
    ["cursor=bnVsbA", "cursor"],
    ["cursor=WzEsMl0", "cursor"],
    ["cursor=", "cursor"],
  ])("%s", async (query, field) => {
    expect(errorOf(await server.get(`/api/executions?${query}`), 400)).toContain(field);
    expect(errorOf(await server.get(`/workflows/sum/executions?${query}`), 400)).toContain(field);
  });
});
