// Executions of workflows: which definitions fit, and the end of an execution that crashes its processes.
import { expect, test, vi } from "vitest";
import { z } from "zod";
import { engineForTest, rowForTest } from "../../../test/support/test-engine.ts";
import { Journal, replayEvents } from "../../journal/journal.ts";
import type { CommitResult, ExecutionRow, Store } from "../../store/store.ts";
import { createWorkflow } from "../../workflow/create-workflow.ts";
import { fingerprintOf } from "../../workflow/outline.ts";
import type { WorkflowDefinition } from "../../workflow/step.ts";
import { andThen } from "../../workflow/steps/free-steps.ts";

const flow = () => createWorkflow({ id: "nap", input: z.unknown() });
const body = (id: string) => ({ id, execute: () => 1 });
const nap = flow().andThen(body("one"));

function kindOf(operations: Partial<Store> = {}, workflow: WorkflowDefinition = nap) {
  const made = engineForTest(operations, { workflows: [workflow] });
  return { ...made, kind: made.engine.workflowKind };
}

test("a kind of executions with slots and spans, which callers may read by their ids", () => {
  const { kind } = kindOf();
  const { name, noun, takesSlot, hasSpans, isAddressable, settlesAsleep, keptFor, claimable } = kind;
  expect({ name, noun, takesSlot, hasSpans, isAddressable, settlesAsleep, keptFor, claimable }).toEqual({
    ...{ name: "workflow", noun: "execution", takesSlot: true, hasSpans: true, isAddressable: true },
    settlesAsleep: false,
    ...{ keptFor: undefined, claimable: { workflowIds: ["nap"] } },
  });
  expect(kind.definition({ workflowId: "nap" })).toBe(nap);
  expect(() => kind.definition({ workflowId: "gone" })).toThrow("gone");
  expect(engineForTest().engine.workflowKind.claimable).toBeUndefined();
});

test("changes are published while they are followed", () => {
  const { kind, engine } = kindOf();
  const published = vi.spyOn(engine.changes, "publish");
  const events = [{ type: "workflow-complete", timestamp: 5, result: "1", sequence: 4 } as const];
  kind.publish(rowForTest(), events);
  expect(published).not.toHaveBeenCalled();
  engine.changes.follow({ receive: () => undefined, stop: () => undefined });
  kind.publish(rowForTest(), events);
  expect(published.mock.calls).toEqual([[rowForTest(), events]]);
});

/** The end of an execution that was recovered too often. */
async function crashLoop(
  fields: Partial<ExecutionRow>,
  result: CommitResult = { kind: "ok", sequence: 4, idle: false },
  gone = false,
) {
  const row = rowForTest({ stepIndex: 0, ...fields });
  const commit = vi.fn<Store["commit"]>(async () => result);
  const state = { execution: row, suspensions: [], timers: [{ path: "nap", dueAt: 9 }], usage: null };
  const asked: unknown[] = [];
  const { kind, engine, logger } = kindOf({
    commit,
    state: async () => (gone ? undefined : state),
    events: async (query) => {
      asked.push(query);
      return [{ ...lastEvent, sequence: 3 }];
    },
  });
  const settled = vi.fn();
  void engine.waiters.wait("e1").settled.then(settled);
  const published = vi.spyOn(kind, "publish");
  const ended = await kind.endCrashLoop({ ...row, trace: null }, "t", 5);
  await new Promise((resolve) => setImmediate(resolve));
  return { ended, commit, published, settled, asked, logger };
}

const lastEvent = {
  ...{ timestamp: 2000, type: "step-start", path: "one", stepIndex: 0, stepType: "andThen" },
  ...{ value: "1", detail: null },
};

test("one that was recovered too often ends in error, after its last event and without its timers", async () => {
  const { ended, commit, published, settled, asked, logger } = await crashLoop({});
  expect(ended).toBe(true);
  expect(asked).toEqual([{ executionId: "e1", after: 2, limit: 1 }]);
  expect(commit.mock.calls).toMatchObject([
    [
      {
        ...{ executionId: "e1", token: "t", number: 1, after: 3, stepIndex: 0, clear: ["nap"] },
        ...{ end: { status: "error" }, following: [{ type: "workflow-error", timestamp: 2000 }] },
      },
    ],
  ]);
  const event = expect.objectContaining({ type: "workflow-error", sequence: 4 });
  expect(published.mock.calls).toEqual([[expect.objectContaining({ executionId: "e1" }), [event], 0]]);
  expect(settled.mock.calls).toMatchObject([[{ kind: "ended", status: "error", endAt: 2000 }]]);
  expect(logger.of("error")).toMatchObject([{ msg: "the execution failed", stepPath: "one" }]);
});

