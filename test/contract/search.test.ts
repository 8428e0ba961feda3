// GET /api/search
import { createClient } from "@andante/client";
import { createWorkflow, memoryStore, type Store } from "@andante/core";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { dataOf, errorOf, type Fields, listOf, timestamp } from "../support/responses.ts";
import { serveForTest } from "../support/serve-for-test.ts";
import { storeForTest } from "../support/store-for-test.ts";

/** Takes an order, keeps a note in the state, and waits for a decision. */
const refund = createWorkflow({
  id: "refund",
  input: z.object({ order: z.string(), card: z.string().optional() }),
  search: { exclude: ["input.card"] },
})
  .andThen({
    id: "note",
    execute: ({ data, setState }) => {
      setState({ note: `note-${data.order}` });
      return data;
    },
  })
  .andThen({
    id: "approve",
    execute: ({ data, suspend, resumeData }) =>
      resumeData === undefined
        ? suspend("Refund it?", { ask: `ask-${data.order}` })
        : { paid: `paid-${data.order}` },
  });
const hidden = createWorkflow({ id: "hidden", input: z.string(), search: false }).andThen({
  id: "same",
  execute: ({ data }) => data,
});

const store = storeForTest();

const described = store.search === undefined ? undefined : describe;
described?.("a store with an index of values", async () => {
  const server = await serveForTest({ workflows: { refund, hidden }, store });
  const start = (order: string, options: Fields = {}) =>
    server.post("/workflows/refund/execute", { input: { order, card: `card-${order}` }, options });
  const search = async (query: string) =>
    listOf(dataOf(await server.get(`/api/search?${query}`)), "executions");
  /** The index is made in the background. */
  const found = (query: string) => expect.poll(() => search(query), { timeout: 20_000 });

  test("finds an execution by its input, state, suspension, result and tags, with the path", async () => {
    await start("Ord_77120", { executionId: "one", tags: ["vip-77120"] });
    await found("text=ord_77120").toMatchObject([
      {
        executionId: "one",
        workflowId: "refund",
        status: "suspended",
        startAt: timestamp,
        endAt: null,
        userId: null,
        conversationId: null,
        stepIndex: 1,
        tags: ["vip-77120"],
        matches: [{ path: "input.order", value: "ord_77120" }],
      },
    ]);
    const pathOf = async (text: string) => (await search(`text=${text}`))[0]?.matches;
    expect(await pathOf("ORD_77")).toEqual([{ path: "input.order", value: "ord_77120" }]);
    expect(await pathOf("vip-")).toEqual([{ path: "tags", value: "vip-77120" }]);
    expect(await pathOf("ask-ord_77120")).toEqual([{ path: "suspension.ask", value: "ask-ord_77120" }]);
    expect(await pathOf("note-ord_77120")).toEqual([{ path: "state.note", value: "note-ord_77120" }]);
    await server.post("/workflows/refund/executions/one/resume", { resumeData: true });
    await found("text=paid-ord_77120&status=completed").toMatchObject([
      { executionId: "one", matches: [{ path: "result.paid", value: "paid-ord_77120" }] },
    ]);
    expect(await search("text=card-")).toEqual([]);
  });

  test("pages, filters, and the typed client", async () => {
    for (const [number, userId] of [
      [1, "ada"],
      [2, "bob"],
      [3, "ada"],
    ] as const)
      await start(`page-${number}`, { executionId: `page-${number}`, userId });
    await found("text=page-").toHaveLength(3);
    const first = dataOf(await server.get("/api/search?text=page-&limit=2"));
    expect(first).toMatchObject({ complete: true, nextCursor: expect.any(String) });
    const rest = await search(`text=page-&limit=2&cursor=${first.nextCursor}`);
    const ids = [...listOf(first, "executions"), ...rest].map(({ executionId }) => executionId);
    expect(ids.sort()).toEqual(["page-1", "page-2", "page-3"]);
    expect((await search("text=page-&userId=bob")).map(({ executionId }) => executionId)).toEqual(["page-2"]);
    expect(await search("text=page-&workflowId=hidden")).toEqual([]);
    const client = createClient<typeof server>({ baseUrl: server.url });
    const seen: string[] = [];
    for await (const { executionId, matches } of client.search("page-", { limit: 1, workflowId: "refund" }))
      seen.push(`${executionId} ${matches[0]?.path}`);
    expect(seen.sort()).toEqual(["page-1 input.order", "page-2 input.order", "page-3 input.order"]);
  });

  test("a workflow that opts out is not found", async () => {
    await server.post("/workflows/hidden/execute", { input: "secret-words" });
    await start("after-secret");
    await found("text=after-secret").toHaveLength(1);
    expect(await search("text=secret-words")).toEqual([]);
  });

  test.each([
    "",
    "?text=",
    "?text=%20",
    `?text=${"x".repeat(1001)}`,
    "?text=abc&limit=101",
    "?text=abc&cursor=x",
  ])("400 for %s", async (query) => {
    errorOf(await server.get(`/api/search${query}`), 400);
  });

  test("the server reports that it can search", async () => {
    expect(dataOf(await server.get("/api/server")).search).toBe(true);
  });
});

test("a store without an index of values: 501, and the server reports it", async () => {
  const inner = memoryStore();
  const { search: _, ...rest } = inner;
  const store: Store = { ...rest, open: () => inner.open(), close: () => inner.close() };
  const server = await serveForTest({ store });
  const response = await server.get("/api/search?text=abc");
  expect(errorOf(response, 501)).toBe(
    "This server cannot search in values: its store keeps no index of them",
  );
  expect(response.headers.get("x-error-code")).toBe("search-unsupported");
  expect(dataOf(await server.get("/api/server")).search).toBe(false);
});
