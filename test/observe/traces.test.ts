// GET /api/traces and GET /api/traces/:traceId: filters, pages, whose they are; traceparent in and out.
import { createWorkflow } from "@andante/core";
import { expect, test, vi } from "vitest";
import { z } from "zod";
import { AndanteService } from "../../packages/core/src/andante/andante-service.ts";
import { startApproval } from "../support/executions.ts";
import { dataOf, errorOf, textOf } from "../support/responses.ts";
import { serveForTest, type TestServer } from "../support/serve-for-test.ts";
import { bearer, provider, tokenFor } from "../support/tokens.ts";

let server: TestServer;
/** For tests that need no server of their own. */
const plain = await serveForTest();

const page = z.object({
  traces: z.array(
    z
      .object({ traceId: z.string(), executionId: z.string(), entityId: z.string(), status: z.string() })
      .loose(),
  ),
  nextCursor: z.string().nullable(),
});
const list = async (query = "", headers = {}) =>
  page.parse(dataOf(await server.get(`/api/traces${query}`, headers)));
const run = async (workflow: string, options = {}, headers = {}) =>
  (await server.post(`/workflows/${workflow}/execute`, { input: { a: 1 }, options }, headers)).headers.get(
    "x-execution-id",
  );

test("lists are newest first, in pages, by every filter", async () => {
  server = await serveForTest();
  const ids = [await run("sum", { userId: "ada" }), await run("failing"), await run("sum")];
  const waiting = textOf(await startApproval(server), "executionId");
  const idsOf = async (query: string) => (await list(query)).traces.map(({ executionId }) => executionId);
  const all = await idsOf("");
  expect(new Set(all)).toEqual(new Set([...ids, waiting]));
  const first = await list("?limit=3");
  expect(first.traces).toHaveLength(3);
  const second = await list(`?limit=3&cursor=${first.nextCursor}`);
  expect([...first.traces, ...second.traces].map(({ executionId }) => executionId)).toEqual(all);
  expect(second.nextCursor).toBeNull();
  expect(await idsOf("?entityType=workflow&entityId=failing")).toEqual([ids[1]]);
  expect(await idsOf("?entityType=agent")).toEqual([]);
  expect(await idsOf("?status=suspended")).toEqual([waiting]);
  expect(await idsOf("?status=error")).toEqual([ids[1]]);
  expect(await idsOf("?userId=ada")).toEqual([ids[0]]);
  expect(await idsOf(`?executionId=${ids[2]}`)).toEqual([ids[2]]);
  expect(await idsOf("?to=2000-01-01T00:00:00Z")).toEqual([]);
  expect(await idsOf("?from=2000-01-01T00:00:00Z")).toEqual(all);
});

test("a trace of the list is found by its id, also where the execution's id or the trace was given", async () => {
  server = await serveForTest();
  const traceparent = "00-5bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  const ids = [
    await run("sum"),
    await run("sum", { executionId: "my-own" }),
    await run("sum", {}, { traceparent }),
  ];
  const { traces } = await list();
  expect(new Set(traces.map(({ executionId }) => executionId))).toEqual(new Set(ids));
  for (const { traceId, executionId } of traces) {
    expect(dataOf(await server.get(`/api/traces/${traceId}`)).roots).toMatchObject([
      { traceId, executionId },
    ]);
  }
  expect(traces.find(({ executionId }) => executionId === ids[2])?.traceId).toBe(
    "5bf92f3577b34da6a3ce929d0e0e4736",
  );
});

test("an execution that is not traced is not in the list", async () => {
  server = await serveForTest({ tracing: { sample: 0 } });
  await run("sum");
  expect((await list()).traces).toEqual([]);
  await server.close();
  server = await serveForTest({ tracing: false });
  await run("sum");
  expect((await list()).traces).toEqual([]);
});

test.each(["limit=0", "limit=501", "entityType=robot", "status=odd", "from=x", "cursor=x"])(
  "%s is 400",
  async (query) => {
    errorOf(await plain.get(`/api/traces?${query}`), 400);
  },
);

test("an unknown trace is 404, in any form", async () => {
  for (const id of ["0".repeat(32), "x", encodeURIComponent("' or 1=1")]) {
    expect(errorOf(await plain.get(`/api/traces/${id}`), 404)).toBe(
      `Trace ${decodeURIComponent(id)} not found`,
    );
  }
});

