// Spans of executions that others run: each is shown once, however many executions are heard of in between.
import { expect, test } from "vitest";
import { SpansElsewhere } from "../../src/observe/trace/spans-elsewhere.ts";
import { memoryStore } from "../../src/store/sqlite/sqlite-store.ts";
import type { StoredEvent } from "../../src/store/stored-event.ts";
import { wrapStore } from "../support/wrapped-store.ts";

test("an execution that was forgotten meanwhile is not shown again, and new ones are", async () => {
  let now = 1000;
  const shown: string[] = [];
  const journals = new Map<string, readonly StoredEvent[]>();
  const store = wrapStore(memoryStore(), {
    events: async ({ executionId, after, limit = 100 }) =>
      (journals.get(executionId) ?? []).filter(({ sequence }) => sequence > after).slice(0, limit),
  });
  const spans = new SpansElsewhere({
    store,
    now: () => now,
    isHere: () => false,
    notify: (type, span) => shown.push(`${span.executionId} ${type}`),
  });
  const leave = spans.follow();
  const write = (executionId: string, ...types: readonly string[]) => {
    const before = journals.get(executionId) ?? [];
    const added = types.map((type, index) => ({
      sequence: before.length + index + 1,
      timestamp: ++now,
      type,
      path: null,
      stepIndex: null,
      stepType: null,
      value: null,
      detail: '{"suspensionId":"s","reason":"","suspendedAt":1}',
    }));
    journals.set(executionId, [...before, ...added]);
    const sequence = before.length + added.length;
    spans.reached({ executionId, workflowId: "w", userId: null, conversationId: null, sequence });
  };
  const drained = async (count: number) => {
    await expect.poll(() => shown.length, { interval: 1 }).toBe(count);
    shown.length = 0;
  };
  write("slow", "workflow-start", "workflow-suspended");
  await drained(1);
  // More than are held open, then more than are known.
  for (let batch = 0; batch < 12; batch++) {
    for (let index = 0; index < 1000; index++)
      write(`${batch}-${index}`, "workflow-start", ...(batch < 2 ? [] : ["workflow-complete"]));
    await drained(batch < 2 ? 1000 : 2000);
  }
  write("slow", "workflow-resumed", "workflow-complete");
  write("new", "workflow-start");
  await expect.poll(() => shown, { interval: 1 }).toEqual(["slow span-end", "new span-start"]);
  leave();
});
