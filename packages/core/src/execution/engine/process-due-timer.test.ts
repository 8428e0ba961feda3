// Due timers one by one: the write of each, the loads that follow, and the lines and settlements of an end.
import { expect, test, vi } from "vitest";
import { z } from "zod";
import { inTime } from "../../../test/support/in-time.ts";
import { engineForTest, rowForTest } from "../../../test/support/test-engine.ts";
import type { DueTimer, Store, StoredExecution } from "../../store/store.ts";
import { suspension } from "../../store-cases/store-cases.ts";
import { createWorkflow } from "../../workflow/create-workflow.ts";
import { dueTimerProcessor } from "./process-due-timer.ts";
import type { Recovery } from "./recovery.ts";

const nap = createWorkflow({ id: "nap", input: z.unknown(), timeout: 70 }).andThen({
  id: "one",
  execute: () => 1,
});
const sleep: DueTimer = { kind: "timer", executionId: "e1", workflowId: "nap", dueAt: 5 };
const timeout: DueTimer = { ...sleep, kind: "timeout", dueAt: 7, timerAt: null };
const deadline: DueTimer = { ...timeout, kind: "deadline", suspensionId: "s1", path: "gate", stepIndex: 2 };

interface Rows {
  readonly onDeadline?: string | null;
  /** The execution is in the store. Default: true. */
  readonly exists?: boolean;
  /** The store refuses the write. */
  readonly refuses?: boolean;
  readonly loaded?: Awaited<ReturnType<Recovery["loadNow"]>>;
}

/** A processor on an execution that waits at a gate, and its calls. */
function processorOn({ onDeadline = null, exists = true, refuses = false, loaded = "done" }: Rows = {}) {
  const calls: unknown[] = [];
  const open = suspension({ suspensionId: "s1", path: "gate", stepIndex: 2, deadline: 7, onDeadline });
  const state: StoredExecution = {
    execution: rowForTest({ stepIndex: 2, status: "suspended" }),
    ...{ suspensions: [suspension({ suspensionId: "s0" }), open], timers: [], usage: null },
  };
  const operations: Partial<Store> = {
    state: async () => (exists ? state : undefined),
    wake: async (wake) => {
      calls.push({ wake });
      return !refuses;
    },
    cancel: async (cancel) => {
      calls.push({ cancel });
      if (refuses) return { kind: "refused", status: "completed" };
      return { kind: "cancelled", event: { ...cancel.event, sequence: 9, timestamp: 1234 } };
    },
    resume: async (resume) => {
      calls.push({ resume });
      return { kind: "refused", status: "completed" };
    },
  };
  const made = engineForTest(operations, { workflows: [nap], maxRunning: 20 });
  const { engine } = made;
  vi.spyOn(engine, "load").mockImplementation(async (claimed) => {
    calls.push({ load: claimed, room: engine.room });
    await Promise.resolve();
    calls.push({ room: engine.room });
  });
  const processor = dueTimerProcessor(engine, {
    loadNow: async (executionId) => {
      calls.push({ loadNow: executionId });
      return loaded;
    },
  });
  const claim = { owner: engine.claims.owner, token: expect.any(String) };
  return { ...made, processor, calls, claim, state };
}

test("a sleep is claimed and loaded, with a slot until the load has begun", async () => {
  const { processor, calls, claim, engine } = processorOn();
  expect(await processor.process(sleep, 6)).toBe("done");
  expect(calls).toEqual([
    { wake: { executionId: "e1", now: 6, claim } },
    { load: { executionId: "e1", kind: engine.workflowKind, claim }, room: 19 },
    { room: 20 },
  ]);
  expect(processor.room).toBe(20);
});

test("a sleep that another process was first to end is refused, and its slot is free", async () => {
  const { processor, calls } = processorOn({ refuses: true });
  expect(await processor.process(sleep, 6)).toBe("refused");
  expect(calls).toHaveLength(1);
  expect(processor.room).toBe(20);
});

