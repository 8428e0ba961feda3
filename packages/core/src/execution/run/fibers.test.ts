// Fibers command by command: known replies come from the journal at once, the others are requests to the driver.
import { expect, test } from "vitest";
import { z } from "zod";
import { placeOf, runCommand } from "../../../test/support/run-command.ts";
import type { WorkflowResumedEvent } from "../../journal/events.ts";
import { Journal, replayEvents } from "../../journal/journal.ts";
import type { Outcome } from "../../journal/outcome.ts";
import { AbortScope } from "../body/abort-scope.ts";
import type { Command, Interpretation } from "../interpreter/commands.ts";
import { type Fiber, Fibers, sliceSize } from "./fibers.ts";

const output = (value: string): Outcome => ({ kind: "output", value });
const failure = (message = "broken"): Outcome => ({ kind: "error", error: { name: "Error", message } });
const bailed: Outcome = { kind: "bailed", value: "1" };

/** Yields these commands and keeps their replies; ends with an output. */
function* asking(replies: unknown[], ...commands: readonly Command[]): Interpretation {
  for (const command of commands) replies.push(yield command);
  return output("end");
}

/** Runs the body at this path and ends as it does. */
function* running(path: string): Interpretation {
  const reply = yield runCommand(path);
  return reply as Outcome;
}

function fibersOn(journal = new Journal()) {
  const calls: string[] = [];
  const fiberAt = new Map<string, Fiber>();
  const checks: (Outcome | undefined)[] = [];
  const fibers = new Fibers(journal, {
    stopWaiting: (path) => void calls.push(`stop ${path}`),
    start: (_, { path }) => {
      calls.push(`start ${path}`);
      journal.started(path, 0, "1", 100);
    },
    end: (fiber, { path }, outcome) => {
      calls.push(`end ${path} ${outcome.kind}`);
      journal.ended(path, 0, outcome, 50 + fiber.index);
    },
    run: (fiber, { path, attempt }) => {
      calls.push(attempt === 1 ? `run ${path}` : `run ${path} again`);
      fiberAt.set(path, fiber);
    },
    check: (fiber, { path }) => {
      calls.push(`check ${path}`);
      fiberAt.set(path, fiber);
      return checks.shift();
    },
    wait: (fiber, path, at) => {
      calls.push(`wait ${path} ${at}`);
      fiberAt.set(path, fiber);
    },
    lost: (lost, { message }) => {
      calls.push(`lost ${lost.closed}: ${message}`);
    },
  });
  const end = (path: string, reply: Parameters<Fibers["reply"]>[1], sequence = 0) => {
    const fiber = fiberAt.get(path);
    if (fiber === undefined) throw new Error(`${path} does not run`);
    fibers.reply(fiber, reply, sequence);
  };
  const begin = (...commands: readonly Command[]) => {
    const replies: unknown[] = [];
    fibers.begin(asking(replies, ...commands));
    return replies;
  };
  return { fibers, calls, journal, end, begin, checks, fiberAt };
}

test("a body is started and run once; its outcome is that of the workflow", () => {
  const { fibers, calls, end } = fibersOn();
  fibers.begin(running("a"));
  expect([calls, fibers.outcome]).toEqual([["start a", "run a"], undefined]);
  end("a", output("2"));
  expect(fibers.outcome).toEqual(output("2"));
});

test("a step whose start is in the journal is not started again, nor for a function beside it", () => {
  const { calls, journal, begin } = fibersOn();
  journal.started("a", 0, "1", 100);
  begin(runCommand("a"));
  begin(runCommand("b#condition"));
  begin({ kind: "enter", place: placeOf("a") }, { kind: "enter", place: placeOf("c") });
  expect(calls).toEqual(["run a", "run b#condition", "start c"]);
});

test("known outcomes are replied at once: of bodies, and of containers that are entered or left", () => {
  const { fibers, calls, journal, begin } = fibersOn();
  journal.ended("a", 0, output("7"), 9);
  journal.ended("all", 0, bailed, 8);
  const leave: Command = { kind: "leave", place: placeOf("all"), outcome: output("1") };
  const late: Command = { kind: "leave", place: placeOf("c"), outcome: output("3") };
  const replies = begin(runCommand("a"), { kind: "enter", place: placeOf("all") }, leave, late);
  expect(replies).toEqual([output("7"), bailed, bailed, output("3")]);
  expect(calls).toEqual(["end all output", "end c output"]);
  expect(fibers.outcome).toEqual(output("end"));
});

