// The derived state after a resume equals the state in the store.
import { afterAll, expect, test } from "vitest";
import { inTime } from "../../../test/support/in-time.ts";
import { pageOf } from "../../journal/read-journal.ts";
import { memoryStore } from "../../store/sqlite/sqlite-store.ts";
import { commitOf, event, execution, suspension } from "../../store-cases/store-cases.ts";
import { afterResume } from "./after-resume.ts";

const store = memoryStore();
await inTime(store.open(), "the store");
afterAll(() => store.close());

/** An execution that waits at a gate, and the result of its resume. */
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
  return { executionId, before, closes, result, page: pageOf(result.events) };
}

test("a resume that was claimed leads to the state that the store holds", async () => {
  const { executionId, before, closes, result, page } = await resumed();
  const { usage: _, ...state } = (await store.state(executionId)) ?? {};
  expect(afterResume(before, closes, result, page)).toEqual(state);
});

test("no state is derived when another process continues, or when events lie in between", async () => {
  const { before, closes, result, page } = await resumed();
  expect(afterResume(before, closes, { ...result, kind: "owned" }, page)).toBeUndefined();
  const earlier = { ...before, execution: { ...before.execution, sequence: 1 } };
  expect(afterResume(earlier, closes, result, page)).toBeUndefined();
});