test("a sleep before a deadline that cannot be woken is recovered; where that fails the deadline is processed", async () => {
  const woken = processorOn();
  expect(await woken.processor.wakeBefore(sleep, timeout, 8)).toBe("done");
  expect(woken.calls).toMatchObject([{ wake: {} }, { load: {} }, {}]);
  for (const loaded of ["done", "refused"] as const) {
    const { processor, calls } = processorOn({ refuses: true, loaded });
    expect(await processor.wakeBefore(sleep, timeout, 8)).toBe(loaded);
    expect(calls).toMatchObject([{ wake: {} }, { loadNow: "e1" }]);
  }
  const failed = processorOn({ refuses: true, loaded: "failed" });
  expect(await failed.processor.wakeBefore(sleep, timeout, 8)).toBe("refused");
  expect(failed.calls).toMatchObject([{ wake: {} }, { loadNow: "e1" }, { cancel: {} }]);
});

test("a timeout ends the execution with its error, publishes it and settles its callers", async () => {
  const { processor, calls, engine, logger } = processorOn();
  const published = vi.spyOn(engine, "publish");
  const { settled } = engine.waiters.wait("e1");
  const forgotten = [vi.spyOn(engine.admission, "forget"), vi.spyOn(engine.folds, "forget")];
  expect(await processor.process(timeout, 8)).toBe("done");
  const message = "The execution took longer than the workflow's timeout of 70 ms";
  expect(calls).toEqual([
    {
      cancel: {
        ...{ executionId: "e1", key: expect.any(String), status: "error", due: { suspensionId: null } },
        error: expect.stringContaining(message),
        event: expect.objectContaining({ type: "workflow-error", timestamp: 8 }),
      },
    },
  ]);
  const event = expect.objectContaining({ type: "workflow-error", sequence: 9, timestamp: 1234 });
  expect(published.mock.calls).toEqual([[rowForTest({ stepIndex: 2, status: "suspended" }), [event], 2]]);
  expect(await inTime(settled, "the settlement")).toEqual({ kind: "elsewhere" });
  for (const forget of forgotten) expect(forget).toHaveBeenCalledWith("e1");
  expect(logger.of("error")).toMatchObject([{ msg: "the execution failed", err: { message } }]);
});

test("a deadline that cancels writes the reason", async () => {
  const { processor, calls, engine } = processorOn({ onDeadline: '"cancel"' });
  const published = vi.spyOn(engine, "publish");
  expect(await processor.process(deadline, 8)).toBe("done");
  expect(calls).toEqual([
    {
      cancel: {
        ...{ executionId: "e1", key: expect.any(String), status: "cancelled", error: null },
        due: { suspensionId: "s1" },
        event: expect.objectContaining({ type: "workflow-cancelled", timestamp: 8 }),
      },
    },
  ]);
  expect(published.mock.calls[0]?.[1]).toEqual([
    {
      ...{ type: "workflow-cancelled", sequence: 9, timestamp: 1234, reason: "Deadline" },
      ...{ userId: undefined, suspensionId: "s1" },
    },
  ]);
});

test.each([
  ['"fail"', true, undefined],
  ['{"resume":{"ok":true}}', false, '{"ok":true}'],
])("a deadline with %s resumes the suspension", async (onDeadline, expired, resumeData) => {
  const { processor, calls, claim } = processorOn({ onDeadline });
  expect(await processor.process(deadline, 8)).toBe("refused");
  expect(calls).toHaveLength(1);
  const [call] = calls;
  expect(call).toEqual({
    resume: {
      ...{ executionId: "e1", suspensionIds: ["s1"], rewind: null, byDeadline: true, claim },
      events: [
        expect.objectContaining({ type: "workflow-resumed", timestamp: 8, path: "gate", stepIndex: 2 }),
      ],
    },
  });
  expect(JSON.stringify(call)).toContain(expired ? "expired" : JSON.stringify(resumeData).slice(1, -1));
});

test("a timer of an execution that is gone is refused, and nothing is written", async () => {
  const gone = processorOn({ exists: false });
  expect(await gone.processor.process(deadline, 8)).toBe("refused");
  expect(await gone.processor.process(timeout, 8)).toBe("refused");
  expect(gone.calls).toEqual([]);
  const closed = processorOn({ onDeadline: '"cancel"' });
  expect(await closed.processor.process({ ...deadline, suspensionId: "s9" }, 8)).toBe("refused");
  expect(closed.calls).toEqual([]);
});