test("a body that the journal has as suspended waits, unless it runs with its resume data", () => {
  const { calls, journal, begin } = fibersOn();
  journal.started("a", 0, "1", 100);
  journal.suspended("a", 0, "s", undefined);
  expect(begin(runCommand("a"))).toEqual([{ kind: "suspended" }]);
  expect(calls).toEqual([]);
  begin(runCommand("a", { resumeData: "1" }));
  expect(calls).toEqual(["run a"]);
});

test("failed attempts and waits in the journal are not repeated", () => {
  const { calls, journal, begin } = fibersOn();
  journal.started("a", 0, "1", 100);
  journal.failed("a", 0, 2, 500);
  expect(begin(runCommand("a"))).toEqual([{ kind: "retry", attempt: 3, at: 500 }]);
  expect(begin(runCommand("a", { attempt: 2 }))).toEqual([{ kind: "retry", attempt: 3, at: 500 }]);
  expect(calls).toEqual([]);
  begin(runCommand("a", { attempt: 3 }));
  expect(calls).toEqual(["run a again"]);
  const error = { name: "Error", message: "no" };
  for (const retryAt of [600, 700])
    journal.checkpointFailed({
      ...{ type: "checkpoint-retry", timestamp: 1, path: "b#x", stepIndex: 0, stepType: "andThen", error },
      ...{ attempt: 1, stepAttempt: 1, retryAt },
    });
  expect(begin(runCommand("b", { waits: 1 }))).toEqual([{ kind: "wait", waits: 2, at: 700 }]);
  begin(runCommand("b", { waits: 2 }));
  expect(calls.slice(1)).toEqual(["start b", "run b"]);
});

test("a body that waits for a checkpoint is replied to with the number of its waits", () => {
  const { fibers, journal, begin, fiberAt } = fibersOn();
  const replies = begin(runCommand("a"), runCommand("c"));
  const one = fiberAt.get("a");
  if (one === undefined) throw new Error("a does not run");
  fibers.wait(one, "a", 300);
  const error = { name: "Error", message: "no" };
  journal.checkpointFailed({
    ...{ type: "checkpoint-retry", timestamp: 1, path: "c#x", stepIndex: 0, stepType: "andThen", error },
    ...{ attempt: 1, stepAttempt: 1, retryAt: 400 },
  });
  fibers.wait(one, "c", 400);
  expect(replies).toEqual([
    { kind: "wait", waits: 0, at: 300 },
    { kind: "wait", waits: 1, at: 400 },
  ]);
});

test("checks are replied to at once, or later", () => {
  const { fibers, calls, begin, checks, end } = fibersOn();
  const check = (path: string): Command => ({
    ...{ kind: "check", schema: z.unknown(), value: "1", path, what: "input", isOwn: true },
  });
  checks.push(output("2"));
  const replies = begin(check("a"), check("b"));
  expect([replies, fibers.outcome]).toEqual([[output("2")], undefined]);
  end("b", failure());
  expect([replies[1], calls]).toEqual([failure(), ["check a", "check b"]]);
});

test("times count from the start of the step; limits without its pauses", () => {
  const { calls, journal, begin } = fibersOn();
  journal.started("a", 0, "1", 100);
  journal.lifted(30);
  begin({ kind: "until", place: placeOf("a"), path: "a", at: 700 });
  begin({ kind: "until", place: placeOf("a"), path: "a", at: { after: 40 } });
  begin({ kind: "until", place: placeOf("b"), path: "b", at: { after: 40 } });
  expect(calls).toEqual(["wait a 700", "wait a 140", "wait b 40"]);
  const limit = (path: string): Command => ({ kind: "limit", place: placeOf(path), after: 5 });
  expect(begin(limit("a"), limit("b"))).toEqual([135, 5]);
});

test("the round of a loop is known from its second on", () => {
  const { journal, begin } = fibersOn();
  const round: Command = { kind: "round", place: placeOf("loop") };
  expect(begin(round)).toEqual([undefined]);
  const start = (path: string, stepType: string, sequence: number) =>
    replayEvents(journal, [
      { type: "step-start", timestamp: 1, path, stepIndex: 0, stepType, input: "9", sequence },
    ]);
  start("loop", "andDoWhile", 2);
  start("loop[0]/a", "andThen", 3);
  expect(begin(round)).toEqual([undefined]);
  start("loop[1]/a", "andThen", 4);
  expect(begin(round)).toEqual([{ number: 1, data: "9" }]);
});

