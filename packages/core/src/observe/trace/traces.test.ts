// One trace in full: a caller's trace may hold several executions, its own and those of others who name it too.
import { afterAll, expect, test } from "vitest";
import { z } from "zod";
import { createAndante } from "../../andante/create-andante.ts";
import { memoryStore } from "../../store/sqlite/sqlite-store.ts";
import { execution } from "../../store-cases/store-cases.ts";
import { createWorkflow } from "../../workflow/create-workflow.ts";
import { Traces } from "./traces.ts";

const store = memoryStore();
const andante = createAndante({
  store,
  workflows: {
    steps: createWorkflow({ id: "steps", input: z.unknown() })
      .andThen({ id: "one", execute: () => 1 })
      .andThen({ id: "two", execute: () => 2 }),
  },
});
afterAll(() => andante.close());

const hour = 3_600_000;
const traceId = (digit: string) => digit.repeat(32);
const traceparent = (digit: string) => `00-${traceId(digit)}-${"1".repeat(16)}-01`;

test("however many executions a trace holds, its spans are bounded together", async () => {
  for (let n = 0; n < 4; n++) await andante.execute("steps", n, { traceparent: traceparent("a") });
  const traces = new Traces(store, { flush: async () => undefined }, undefined, hour, 7);
  const whole = await andante.traces.read(traceId("a"));
  const bounded = await traces.read(traceId("a"));
  expect([whole?.spans.length, whole?.roots.length]).toEqual([12, 4]);
  expect([bounded?.spans.length, bounded?.roots.length]).toEqual([7, 4]);
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