test("with authentication a caller sees its own traces, in the list and one by one; authorize may allow more", async () => {
  server = await serveForTest({ auth: provider() });
  const [ada, bob] = [bearer(await tokenFor("ada")), bearer(await tokenFor("bob"))];
  const mine = await run("sum", {}, ada);
  const theirs = await run("sum", {}, bob);
  const [own] = (await list("", ada)).traces;
  expect((await list("", ada)).traces.map(({ executionId }) => executionId)).toEqual([mine]);
  expect((await list("?userId=bob", ada)).traces).toEqual([]);
  expect((await list("", bob)).traces.map(({ executionId }) => executionId)).toEqual([theirs]);
  dataOf(await server.get(`/api/traces/${own?.traceId}`, ada));
  errorOf(await server.get(`/api/traces/${own?.traceId}`, bob), 404);
  expect(errorOf(await server.get("/api/traces"), 401)).toBe("Authentication required");
  await server.close();

  server = await serveForTest({ auth: provider(), authorize: ({ action }) => action !== "traces.read" });
  await run("sum", {}, ada);
  const everyones = (await list("", bob)).traces;
  expect(everyones).toHaveLength(1);
  errorOf(await server.get(`/api/traces/${everyones[0]?.traceId}`, bob), 403);
});

test("two callers that share a trace id do not see each other's part of it", async () => {
  server = await serveForTest({ auth: provider() });
  const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  const [ada, bob] = [bearer(await tokenFor("ada")), bearer(await tokenFor("bob"))];
  const mine = await run("sum", {}, { ...ada, traceparent });
  await run("failing", {}, { ...bob, traceparent });
  const shape = z.object({
    roots: z.array(z.unknown()),
    spans: z.array(z.object({ executionId: z.string() })),
  });
  const trace = shape.parse(dataOf(await server.get("/api/traces/4bf92f3577b34da6a3ce929d0e0e4736", ada)));
  expect(trace.roots).toHaveLength(1);
  expect(new Set(trace.spans.map(({ executionId }) => executionId))).toEqual(new Set([mine]));
});

const traceparentShape = /^00-([\da-f]{32})-([\da-f]{16})-01$/;

test("execute, stream and resume answer with the traceparent of the execution, the same each time", async () => {
  const started = await plain.post("/workflows/approval/execute", { input: { topic: "x" } });
  const resumed = await plain.post(
    `/workflows/approval/executions/${started.headers.get("x-execution-id")}/resume`,
    { resumeData: { approved: true } },
  );
  expect(started.headers.get("traceparent")).toMatch(traceparentShape);
  expect(resumed.headers.get("traceparent")).toBe(started.headers.get("traceparent"));
  const stream = await plain.stream("/workflows/sum/stream", { input: { a: 1 } });
  expect(stream.headers.get("traceparent")).toMatch(traceparentShape);
  await stream.rest();
});

test.each([
  "",
  "00-0-0-01",
  "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
  `00-${"f".repeat(5000)}-00f067aa0ba902b7-01`,
  "é".normalize("NFD").replace(/[^\x20-\x7e]/g, "?"),
])("a traceparent that is none (%j) starts a trace of its own", async (traceparent) => {
  const answer = await plain.post("/workflows/sum/execute", { input: { a: 1 } }, { traceparent });
  expect(answer.status).toBe(200);
  expect(answer.headers.get("traceparent")).toMatch(traceparentShape);
});

test("retention: lines beyond maxCount go, the newest stay; traces are shown up to maxAge", async () => {
  const talk = createWorkflow({ id: "talk", input: z.unknown() }).andThen({
    id: "speak",
    execute: ({ logger }) => logger.info({}, "line"),
  });
  server = await serveForTest({ workflows: { talk }, tracing: { maxAge: 3_600_000 }, logs: { maxCount: 3 } });
  for (let n = 0; n < 5; n++) await run("talk");
  const [newest] = (await list()).traces;
  if (!(server.andante instanceof AndanteService)) throw new TypeError("not made by createAndante");
  await server.andante.trimObservations();
  expect((await list()).traces).toHaveLength(5);
  const now = vi.spyOn(Date, "now").mockReturnValue(Date.now() + 3_600_000);
  try {
    expect((await list()).traces).toEqual([]);
    errorOf(await server.get(`/api/traces/${newest?.traceId}`), 404);
  } finally {
    now.mockRestore();
  }
  expect(await server.andante.logs.list({ workflowId: "talk" })).toHaveLength(3);
});
