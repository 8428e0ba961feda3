// The derived states of an execution, when it has gone idle and after a resume, equal the state in the store.
import { afterAll, expect, test } from "vitest";
import { inTime } from "../../../test/support/in-time.ts";
import { Journal } from "../../journal/journal.ts";
import { KeptValues } from "../../journal/kept-values.ts";
import { pageOf } from "../../journal/read-journal.ts";
import { memoryStore } from "../../store/sqlite/sqlite-store.ts";
import { commitOf, event, execution, suspension } from "../../store-cases/store-cases.ts";
import { nothingKept } from "../run/execution-fold.ts";
import { afterResume, idleState } from "./after-resume.ts";

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

test("an execution that has gone idle with a suspension has the state that the store holds", async () => {
  const { before } = await resumed();
  const { execution: row, suspensions, timers } = before;
  const { startAt, timeoutAt, sequence, stepIndex } = row;
  const parts = { journal: new Journal(), values: new KeptValues(null), input: undefined, kept: nothingKept };
  const fold = { ...parts, startAt, sequence, lastAt: startAt, bytes: 0 };
  const idle = { fold, suspensions, timers, stepIndex, timeoutAt };
  const { executionId, kind, workflowId, input, context, userId, conversationId, trace, links } = row;
  const run = { executionId, kind, workflowId, input, context, userId, conversationId, trace, links };
  const state = idleState(idle, run, "the definition");
  const columns = Object.keys(state?.execution ?? {});
  const stored = Object.fromEntries(Object.entries(row).filter(([name]) => columns.includes(name)));
  expect(state).toEqual({ execution: { ...stored, definition: "the definition" }, suspensions, timers });
  expect(idleState({ ...idle, suspensions: [] }, run, "the definition")).toBeUndefined();
  const timer = { path: "sleep", dueAt: 1 };
  expect(idleState({ ...idle, timers: [timer] }, run, "the definition")).toBeUndefined();
});