const resumed = (path: string): WorkflowResumedEvent => ({
  ...{ type: "workflow-resumed", timestamp: 1, path, stepIndex: 0, suspensionId: "s", resumeData: '"yes"' },
  ...{ userId: undefined, byDeadline: false, expired: false },
});

test("a fiber that waits for a resume continues with it, once", () => {
  const { fibers, journal, begin } = fibersOn();
  journal.started("a", 0, "1", 100);
  journal.suspended("a", 0, "s", undefined);
  const replies = begin({ kind: "await-resume", place: placeOf("a") });
  fibers.resume("a");
  fibers.resume("other");
  expect(replies).toEqual([]);
  journal.resumed("a", resumed("a"));
  fibers.resume("a");
  fibers.resume("a");
  expect(replies).toEqual([{ data: '"yes"', expired: false }]);
  // One that was resumed before it waits does not wait.
  expect(begin({ kind: "await-resume", place: placeOf("a") })).toHaveLength(1);
});

test("a fiber that waits for calls continues with the first that is resumed, and the others do not count", () => {
  const { fibers, journal, begin } = fibersOn();
  const paths = ["a#x", "a#y"];
  for (const path of paths) journal.suspended(path, 0, "s", undefined);
  const replies = begin({ kind: "await-calls", paths }, { kind: "await-resume", place: placeOf("b") });
  journal.resumed("a#y", resumed("a#y"));
  fibers.resume("a#y");
  expect(replies).toEqual([{ data: '"yes"', expired: false }]);
  journal.resumed("a#x", resumed("a#x"));
  fibers.resume("a#x");
  expect([replies.length, fibers.outcome]).toEqual([1, undefined]);
  // One that was resumed meanwhile lets the body run again at once.
  expect(begin({ kind: "await-calls", paths })).toEqual([undefined]);
});

test("a fiber whose branch has lost is left alone", () => {
  const { fibers, fiberAt, journal, calls } = fibersOn();
  journal.suspended("b", 0, "s", undefined);
  const replies: unknown[] = [];
  const open = (index: number) =>
    index === 0 ? running("a") : asking(replies, { kind: "await-resume", place: placeOf("b") });
  fibers.begin(asking([], { kind: "first", count: 2, limit: 2, open, firstPath: () => undefined }));
  const fiber = fiberAt.get("a");
  if (fiber === undefined) throw new Error("a does not run");
  fibers.reply(fiber, output("1"), 3);
  expect(calls).toEqual(["start a", "run a", "lost true: Another branch has decided"]);
  journal.resumed("b", resumed("b"));
  fibers.resume("b");
  expect([replies, fibers.outcome]).toEqual([[], output("end")]);
  const closed: Fiber = { ...fiber, scope: new AbortScope() };
  closed.scope.close();
  fibers.reply(closed, output("2"), 3);
  expect(closed.sequence).toBe(3);
});

/** Branches that each run a body, and the reply of their join. */
function branches(kind: "all" | "race" | "first", count: number, limit = count, journal = new Journal()) {
  const made = fibersOn(journal);
  const open = (index: number) => running(`b${index}`);
  const firstPath = (index: number) => `b${index}`;
  const replies = made.begin({ kind, count, limit, open, firstPath });
  return { ...made, replies };
}

test("all: the outputs in their order, when each has ended", () => {
  const { replies, end, calls } = branches("all", 2);
  end("b1", output("1"), 3);
  expect(replies).toEqual([]);
  end("b0", output("0"), 4);
  expect(replies).toEqual([{ outcomes: [output("0"), output("1")], decisive: output("1") }]);
  expect(calls).toEqual(["start b0", "run b0", "start b1", "run b1"]);
});

test.each<[string, Outcome]>([
  ["a failure", failure()],
  ["a bail", bailed],
])("all: %s decides, and the others have lost", (_, outcome) => {
  const { replies, end, calls } = branches("all", 3);
  end("b1", outcome, 3);
  expect(replies).toEqual([{ outcomes: [undefined, outcome, undefined], decisive: outcome }]);
  expect(calls.slice(6)).toEqual(Array(2).fill("lost true: Another branch has decided"));
  end("b0", failure("late"), 4);
  expect(replies).toHaveLength(1);
});

test("race: the first success decides; when all have failed, the first of them", () => {
  const won = branches("race", 2);
  won.end("b0", failure(), 3);
  expect(won.replies).toEqual([]);
  won.end("b1", output("1"), 4);
  expect(won.replies).toMatchObject([{ decisive: output("1") }]);
  const lost = branches("race", 2);
  lost.end("b1", failure("first"), 3);
  lost.end("b0", failure("second"), 4);
  expect(lost.replies).toMatchObject([{ decisive: failure("first") }]);
});

