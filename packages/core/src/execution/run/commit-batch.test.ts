// Work that a pause held back comes before later work, and work that is not needed any more stays out.
import { expect, test } from "vitest";
import { runCommand } from "../../../test/support/run-command.ts";
import { AbortScope } from "../body/abort-scope.ts";
import { CommitBatch, type FollowingEvent } from "./commit-batch.ts";

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

const startOf = (path: string, scope = new AbortScope()): CommitBatch["starts"][number] => {
  const interpretation = (function* () {
    return { kind: "skipped" } as const;
  })();
  return {
    command: runCommand(path),
    fiber: { interpretation, scope, join: undefined, index: 0, sequence: 0 },
  };
};
const pathsOf = ({ starts }: Pick<CommitBatch, "starts">) => starts.map(({ command }) => command.path);

test("bodies to run are taken up to a number, and the others come before those of the next batch", () => {
  const [batch, next] = [new CommitBatch(), new CommitBatch()];
  batch.starts.push(startOf("a"), startOf("b"), startOf("c"));
  next.starts.push(startOf("d"));
  expect(pathsOf({ starts: batch.takeStarts(2, next) })).toEqual(["a", "b"]);
  expect([pathsOf(batch), pathsOf(next)]).toEqual([[], ["c", "d"]]);
  expect(pathsOf({ starts: next.takeStarts(2, batch) })).toEqual(["c", "d"]);
  expect([pathsOf(batch), pathsOf(next)]).toEqual([[], []]);
  const held = new CommitBatch();
  held.starts.push(startOf("x"));
  next.starts.push(startOf("y"));
  next.prepend(held);
  expect(pathsOf(next)).toEqual(["x", "y"]);
});

const event = (type: "step-start" | "step-skipped", path: string): FollowingEvent => {
  const address = { timestamp: 1, path, stepIndex: 0, stepType: "andThen" };
  return type === "step-start" ? { type, ...address, input: undefined } : { type, ...address };
};

test("work of branches that have lost is left out, except for steps that have ended", () => {
  const [open, closed] = [new AbortScope(), new AbortScope()];
  closed.close();
  const batch = new CommitBatch();
  batch.following.push(
    { event: event("step-start", "kept"), scope: open },
    { event: event("step-start", "ended"), scope: closed },
    { event: event("step-skipped", "ended"), scope: closed },
    { event: event("step-start", "lost"), scope: closed },
  );
  batch.setTimer({ path: "kept", dueAt: 1 }, open);
  batch.setTimer({ path: "lost", dueAt: 1 }, closed);
  batch.starts.push(startOf("kept", open), startOf("lost", closed));
  const seen = () => [
    batch.following.map((each) => `${each.event.type} ${each.event.path}`),
    [...batch.timers.keys()],
    pathsOf(batch),
  ];
  const before = seen();
  batch.prune();
  // No branch has lost since the last commit: nothing is looked at.
  expect(seen()).toEqual(before);
  batch.lost.push({ scope: closed, reason: new Error("lost") });
  batch.prune();
  expect(seen()).toEqual([["step-start kept", "step-start ended", "step-skipped ended"], ["kept"], ["kept"]]);
});

test("events that were held back come before those since, and one is enough to be recorded", () => {
  const scope = new AbortScope();
  const [held, next] = [new CommitBatch(), new CommitBatch()];
  held.following.push({ event: event("step-start", "held"), scope });
  next.following.push({ event: event("step-start", "next"), scope });
  next.prepend(held);
  expect(next.following.map((each) => each.event.path)).toEqual(["held", "next"]);
  const batch = new CommitBatch();
  batch.events.push(event("step-skipped", "a"));
  expect(batch.isEmpty).toBe(false);
});
