// A replay: the events that it takes over, the row that it creates, and the sources that it refuses.
import { describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { engineForTest, rowForTest } from "../../../test/support/test-engine.ts";
import { encodeEvents } from "../../journal/codec.ts";
import type { NewEvent } from "../../journal/events.ts";
import type { ExecutionRow, NewExecution, Store } from "../../store/store.ts";
import { createWorkflow } from "../../workflow/create-workflow.ts";
import { fingerprintOf } from "../../workflow/outline.ts";
import { prepareReplay, type ReplayOptions } from "./replay.ts";

const never = () => new Promise(() => undefined);
const flow = createWorkflow({ id: "nap", input: z.unknown() })
  .andThen({ id: "a", execute: never })
  .andThen({ id: "b", execute: never })
  .andThen({ id: "c", execute: never });

const usage = { inputTokens: 1, outputTokens: 2, totalTokens: 3, calls: 1 };
const start = {
  ...({ type: "workflow-start", timestamp: 1, input: '{"parsed":1}' } as const),
  ...{ traceparent: undefined, replayOf: undefined },
};
const stepOf = (path: string, stepIndex: number) => ({ timestamp: 2, path, stepIndex, stepType: "andThen" });
const began = (path: string, stepIndex: number): NewEvent => ({
  ...stepOf(path, stepIndex),
  ...{ type: "step-start", input: '"in"' },
});
const ended = (path: string, stepIndex: number, output: string): NewEvent => ({
  ...stepOf(path, stepIndex),
  ...{ type: "step-complete", output, usage: path === "a" ? usage : undefined },
});
const rewound = (path: string, stepIndex: number): NewEvent => ({
  ...{ type: "execution-rewound", timestamp: 3, path, stepIndex, resumeData: "1", userId: undefined },
});
const done: NewEvent = { type: "workflow-complete", timestamp: 4, result: "1" };
const whole: readonly NewEvent[] = [
  ...[start, began("a", 0), ended("a", 0, '"A"'), began("b", 1), ended("b", 1, '"B"'), began("c", 2), done],
];

interface Given {
  readonly journal?: readonly NewEvent[];
  readonly row?: Partial<ExecutionRow>;
  /** The execution that has the id of the replay already. */
  readonly known?: ExecutionRow;
  /** How many events of the journal are there. */
  readonly left?: number;
}

function replaying({ journal = whole, row = {}, known, left = journal.length }: Given = {}) {
  const created: NewExecution[] = [];
  const stored = encodeEvents(journal).map((event, index) => ({ ...event, sequence: index + 1 }));
  const operations: Partial<Store> = {
    events: async ({ after, limit }) => stored.slice(0, left).slice(after, after + limit),
    state: async () => known && { execution: known, suspensions: [], timers: [], usage: null },
    create: async (execution) => {
      created.push(execution);
      return { created: true };
    },
    release: async () => undefined,
  };
  const made = engineForTest(operations, { workflows: [flow] });
  const execution = rowForTest({
    ...{ executionId: "old", status: "completed", sequence: journal.length, input: '{"raw":1}' },
    ...{ definition: fingerprintOf(flow).definition, tags: ["red"], conversationId: "c1" },
    ...{ context: '{"user":{"name":"Ada"},"userId":"ada","conversationId":"c1","plan":"pro"}' },
    ...row,
  });
  const state = { execution, suspensions: [], timers: [], usage: null };
  const prepare = (options: ReplayOptions) => prepareReplay(made.engine, state, options);
  const replay = async (options: ReplayOptions) => (await prepare(options)).create();
  const message = (options: ReplayOptions) => prepare(options).then(() => "replayed", String);
  return { ...made, created, prepare, replay, message };
}

/** The events that the new journal begins with: type, path and value. */
async function takenOver(stepId: string, journal?: readonly NewEvent[]) {
  const { replay, created } = replaying(journal && { journal });
  await replay({ stepId });
  return created[0]?.events.map(({ type, path, value }) => [type, path, value]);
}

const first = ["workflow-start", null, '{"parsed":1}'];
const ofA = [
  ["step-start", "a", '"in"'],
  ["step-complete", "a", '"A"'],
];
const ofB = [
  ["step-start", "b", '"in"'],
  ["step-complete", "b", '"B"'],
];

describe("a replay", () => {
  test("takes over the events before its step, and runs the step", async () => {
    expect(await takenOver("a")).toEqual([first, ["step-start", "a", '{"parsed":1}']]);
    expect(await takenOver("b")).toEqual([first, ...ofA, ["step-start", "b", '"A"']]);
    expect(await takenOver("c")).toEqual([first, ...ofA, ...ofB, ["step-start", "c", '"B"']]);
  });

  test("takes over the events that a rewind has left in force", async () => {
    const again = [began("b", 1), ended("b", 1, '"B2"'), began("c", 2)];
    const journal = [...whole.slice(0, -1), rewound("b", 1), ...again];
    expect(await takenOver("c", journal)).toEqual([
      ...[first, ...ofA, ["execution-rewound", "b", "1"], ["step-start", "b", '"in"']],
      ...[
        ["step-complete", "b", '"B2"'],
        ["step-start", "c", '"B2"'],
      ],
    ]);
  });

  test("has a row of its own, with the input and context of its source and the user of the caller", async () => {
    const { replay, created, engine } = replaying();
    const published = vi.spyOn(engine, "publish");
    const shown = vi.spyOn(engine.feed, "show");
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const context = { plan: "free", more: 1 };
    const started = await replay({ stepId: "b", executionId: "new", userId: "bob", context, traceparent });
    expect(started).toEqual({ executionId: "new", startAt: 1000, created: true, settled: false });
    expect(created).toMatchObject([
      {
        ...{ executionId: "new", workflowId: "nap", input: '{"raw":1}', userId: "bob", conversationId: "c1" },
        context: '{"plan":"free","more":1,"userId":"bob","conversationId":"c1"}',
        ...{ startAt: 1000, timeoutAt: null, tags: ["red"], usage },
        replay: { of: { executionId: "old", stepId: "b" }, stepIndex: 1, resumes: 0 },
        claim: { owner: engine.claims.owner },
      },
    ]);
    expect(JSON.parse(created[0]?.events[0]?.detail ?? "{}")).toEqual({
      ...{ traceparent, replayOf: { executionId: "old", stepId: "b" } },
    });
    const numbers = (events: readonly { sequence: number; type: string }[]) =>
      events.map(({ sequence, type }) => `${sequence} ${type}`);
    expect(published.mock.calls.map(([, events]) => numbers(events))).toEqual([
      ["1 workflow-start"],
      ["4 step-start"],
    ]);
    expect(shown.mock.calls.map(([id, events]) => [id, numbers(events)])).toEqual([
      ["new", ["1 workflow-start"]],
      ["new", ["2 step-start", "3 step-complete"]],
      ["new", ["4 step-start"]],
    ]);
  });

  test("belongs to no user unless the caller names one", async () => {
    const { replay, created } = replaying({ row: { conversationId: null } });
    const { executionId } = await replay({ stepId: "a" });
    expect(executionId).not.toBe("old");
    expect(created).toMatchObject([{ userId: null, conversationId: null, context: '{"plan":"pro"}' }]);
  });

  test("of an input that its schema did not change keeps it once", async () => {
    const unchanged: NewEvent = { ...start, input: undefined };
    const { replay, created } = replaying({ journal: [unchanged, began("a", 0), done] });
    await replay({ stepId: "a" });
    expect(created).toMatchObject([
      { input: '{"raw":1}', events: [{ value: null }, { value: '{"raw":1}' }] },
    ]);
  });

  test("that is repeated finds itself, also when its source has changed", async () => {
    const replayOf = { executionId: "old", stepId: "b" };
    const known = rowForTest({
      ...{ executionId: "new", status: "completed", userId: null, input: '{"raw":1}', replayOf },
    });
    const { replay, prepare, created } = replaying({ known, row: { status: "running" } });
    const found = { executionId: "new", startAt: 1, created: false, settled: true };
    expect(await replay({ stepId: "b", executionId: "new" })).toEqual(found);
    expect((await prepare({ stepId: "b", executionId: "new" })).executionId).toBe("new");
    await expect(replay({ stepId: "a", executionId: "new" })).rejects.toMatchObject({ status: 409 });
    await expect(replay({ stepId: "b", executionId: "new", exclusive: true })).rejects.toMatchObject({
      ...{ status: 409, executionId: "new" },
    });
    expect(created).toEqual([]);
  });

  test("of an execution that is parked is made", async () => {
    const { message } = replaying({ row: { status: "running", parked: "changed" } });
    expect(await message({ stepId: "b" })).toBe("replayed");
  });
});

describe("a replay is refused", () => {
  const cannot = "ReplayTargetError: Cannot replay execution old:";

  test("while the source runs, for an unknown step, and for one that was not reached", async () => {
    const running = replaying({ row: { status: "running" } });
    expect(await running.message({ stepId: "b" })).toBe(`${cannot} it is still running`);
    const { message } = replaying();
    expect(await message({ stepId: "x" })).toBe(`${cannot} the workflow has no top-level step "x"`);
    const early = replaying({ journal: whole.slice(0, 3) });
    expect(await early.message({ stepId: "b" })).toBe(`${cannot} the step "b" has not been reached`);
  });

  test("for a step that was reached only before a rewind", async () => {
    const rewinding = (path: string, stepIndex: number, ...more: NewEvent[]) =>
      replaying({ journal: [...whole.slice(0, -1), rewound(path, stepIndex), ...more] });
    const back = rewinding("a", 0, began("a", 0));
    expect(await back.message({ stepId: "b" })).toBe(`${cannot} the step "b" has not been reached`);
    expect(await back.message({ stepId: "a" })).toBe("replayed");
    expect(await rewinding("b", 1).message({ stepId: "a" })).toBe("replayed");
    expect(await rewinding("b", 1).message({ stepId: "c" })).toContain("has not been reached");
  });

  test("while retention deletes the source", async () => {
    const { message } = replaying({ left: 5 });
    expect(await message({ stepId: "b" })).toBe("ExecutionNotFoundError: Execution old not found");
  });

  test("when the definition has changed before the step", async () => {
    const { engine, message } = replaying();
    vi.spyOn(engine.definitions, "incompatibility").mockResolvedValue("a is gone");
    expect(await message({ stepId: "b" })).toBe(
      'DefinitionChangedError: The workflow "nap" has changed since this execution began: a is gone',
    );
  });

  test("with options that are not valid", async () => {
    const { message } = replaying();
    expect(await message({ stepId: "b", userId: "" })).toMatch(/^InvalidOptionError: .*userId/);
    expect(await message({ stepId: "b", context: "x" as never })).toMatch(/^InvalidOptionError: .*context/);
    const long = { text: "x".repeat(1024 * 1024) };
    expect(await message({ stepId: "b", context: long })).toMatch(/^TooLargeError: Context is/);
  });
});
