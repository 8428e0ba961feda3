// Work that a pause held back comes before later work, and work that is not needed any more stays out.
import { expect, test } from "vitest";
import { AbortScope } from "../body/abort-scope.ts";
import { CommitBatch } from "./commit-batch.ts";

test("timers that were held back are set with those since, unless they were cleared meanwhile", () => {
  const scope = new AbortScope();
  const held = new CommitBatch();
  for (const path of ["a", "b"]) held.setTimer({ path, dueAt: 1 }, scope);
  held.closeBelow.push("held");
  const next = new CommitBatch();
  next.setTimer({ path: "c", dueAt: 2 }, scope);
  next.clearTimer("b");
  next.closeBelow.push("next");
  expect(next.isEmpty).toBe(false);
  next.prepend(held);
  expect([...next.timers.values()].map(({ timer }) => timer)).toEqual([
    { path: "a", dueAt: 1 },
    { path: "c", dueAt: 2 },
  ]);
  expect(next.clear).toEqual(["b"]);
  expect(next.closeBelow).toEqual(["held", "next"]);
});

test("bodies to run and branches to abort are those that were held back, then those since", () => {
  const scopes = [new AbortScope(), new AbortScope()] as const;
  const reasons = [new Error("held"), new Error("next")] as const;
  const [held, next] = [new CommitBatch(), new CommitBatch()];
  held.lost.push({ scope: scopes[0], reason: reasons[0] });
  next.lost.push({ scope: scopes[1], reason: reasons[1] });
  held.clearTimer("held");
  next.clearTimer("next");
  next.prepend(held);
  expect(next.lost.map(({ reason }) => reason)).toEqual(reasons);
  expect(next.clear).toEqual(["held", "next"]);
});

test("a batch is empty until something of it has to be recorded", () => {
  const scope = new AbortScope();
  expect(new CommitBatch().isEmpty).toBe(true);
  const [timer, clear] = [new CommitBatch(), new CommitBatch()];
  timer.setTimer({ path: "a", dueAt: 1 }, scope);
  clear.clearTimer("a");
  const following = new CommitBatch();
  const address = { path: "a", stepIndex: 0, stepType: "andThen" } as const;
  following.following.push({
    event: { type: "step-start", timestamp: 1, ...address, input: undefined },
    scope,
  });
  expect([timer.isEmpty, clear.isEmpty, following.isEmpty]).toEqual([false, false, false]);
});