test("a paused one is loaded to go idle; one that is gone or was taken over needs nothing", async () => {
  const paused = await crashLoop({ paused: true });
  expect([paused.ended, paused.commit.mock.calls]).toEqual([false, []]);
  const gone = await crashLoop({}, undefined, true);
  expect([gone.ended, gone.commit.mock.calls, gone.published.mock.calls]).toEqual([true, [], []]);
  const taken = await crashLoop({}, { kind: "fenced", sequence: 3, idle: false });
  expect([taken.ended, taken.published.mock.calls, taken.settled.mock.calls]).toEqual([true, [], []]);
});

test("a definition that is current fits without a read", () => {
  const outline = vi.fn<Store["outline"]>();
  const { kind } = kindOf({ outline });
  const { definition } = fingerprintOf(nap);
  expect(kind.fits(rowForTest({ definition }), new Journal(), "t")).toBe(true);
  expect(outline).not.toHaveBeenCalled();
});

const started = (path: string, stepType: string, sequence: number) =>
  ({ type: "step-start", timestamp: 1, path, stepIndex: 0, stepType, input: "1", sequence }) as const;
const loopOf = (inner: string) =>
  flow().andDoWhile({ id: "loop", condition: () => true, step: andThen(body(inner)) });

test.each<[string, WorkflowDefinition, (journal: Journal) => void, boolean]>([
  ["a step that was not reached", flow().andThen(body("other")), () => undefined, true],
  [
    "a step that has started",
    flow().andThen(body("other")),
    (journal) => journal.started("other", 0, "1", 5),
    false,
  ],
  [
    "a step with an outcome",
    flow().andThen(body("other")),
    (journal) => journal.ended("other", 0, { kind: "output", value: "1" }, 3),
    false,
  ],
  [
    "a step that is only known",
    flow().andThen(body("other")),
    (journal) => journal.failed("other", 0, 1, 5),
    true,
  ],
  [
    "a step of a round that is over",
    loopOf("inner"),
    (journal) =>
      replayEvents(journal, [
        ...[started("loop", "andDoWhile", 2), started("loop[0]/inner", "andThen", 3)],
        started("loop[1]/inner", "andThen", 4),
      ]),
    false,
  ],
])("an execution that began with %s, which the current definition lacks", async (_, before, reach, fits) => {
  const calls: unknown[] = [];
  const { kind, engine } = kindOf({
    outline: async () => fingerprintOf(before).outline,
    adopt: async (adopt) => void calls.push({ adopt }),
    park: async (park) => void calls.push({ park }),
  });
  const journal = new Journal();
  reach(journal);
  expect(await kind.fits(rowForTest({ definition: "before" }), journal, "t")).toBe(fits);
  const definition = engine.definitions.current("nap");
  expect(calls).toEqual(
    fits
      ? [{ adopt: { executionId: "e1", token: "t", definition } }]
      : [{ park: { executionId: "e1", token: "t", definition, reason: expect.any(String) } }],
  );
});

test("an outline that the store does not have, and one of another workflow, count as fitting", async () => {
  const { engine } = kindOf({ outline: async () => undefined });
  const journal = new Journal();
  journal.started("other", 0, "1", 5);
  expect(
    await engine.definitions.incompatibility({ workflowId: "nap", definition: "before" }, journal),
  ).toBeUndefined();
});

test("the line of a parked execution names the top-level step that it has reached and started", async () => {
  const before = flow().andThen(body("zero")).andThen(body("other"));
  const { kind, logger } = kindOf({
    outline: async () => fingerprintOf(before).outline,
    park: async () => undefined,
  });
  const journal = new Journal();
  journal.started("zero", 0, "1", 5);
  journal.failed("known", 1, 1, 5);
  journal.started("other/inner", 1, "1", 5);
  journal.started("other", 1, "1", 5);
  expect(await kind.fits(rowForTest({ definition: "before", stepIndex: 1 }), journal, "t")).toBe(false);
  expect(logger.of("error")).toMatchObject([{ stepPath: "other" }]);
});
