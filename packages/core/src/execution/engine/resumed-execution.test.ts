// What is known of an execution right after its resume: used once, and only while nothing else has happened to it.
import { afterAll, expect, test } from "vitest";
import { inTime } from "../../../test/support/in-time.ts";
import { pageOf } from "../../journal/read-journal.ts";
import { memoryStore } from "../../store/sqlite/sqlite-store.ts";
import { commitOf, event, execution, suspension } from "../../store-cases/store-cases.ts";
import { ResumedExecutions } from "./resumed-execution.ts";

const store = memoryStore();
await inTime(store.open(), "the store");
afterAll(() => store.close());

/** An execution that waits at a gate, and what the store says of its resume. */
async function resumed() {
  const made = execution();
  const { executionId } = made;
  await store.create(made);
  const gate = suspension();
  await store.commit(
    commitOf(executionId, {
      open: [gate],
      events: [event("step-suspended")],
      idle: { resumes: 0, event: null },
    }),
  );
  const before = await store.state(executionId);
  const { suspensionId } = gate;
  const detail = JSON.stringify({ suspensionId });
  const closes = { suspensionIds: [suspensionId], rewind: null };
  const result = await store.resume({
    executionId,
    ...closes,
    events: [event("workflow-resumed", { path: "gate", stepIndex: 0, value: "1", detail })],
    claim: { owner: "here", token: "another" },
    byDeadline: false,
  });
  if (before === undefined || result.kind === "refused") throw new Error("it was not resumed");
  return { executionId, before, closes, page: pageOf(result.events) };
}

test("it is what the store holds, and is taken once by whoever loads it", async () => {
  const { executionId, before, closes, page } = await resumed();
  const executions = new ResumedExecutions();
  const known = executions.add(before, closes, "claimed", page);
  const { usage: _, ...state } = (await store.state(executionId)) ?? {};
  expect(known?.state).toEqual(state);
  expect(executions.take(executionId, known)).toBe(known);
  expect(executions.take(executionId, known)).toBeUndefined();
});

test("it is not known where another process continues it, or something was written in between or since", async () => {
  const { executionId, before, closes, page } = await resumed();
  const executions = new ResumedExecutions();
  expect(executions.add(before, closes, "owned", page)).toBeUndefined();
  const earlier = { ...before, execution: { ...before.execution, sequence: 1 } };
  expect(executions.add(earlier, closes, "claimed", page)).toBeUndefined();
  const known = executions.add(before, closes, "claimed", page);
  executions.wrote(executionId, 4);
  expect(executions.take(executionId, known)).toBeUndefined();
});
