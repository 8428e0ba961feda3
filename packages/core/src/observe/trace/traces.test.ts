// One trace in full: a caller's trace may hold several executions, its own and those of others who name it too.
import { afterAll, expect, test } from "vitest";
import { z } from "zod";
import { createAndante } from "../../andante/create-andante.ts";
import { memoryStore } from "../../store/sqlite/sqlite-store.ts";
import { execution } from "../../store-cases/store-cases.ts";
import { createWorkflow } from "../../workflow/create-workflow.ts";
import { andThen } from "../../workflow/steps/free-steps.ts";
import { Traces } from "./traces.ts";

const store = memoryStore();
const andante = createAndante({
  store,
  workflows: {
    steps: createWorkflow({ id: "steps", input: z.unknown() })
      .andThen({ id: "one", execute: () => 1 })
      .andThen({ id: "two", execute: () => 2 }),
    many: createWorkflow({ id: "many", input: z.array(z.number()) }).andForEach({
      id: "each",
      concurrency: 1100,
      step: andThen({ id: "one", execute: () => 1 }),
    }),
  },
});
afterAll(() => andante.close());

const hour = 3_600_000;
const traceId = (digit: string) => digit.repeat(32);
const traceparent = (digit: string) => `00-${traceId(digit)}-${"1".repeat(16)}-01`;

/** The same traces, with room for fewer spans. */
const upTo = (spans: number) =>
  new Traces(store, { flush: async () => undefined }, undefined, {
    maxAge: hour,
    clock: Date,
    maxSpans: spans,
  });

test("however many executions a trace holds, its spans are bounded together", async () => {
  for (let n = 0; n < 4; n++) await andante.execute("steps", n, { traceparent: traceparent("a") });
  const whole = await andante.traces.read(traceId("a"));
  const bounded = await upTo(7).read(traceId("a"));
  expect([whole?.spans.length, whole?.roots.length, whole?.complete]).toEqual([12, 4, true]);
  expect([bounded?.spans.length, bounded?.roots.length, bounded?.complete]).toEqual([7, 4, false]);
  // The root of each, though there was no room to read the journals of the later ones.
  const roots = bounded?.spans.filter(({ name }) => name === "invoke_workflow steps");
  expect(roots?.map(({ spanId }) => spanId)).toEqual(bounded?.roots.map(({ rootSpanId }) => rootSpanId));
  expect(roots?.every(({ endTime, status }) => endTime !== null && status === "ok")).toBe(true);
});

test("a trace that is cut keeps its root and the spans around those that are shown", async () => {
  const items = Array.from({ length: 1100 }, (_, n) => n);
  const { executionId } = await andante.execute("many", items);
  const { traces } = await andante.traces.list({ executionId });
  const id = traces[0]?.traceId ?? "";
  const bounded = await upTo(5).read(id);
  expect(bounded?.complete).toBe(false);
  const item = expect.stringMatching(/^step each\[\d+\]\/one$/);
  expect(bounded?.spans.map(({ name }) => name)).toEqual([
    "invoke_workflow many",
    "step each",
    item,
    item,
    item,
  ]);
  const [root] = (await andante.traces.read(id))?.spans ?? [];
  expect(bounded?.spans[0]).toEqual(root);
  expect((await upTo(1102).read(id))?.complete).toBe(true);
});

test("a call of an agent whose own span is not there is shown by its row", async () => {
  const id = traceId("c");
  const startAt = Date.now();
  const root = { traceId: id, rootSpanId: "1".repeat(16), startAt, endAt: startAt + 5, status: "error" };
  const agent = { entityType: "agent", entityId: "helper", executionId: null } as const;
  await store.observations.append({
    logs: [],
    roots: [{ ...root, ...agent, userId: null, conversationId: null }],
    chunks: [],
  });
  const { spans, complete } = (await andante.traces.read(id)) ?? {};
  expect(complete).toBe(true);
  expect(spans).toMatchObject([{ name: "invoke_agent helper", duration: 5, status: "error", ...agent }]);
});

test("those of others do not push a user's own out of its trace", async () => {
  const { executionId } = await andante.execute("steps", 1, {
    userId: "ada",
    traceparent: traceparent("b"),
  });
  const startAt = Date.now();
  const others = Array.from({ length: 1001 }, () =>
    execution({ workflowId: "steps", userId: "bob", startAt, trace: traceId("b") }),
  );
  await Promise.all(others.map((each) => store.create(each)));
  const trace = await andante.traces.read(traceId("b"), "ada");
  expect(trace?.roots.map((root) => root.executionId)).toEqual([executionId]);
});
