// A resume: the suspension that its options name, the data that it accepts, and the write that it makes.
import { describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { engineForTest, rowForTest } from "../../../test/support/test-engine.ts";
import { SchemaChecker } from "../../agent/schema/schema-checker.ts";
import { encodeEvents } from "../../journal/codec.ts";
import type { NewEvent } from "../../journal/events.ts";
import { Journal } from "../../journal/journal.ts";
import type { ExecutionRow, Resume, ResumeResult, Suspension } from "../../store/store.ts";
import { createWorkflow } from "../../workflow/create-workflow.ts";
import { fingerprintOf } from "../../workflow/outline.ts";
import { andThen } from "../../workflow/steps/free-steps.ts";
import { checkResumeOptions, type ResumeOptions, resumeExecution } from "./resume.ts";

const execute = () => 1;
const flow = createWorkflow({ id: "nap", input: z.unknown() })
  .andThen({ id: "first", execute, resumeSchema: z.object({ yes: z.boolean().default(true) }) })
  .andAll({ id: "all", steps: [andThen({ id: "left", execute }), andThen({ id: "right", execute })] })
  .andThen({ id: "last", execute });

const waitAt = (path: string | null, fields: Partial<Suspension> = {}): Suspension => ({
  ...{ suspensionId: `s-${path ?? "pause"}`, path, stepIndex: 1, reason: "", data: null, suspendedAt: 400 },
  ...{ deadline: null, onDeadline: null, resumeSchema: null },
  ...fields,
});

interface Given {
  readonly options?: ResumeOptions;
  readonly data?: unknown;
  readonly row?: Partial<ExecutionRow>;
  readonly result?: ResumeResult;
}

function resuming(suspensions: readonly Suspension[], given: Given = {}) {
  const written: Resume[] = [];
  const result = given.result ?? { kind: "owned", events: [] };
  const made = engineForTest(
    {
      resume: async (resume) => {
        written.push(resume);
        return result;
      },
    },
    { workflows: [flow] },
  );
  const { engine, logger } = made;
  // Its driver has read the journal.
  const has = vi.spyOn(engine, "has").mockReturnValue(true);
  const execution = rowForTest({
    ...{ status: "suspended", stepIndex: 1, definition: fingerprintOf(flow).definition },
    ...given.row,
  });
  const state = { execution, suspensions, timers: [] };
  const schemas = new SchemaChecker(logger);
  const check = vi.spyOn(schemas, "check").mockResolvedValue({ ok: true });
  const resume = () => resumeExecution(engine, schemas, state, given.data, given.options ?? {});
  const message = () => resume().then(() => "resumed", String);
  return { ...made, written, resume, message, check, has };
}

/** The suspensions that are closed and the events that are written. */
async function writeOf(suspensions: readonly Suspension[], given: Given = {}) {
  const { resume, written } = resuming(suspensions, given);
  await resume();
  return written;
}

const resumed = (path: string | null, fields: object = {}): NewEvent => ({
  ...{ type: "workflow-resumed", timestamp: 1000, path, stepIndex: 1, suspensionId: `s-${path ?? "pause"}` },
  ...{ resumeData: "null", userId: undefined, byDeadline: false, expired: false },
  ...fields,
});

const writtenAs = (ids: readonly string[], events: readonly NewEvent[], fields: object = {}) => [
  {
    ...{ executionId: "e1", suspensionIds: ids, rewind: null, events: encodeEvents(events) },
    ...{ claim: { owner: expect.any(String), token: expect.any(String) }, byDeadline: false },
    ...fields,
  },
];

const [left, right] = [waitAt("all/left"), waitAt("all/right")];
const pause = waitAt(null);

describe("the suspension", () => {
  test.each<[string, Suspension[], ResumeOptions, string]>([
    ["that waits alone", [left], {}, "all/left"],
    ["of the named step", [left, right], { stepId: "right" }, "all/right"],
    ["of the named path", [left, right], { stepId: "all/left" }, "all/left"],
    ["inside the named container", [right], { stepId: "all" }, "all/right"],
    ["of the given id", [left, right], { suspensionId: "s-all/right" }, "all/right"],
    [
      "of the given id and step",
      [left, right],
      { suspensionId: "s-all/right", stepId: "right" },
      "all/right",
    ],
    [
      "of the given id and container",
      [left, right],
      { suspensionId: "s-all/left", stepId: "all" },
      "all/left",
    ],
  ])("%s is closed", async (_, suspensions, options, path) => {
    expect(await writeOf(suspensions, { options })).toEqual(writtenAs([`s-${path}`], [resumed(path)]));
  });

  test("of a pause is lifted alone, or with the named step, whose data it does not have", async () => {
    const lifted = resumed(null, { pausedFor: 600 });
    const paused = { pausedFor: 600 };
    expect(await writeOf([pause])).toEqual(writtenAs(["s-pause"], [lifted], paused));
    expect(await writeOf([left, pause])).toEqual(writtenAs(["s-pause"], [lifted], paused));
    expect(await writeOf([left, pause], { options: { suspensionId: "s-pause" }, data: 5 })).toEqual(
      writtenAs(["s-pause"], [resumed(null, { resumeData: "5", pausedFor: 600 })], paused),
    );
    const both = [
      resumed(null, { resumeData: undefined, pausedFor: 600 }),
      resumed("all/left", { resumeData: "5" }),
    ];
    const ids = ["s-pause", "s-all/left"];
    for (const options of [
      { stepId: "left" },
      { stepId: "left", suspensionId: "s-pause" },
      { stepId: "all" },
    ])
      expect(await writeOf([left, pause], { options, data: 5 })).toEqual(writtenAs(ids, both, paused));
    const future = waitAt(null, { suspendedAt: 5000 });
    expect(await writeOf([future])).toMatchObject([{ pausedFor: 0 }]);
  });

  test("may not be guessed", async () => {
    const target = (suspensions: Suspension[], options: ResumeOptions) =>
      resuming(suspensions, { options }).message();
    expect(await target([left, right], {})).toContain(
      "several steps are waiting: name one with stepId (all/left, all/right)",
    );
    expect(await target([left, right], { stepId: "all" })).toContain(
      'several steps inside "all" are waiting: name one with stepId (all/left, all/right)',
    );
    const twice = [waitAt("list[0]/left"), waitAt("list[1]/left")];
    expect(await target(twice, { stepId: "left" })).toContain(
      'the step id "left" is ambiguous: name one with stepId (list[0]/left, list[1]/left)',
    );
    expect(await target([left], { suspensionId: "s-other" })).toMatch(/^NotSuspendedError/);
    expect(await target([], {})).toMatch(/^NotSuspendedError/);
    expect(await target([left], { stepId: "nowhere" })).toContain(
      'the workflow has no waiting or earlier step "nowhere"',
    );
    expect(await target([left], { stepId: "last" })).toContain('the step "last" has not been reached yet');
    expect(await target([left], { suspensionId: "s-all/left", stepId: "right" })).toContain(
      'the workflow has no waiting or earlier step "right"',
    );
    const onTop = { suspensions: [pause], options: { stepId: "all" } };
    expect(await target(onTop.suspensions, onTop.options)).toContain('nothing inside "all" waits');
  });
});

describe("a step to go back to", () => {
  const rewound = (path: string, stepIndex: number): NewEvent => ({
    ...{ type: "execution-rewound", timestamp: 1000, path, stepIndex },
    ...{ resumeData: '{"yes":true}', userId: "ada" },
  });
  const options = { stepId: "first", userId: "ada" };

  test("begins again, with the schema of its data", async () => {
    const back = { rewind: { stepIndex: 0 } };
    const event = [rewound("first", 0)];
    expect(await writeOf([left, right], { options, data: {} })).toEqual(
      writtenAs(["s-all/left"], event, back),
    );
    expect(await writeOf([left, pause], { options, data: {} })).toEqual(
      writtenAs(["s-pause"], event, { ...back, pausedFor: 600 }),
    );
    const pinned = { ...options, suspensionId: "s-all/right" };
    expect(await writeOf([left, right], { options: pinned, data: {} })).toEqual(
      writtenAs(["s-all/right"], event, back),
    );
  });

  test("may be the one that waits in it, when it is no container", async () => {
    const written = await writeOf([pause], { options: { stepId: "last" }, row: { stepIndex: 2 } });
    expect(written).toMatchObject([{ rewind: { stepIndex: 2 }, suspensionIds: ["s-pause"] }]);
    const all = await writeOf([waitAt("last")], { options: { stepId: "all" }, row: { stepIndex: 2 } });
    expect(all).toMatchObject([{ rewind: { stepIndex: 1 }, suspensionIds: ["s-last"] }]);
  });
});

describe("the data", () => {
  test("has the schema of the step", async () => {
    const given = { options: { userId: "ada" }, data: { yes: false, more: 1 } };
    expect(await writeOf([waitAt("first")], given)).toEqual(
      writtenAs(["s-first"], [resumed("first", { resumeData: '{"yes":false}', userId: "ada" })]),
    );
    expect(await resuming([waitAt("first")], { data: { yes: 1 } }).message()).toContain("yes");
    // Not that of a step which a pause does not resume.
    expect(await resuming([pause, waitAt("first")], { data: { yes: 1 } }).message()).toBe("resumed");
  });

  test("for a call inside a step has the schema of the call", async () => {
    const call = waitAt("first#call[0]", { resumeSchema: '{"type":"number"}' });
    const asked = resuming([call], { data: 5 });
    expect(await asked.message()).toBe("resumed");
    expect(asked.check.mock.calls).toEqual([['{"type":"number"}', "5", 101]]);
    const free = resuming([waitAt("first#call[0]")], { data: 5 });
    expect(await free.message()).toBe("resumed");
    expect(free.check).not.toHaveBeenCalled();
    const refused = resuming([call], { data: 5 });
    refused.check.mockResolvedValue({ ok: false, detail: "not five", overran: false });
    expect(await refused.message()).toContain("not five");
    expect(refused.written).toEqual([]);
  });
});

test("the caller receives the handle of the execution and its result", async () => {
  const { engine, resume, scheduled } = resuming([left]);
  const handle = await resume();
  expect(handle).toEqual({
    ...{ executionId: "e1", startAt: "1970-01-01T00:00:00.001Z", settled: false, traceparent: undefined },
    result: expect.any(Function),
  });
  expect(scheduled).toEqual([]);
  const result = handle.result();
  engine.waiters.settle("e1", { kind: "suspended", suspension: right });
  expect(await result).toMatchObject({ status: "suspended", suspension: { stepPath: "all/right" } });
});

test("a pause that is lifted lets timeouts fall due", async () => {
  const { resume, scheduled } = resuming([pause]);
  await resume();
  expect(scheduled).toEqual(["limit at 1000"]);
});

test("a resume that comes too late, or while the process stops, changes nothing here", async () => {
  const late = resuming([pause], { result: { kind: "refused" } });
  expect(await late.message()).toMatch(/^NotSuspendedError/);
  expect([late.engine.waiters.has("e1"), late.scheduled]).toEqual([false, []]);
  const failing = resuming([left]);
  vi.spyOn(failing.engine, "driver").mockRejectedValue(new Error("gone"));
  expect(await failing.message()).toBe("Error: gone");
  expect(failing.engine.waiters.has("e1")).toBe(false);
  const stopping = resuming([left]);
  await stopping.engine.close(0);
  expect(await stopping.message()).toMatch(/^ShuttingDownError/);
  expect(stopping.written).toEqual([]);
});

describe("an execution of another definition", () => {
  const row = { definition: "another" };

  test("is refused when its journal does not fit", async () => {
    const { engine, message, written } = resuming([left], { row });
    const journal = new Journal();
    const take = vi.spyOn(engine.folds, "take").mockResolvedValue({ fold: { journal } } as never);
    const change = vi.spyOn(engine.definitions, "incompatibility").mockResolvedValue("left is gone");
    expect(await message()).toMatch(/^DefinitionChangedError.*left is gone/s);
    expect(take.mock.calls).toMatchObject([[{ executionId: "e1" }]]);
    expect(change.mock.calls).toEqual([[expect.objectContaining({ executionId: "e1" }), journal]]);
    expect(written).toEqual([]);
  });

  test("is resumed when it does, after the journal that was compared", async () => {
    const { engine, message, written } = resuming([left], { row });
    const fold = { journal: new Journal(), sequence: 3, lastAt: 7 };
    vi.spyOn(engine.folds, "take").mockResolvedValue({ fold } as never);
    vi.spyOn(engine.definitions, "incompatibility").mockResolvedValue(undefined);
    expect(await message()).toBe("resumed");
    expect(written).toMatchObject([{ last: { sequence: 3, at: 7 } }]);
  });
});

test("the journal of an execution that is not loaded here is read once, before the write", async () => {
  const { engine, message, written, has } = resuming([left]);
  has.mockReturnValue(false);
  const fold = { journal: new Journal(), sequence: 3, lastAt: 7 };
  const take = vi.spyOn(engine.folds, "take").mockResolvedValue({ fold } as never);
  expect(await message()).toBe("resumed");
  expect([take.mock.calls.length, written[0]?.last]).toEqual([1, { sequence: 3, at: 7 }]);
  const loaded = resuming([left]);
  const none = vi.spyOn(loaded.engine.folds, "take");
  expect(await loaded.message()).toBe("resumed");
  expect(none).not.toHaveBeenCalled();
});

test("options that cannot name anything are refused before any look-up", () => {
  expect(() => checkResumeOptions({})).not.toThrow();
  for (const option of ["stepId", "suspensionId", "userId"])
    expect(() => checkResumeOptions({ [option]: "" })).toThrow(option);
});