test("first: any outcome decides, and a failure is the reason for the others", () => {
  const { replies, end, calls } = branches("first", 2);
  end("b0", failure("late"), 3);
  expect(replies).toMatchObject([{ decisive: failure("late") }]);
  expect(calls.slice(4)).toEqual(["lost true: late"]);
});

test("of branches that ended in an earlier life, the one with the lower number has decided", () => {
  const journal = new Journal();
  journal.ended("b0", 0, output("0"), 9);
  journal.ended("b1", 0, output("1"), 8);
  const { replies, calls } = branches("race", 3, 3, journal);
  expect(replies).toMatchObject([{ decisive: output("1") }]);
  expect(calls).toEqual(["start b2", "run b2", "lost true: Another branch has decided"]);
});

test("no more branches are under way than the limit allows; one that has decided keeps its place", () => {
  const { calls, end } = branches("all", 4, 2);
  expect(calls).toEqual(["start b0", "run b0", "start b1", "run b1"]);
  end("b0", output("0"), 3);
  expect(calls.slice(4)).toEqual(["start b2", "run b2"]);
  end("b1", failure(), 4);
  expect(calls.slice(6)).toEqual(["lost true: Another branch has decided"]);
});

test("no branches at all are no reply", () => {
  expect(branches("all", 0).replies).toEqual([]);
});

test("a join inside a join: the outcome of the inner one ends a branch of the outer", () => {
  const { fibers, end } = fibersOn();
  const inner = (): Interpretation =>
    (function* () {
      const joined = yield {
        ...{ kind: "all", count: 2, limit: 2, open: (index: number) => running(`in${index}`) },
        firstPath: () => undefined,
      };
      return (joined as { decisive: Outcome }).decisive;
    })();
  const open = (index: number) => (index === 0 ? inner() : running("out"));
  const replies: unknown[] = [];
  fibers.begin(asking(replies, { kind: "all", count: 2, limit: 2, open, firstPath: () => undefined }));
  end("out", output("o"), 3);
  end("in0", output("i"), 4);
  expect(replies).toEqual([]);
  end("in1", output("j"), 5);
  expect(replies).toMatchObject([{ outcomes: [output("i"), output("o")] }]);
});

test("of many new branches a slice begins before each commit, and those in the journal all at once", () => {
  expect(sliceSize).toBe(500);
  const journal = new Journal();
  for (let index = 0; index < 600; index++) journal.ended(`b${index}`, 0, output("0"), index);
  const { fibers, calls, replies, end } = branches("all", 1700, 2000, journal);
  const runs = () => calls.filter((call) => call.startsWith("run")).length;
  expect([runs(), fibers.isHeld]).toEqual([500, true]);
  fibers.openNext();
  expect([runs(), fibers.isHeld]).toEqual([1000, true]);
  fibers.openNext();
  expect([runs(), fibers.isHeld]).toEqual([1100, false]);
  fibers.openNext();
  expect(runs()).toBe(1100);
  for (let index = 600; index < 1700; index++) end(`b${index}`, output("1"), index);
  expect(replies).toHaveLength(1);
});

test("branches that are held back begin no more once their join is decided", () => {
  const { fibers, calls, replies, end } = branches("all", 700, 2000);
  end("b3", failure(), 3);
  expect([replies.length, fibers.isHeld]).toEqual([1, false]);
  const { length } = calls;
  fibers.openNext();
  expect(calls).toHaveLength(length);
});

test("the outermost of several joins goes first when room is short", () => {
  const { fibers, calls } = fibersOn();
  const many = (name: string, count: number): Command => ({
    ...{ kind: "all", count, limit: count, open: (index) => running(`${name}${index}`) },
    firstPath: (index) => `${name}${index}`,
  });
  const open = (index: number) => (index === 0 ? asking([], many("in", 800)) : running(`out${index}`));
  fibers.begin(
    asking([], {
      kind: "all",
      count: 300,
      limit: 300,
      open,
      firstPath: (index) => (index === 0 ? undefined : `out${index}`),
    }),
  );
  const begun = (name: string) => calls.filter((call) => call.startsWith(`run ${name}`)).length;
  expect([begun("in"), begun("out")]).toEqual([500, 0]);
  fibers.openNext();
  expect([begun("in"), begun("out")]).toEqual([701, 299]);
  fibers.openNext();
  expect([begun("in"), fibers.isHeld]).toEqual([800, false]);
});