test("an end that another process was first to write is refused and published by that one", async () => {
  const { processor, calls, engine } = processorOn({ refuses: true, onDeadline: '"cancel"' });
  const published = vi.spyOn(engine, "publish");
  expect(await processor.process(timeout, 8)).toBe("refused");
  expect(await processor.process(deadline, 8)).toBe("refused");
  expect(calls).toHaveLength(2);
  expect(published).not.toHaveBeenCalled();
});

test("room, shares and kept slots are those of the engine; a process that stops has none", () => {
  const { processor, engine } = processorOn();
  const giveBack = processor.keepFor(3);
  expect([processor.room, processor.roomForLimits]).toEqual([17, 19]);
  giveBack();
  expect([processor.room, processor.roomForLimits]).toEqual([20, 22]);
  expect(processor.usersOverShare()).toEqual(new Set());
  const timer = { kind: "timer", executionId: "e1", workflowId: "nap", dueAt: 0 } as const;
  expect(processor.takesSlot(timer)).toBe(true);
  const waiting = vi.spyOn(engine.admission, "runWaiting");
  processor.roundEnded();
  expect(waiting).toHaveBeenCalledTimes(1);
  engine.stopIntake();
  processor.roundEnded();
  expect(waiting).toHaveBeenCalledTimes(1);
  expect([processor.room, processor.roomForLimits]).toEqual([0, 0]);
});

test("a limit that earlier times of the execution come before is held there; a sleep is not asked about", async () => {
  const { processor, engine, calls } = processorOn({ onDeadline: '"cancel"' });
  const asked: unknown[] = [];
  const hurry = vi.spyOn(engine.admission, "hurry");
  const held = { holds: (limit: number) => asked.push(limit) > 0, stop: () => undefined };
  vi.spyOn(engine, "driver").mockImplementation(async (id) => (id === "e1" ? (held as never) : undefined));
  expect(await processor.process(deadline, 8)).toBe("held");
  expect(await processor.process({ ...timeout, dueAt: 9 }, 8)).toBe("held");
  expect([asked, hurry.mock.calls, calls]).toEqual([[7, 9], [["e1"], ["e1"]], []]);
  expect(await processor.process(sleep, 8)).toBe("done");
  expect([asked.length, hurry.mock.calls.length]).toEqual([2, 2]);
});

test.each([
  [timeout, "The execution timed out"],
  [deadline, "A deadline cancelled the execution"],
])("the bodies of an execution that ends here are aborted with the reason: $kind", async (timer, reason) => {
  const { processor, engine } = processorOn({ onDeadline: '"cancel"' });
  const stop = vi.fn();
  vi.spyOn(engine, "driver").mockResolvedValue({ holds: () => false, stop } as never);
  expect(await processor.process(timer, 8)).toBe("done");
  expect(stop.mock.calls).toEqual([[{ kind: "elsewhere" }, new Error(reason)]]);
});

test("a sleep whose load fails gives its slot back", async () => {
  const { processor, engine } = processorOn();
  vi.mocked(engine.load).mockRejectedValue(new Error("unreadable"));
  await expect(processor.process(sleep, 6)).rejects.toThrow("unreadable");
  expect([processor.room, engine.claims.holds("t")]).toEqual([20, false]);
});

test("a deadline that resumes is a resume with the time of the deadline", async () => {
  const { engine, calls } = processorOn({ onDeadline: '{"resume":7}' });
  const run = vi.spyOn(engine.admission, "runWhenFree").mockResolvedValue(true);
  vi.spyOn(engine.store, "resume").mockImplementation(async ({ events }) => ({
    kind: "claimed",
    events: events.map((event) => ({ ...event, sequence: 4 })),
  }));
  const processor = dueTimerProcessor(engine, { loadNow: async () => "done" });
  expect(await processor.process(deadline, 8)).toBe("done");
  expect(run.mock.calls).toMatchObject([[{ executionId: "e1", dueAt: 7, user: "ada" }]]);
  expect(calls).toEqual([]);
});
