// The state of every kind of run once nothing is under way any more. One that hangs shows here as running, at once and in
// words, and not as a test that takes too long.
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { inTime, patience } from "../../test/support/in-time.ts";
import { mortalStore, wrapStore } from "../../test/support/wrapped-store.ts";
import type { Andante } from "../andante/andante.ts";
import { createAndante } from "../andante/create-andante.ts";
import { StoreRefusedError, StoreUnavailableError } from "../errors/index.ts";
import { createLogger } from "../observe/log/create-logger.ts";
import { memoryStore } from "../store/sqlite/sqlite-store.ts";
import type { Store } from "../store/store.ts";
import { TestClock } from "../test-kit/test-clock.ts";
import { withTimeout } from "../values/with-timeout.ts";
import { createWorkflow } from "../workflow/create-workflow.ts";
import type { WorkflowDefinition } from "../workflow/step.ts";
import { andSleep, andSleepUntil, andThen } from "../workflow/steps/free-steps.ts";

const shared = memoryStore();
await inTime(shared.open(), "the store");
afterAll(() => shared.close());

const logger = createLogger({ level: "silent" });

let flows = 0;
const flow = () => createWorkflow({ id: `settles-${process.pid}-${++flows}`, input: z.unknown() });

function andanteOf(
  workflows: readonly WorkflowDefinition[],
  store: Store = wrapStore(shared),
  clock = new TestClock(),
) {
  const registered = Object.fromEntries(workflows.map((workflow) => [workflow.id, workflow]));
  const andante = createAndante({ store, logger, clock, workflows: registered });
  onTestFinished(() => andante.close({ grace: 0 }));
  return andante;
}

/** The state of an execution when nothing is under way. */
async function standing(andante: Andante, workflow: WorkflowDefinition, executionId: string) {
  const { timedOut } = await withTimeout(andante.settled(), patience);
  const { status, result } = await andante.state(workflow.id, executionId);
  return { status: timedOut ? `${status}, with something under way for ever` : status, result };
}

/** The outcome of a promise, or a word for none. */
async function outcome<T>(promise: Promise<T>): Promise<T | string> {
  const ended = promise.then(
    (value) => ({ value }),
    (error: unknown) => ({ value: `rejected: ${error}` }),
  );
  const { timedOut, value } = await withTimeout(ended, patience);
  return timedOut || value === undefined ? "nothing came" : value.value;
}

async function run(workflow: WorkflowDefinition, input: unknown = 1) {
  const andante = andanteOf([workflow]);
  const { executionId } = await andante.start(workflow.id, input);
  return standing(andante, workflow, executionId);
}

const gate = andThen({ id: "gate", execute: ({ resumeData, suspend }) => resumeData ?? suspend("why") });

describe("every kind of step comes to its end", () => {
  const child = createWorkflow({ id: "child", input: z.unknown() }).andThen({
    id: "say",
    execute: () => "child",
  });
  const cases: Record<string, [WorkflowDefinition, unknown]> = {
    "no step": [flow(), 1],
    "a body": [flow().andThen({ id: "a", execute: () => 2 }), 2],
    "a body that waits": [flow().andThen({ id: "a", execute: async () => 2 }), 2],
    "a body that returns something with a then": [
      flow().andThen({ id: "a", execute: () => JSON.parse('{"then":1}') }),
      JSON.parse('{"then":1}'),
    ],
    "two bodies": [
      flow()
        .andThen({ id: "a", execute: () => 2 })
        .andThen({ id: "b", execute: ({ data }) => data + 1 }),
      3,
    ],
    "a tap": [flow().andTap({ id: "t", execute: () => 9 }), 1],
    "a condition that holds": [
      flow().andWhen({ id: "w", condition: () => true, step: andThen({ id: "a", execute: () => 2 }) }),
      2,
    ],
    "a condition that does not": [
      flow().andWhen({ id: "w", condition: () => false, step: andThen({ id: "a", execute: () => 2 }) }),
      1,
    ],
    "all of several": [
      flow().andAll({
        id: "all",
        steps: [andThen({ id: "a", execute: () => 2 }), andThen({ id: "b", execute: async () => 3 })],
      }),
      [2, 3],
    ],
    "the first of several": [
      flow().andRace({
        id: "race",
        steps: [
          andThen({ id: "a", execute: () => 2 }),
          andThen({ id: "b", execute: () => new Promise<never>(() => undefined) }),
        ],
      }),
      2,
    ],
    "each of a list": [
      flow().andForEach({
        id: "each",
        items: () => [1, 2, 3],
        concurrency: 2,
        step: andThen({ id: "a", execute: ({ data }) => Number(data) * 2 }),
      }),
      [2, 4, 6],
    ],
    "rounds until": [
      flow().andDoUntil({
        id: "until",
        step: andThen({ id: "a", execute: ({ data }) => Number(data) + 1 }),
        condition: ({ data }) => Number(data) >= 3,
      }),
      3,
    ],
    "rounds while": [
      flow().andDoWhile({
        id: "while",
        step: andThen({ id: "a", execute: ({ data }) => Number(data) + 1 }),
        condition: ({ data }) => Number(data) < 3,
      }),
      3,
    ],
    "a child": [flow().andWorkflow({ id: "sub", workflow: child }), "child"],
    "a child whose schemas take their time": [
      flow().andWorkflow({
        id: "sub",
        workflow: createWorkflow({
          id: "slow-child",
          input: z.unknown().refine(async () => true),
          result: z.unknown().refine(async () => true),
        }).andThen({ id: "say", execute: () => "slow" }),
      }),
      "slow",
    ],
    "a sleep": [flow().andSleep({ id: "nap", duration: "1h" }), 1],
    "a sleep of a computed time": [flow().andSleep({ id: "nap", duration: () => 3_600_000 }), 1],
    "a sleep until a date": [flow().andSleepUntil({ id: "nap", date: new Date(Date.now() + 3_600_000) }), 1],
    "a sleep until a computed date": [
      flow().andSleepUntil({ id: "nap", date: () => new Date(Date.now() + 3_600_000) }),
      1,
    ],
    "sleeps side by side": [
      flow().andAll({
        id: "all",
        steps: [
          andSleep({ id: "a", duration: "1h" }),
          andSleepUntil({ id: "b", date: () => new Date(Date.now() + 7_200_000) }),
        ],
      }),
      [1, 1],
    ],
    "a sleep that wins": [
      flow().andRace({
        id: "race",
        steps: [andSleep({ id: "a", duration: "1h" }), andSleep({ id: "b", duration: "2h" })],
      }),
      1,
    ],
    "events of a body": [
      flow().andThen({
        id: "a",
        execute: ({ emit }) => {
          emit("half", { done: 50 });
          return 2;
        },
      }),
      2,
    ],
  };
  test.each(Object.entries(cases))("%s", async (_, [workflow, result]) => {
    expect(await run(workflow)).toEqual({ status: "completed", result });
  });

  test("a body that fails twice and then does not", async () => {
    let tries = 0;
    const workflow = flow().andThen({
      id: "a",
      retry: { attempts: 3, delay: "10m" },
      execute: () => {
        if (++tries < 3) throw new Error("not yet");
        return tries;
      },
    });
    expect(await run(workflow)).toEqual({ status: "completed", result: 3 });
  });

  test("a body that fails", async () => {
    const workflow = flow().andThen({
      id: "a",
      execute: () => {
        throw new Error("no");
      },
    });
    expect(await run(workflow)).toMatchObject({ status: "error" });
  });
});

describe("waiting executions continue", () => {
  const suspended = async () => {
    const workflow = flow().andThen({
      id: "gate",
      execute: ({ resumeData, suspend }) => resumeData ?? suspend("why"),
    });
    const andante = andanteOf([workflow]);
    const { executionId, result } = await andante.start(workflow.id, 1);
    expect(await outcome(result())).toMatchObject({ status: "suspended" });
    return { andante, workflow, executionId };
  };

  test.each(["", "stepId", "suspensionId", "both"])("with a resume (%s)", async (how) => {
    const { andante, workflow, executionId } = await suspended();
    const { suspension } = await andante.state(workflow.id, executionId);
    const { suspensionId = "" } = suspension ?? {};
    const names = {
      "": {},
      stepId: { stepId: "gate" },
      suspensionId: { suspensionId },
      both: { stepId: "gate", suspensionId },
    };
    const options = names[how as keyof typeof names];
    const resumed = await outcome(andante.resume(workflow.id, executionId, "yes", options));
    expect(resumed).toMatchObject({ status: "completed", result: "yes" });
  });

  test("and not with the name of another suspension", async () => {
    const { andante, workflow, executionId } = await suspended();
    const other = { suspensionId: "00000000-0000-4000-8000-000000000000" };
    expect(await outcome(andante.resume(workflow.id, executionId, "yes", other))).toMatch(
      /^rejected: .*NotSuspended/,
    );
    expect(await standing(andante, workflow, executionId)).toMatchObject({ status: "suspended" });
  });

  test("with its deadline", async () => {
    const workflow = flow().andThen({
      id: "gate",
      execute: ({ resumeData, suspend }) =>
        resumeData ?? suspend("", null, { deadline: "1h", onDeadline: { resume: "late" } }),
    });
    const clock = new TestClock();
    const andante = andanteOf([workflow], wrapStore(shared), clock);
    const { executionId } = await andante.start(workflow.id, 1);
    expect(await standing(andante, workflow, executionId)).toMatchObject({ status: "suspended" });
    clock.advance("2h");
    expect(await standing(andante, workflow, executionId)).toEqual({ status: "completed", result: "late" });
  });

  test("no longer than the timeout of its execution", async () => {
    const workflow = createWorkflow({ id: flow().id, input: z.unknown(), timeout: "1h" }).andThen({
      id: "gate",
      execute: ({ suspend }) => suspend("why"),
    });
    const clock = new TestClock();
    const andante = andanteOf([workflow], wrapStore(shared), clock);
    await andante.ready();
    const { executionId } = await andante.start(workflow.id, 1);
    expect(await standing(andante, workflow, executionId)).toMatchObject({ status: "suspended" });
    clock.advance("2h");
    expect(await standing(andante, workflow, executionId)).toMatchObject({ status: "error" });
  });

  test("after a pause, when that is lifted", async () => {
    let release = (): void => undefined;
    const begun = Promise.withResolvers<void>();
    const held = new Promise<void>((resolve) => (release = resolve));
    const workflow = flow()
      .andThen({
        id: "held",
        execute: async () => {
          begun.resolve();
          await held;
          return 2;
        },
      })
      .andThen({ id: "after", execute: ({ data }) => data + 1 });
    const andante = andanteOf([workflow]);
    const { executionId } = await andante.start(workflow.id, 1);
    await begun.promise;
    await andante.suspend(workflow.id, executionId);
    release();
    expect(await standing(andante, workflow, executionId)).toMatchObject({ status: "suspended" });
    expect(await outcome(andante.resume(workflow.id, executionId))).toMatchObject({
      status: "completed",
      result: 3,
    });
  });

  test("in the middle of other branches", async () => {
    const workflow = flow().andAll({ id: "all", steps: [gate, andSleep({ id: "nap", duration: "1h" })] });
    const andante = andanteOf([workflow]);
    const { executionId } = await andante.start(workflow.id, 1);
    expect(await standing(andante, workflow, executionId)).toMatchObject({ status: "suspended" });
    expect(await outcome(andante.resume(workflow.id, executionId, "yes"))).toMatchObject({
      result: ["yes", 1],
    });
  });
});

test("a caller that starts an existing execution gets its result", async () => {
  const workflow = flow().andThen({ id: "a", execute: () => 2 });
  const andante = andanteOf([workflow]);
  const options = { executionId: workflow.id };
  for (let time = 1; time <= 2; time++) {
    expect(await outcome(andante.execute(workflow.id, 1, options))).toMatchObject({
      status: "completed",
      result: 2,
    });
  }
});

test("a replay ends, and one of something that runs is refused", async () => {
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  const begun = Promise.withResolvers<void>();
  const workflow = flow()
    .andThen({ id: "a", execute: () => 2 })
    .andThen({
      id: "b",
      execute: async ({ data }) => {
        begun.resolve();
        await held;
        return data + 1;
      },
    });
  const andante = andanteOf([workflow]);
  const { executionId, result } = await andante.start(workflow.id, 1);
  await begun.promise;
  const replay = () => outcome(andante.replay(workflow.id, executionId, { stepId: "b" }));
  expect(await replay()).toMatch(/^rejected: .*still running/);
  release();
  expect(await outcome(result())).toMatchObject({ result: 3 });
  expect(await replay()).toMatchObject({ status: "completed", result: 3 });
});

test("a stream has every event up to the result, and closes with a suspension", async () => {
  const workflow = flow().andThen({
    id: "gate",
    execute: ({ resumeData, suspend }) => resumeData ?? suspend("why"),
  });
  const andante = andanteOf([workflow]);
  const typesOf = async (events: AsyncIterator<{ type: string }>) => {
    const types: string[] = [];
    for (;;) {
      const next = await outcome(events.next());
      if (typeof next === "string") return [...types, next];
      if (next.done === true) return types;
      types.push(next.value.type);
    }
  };
  const { executionId, events } = await andante.stream(workflow.id, 1);
  expect(await typesOf(events[Symbol.asyncIterator]())).toEqual([
    ...["workflow-start", "step-start", "step-suspended", "workflow-suspended", "workflow-result"],
  ]);
  const attached = await andante.attach(workflow.id, executionId);
  const rest = typesOf(attached?.events[Symbol.asyncIterator]() ?? events[Symbol.asyncIterator]());
  await andante.resume(workflow.id, executionId, "yes");
  expect((await rest).slice(-3)).toEqual(["step-complete", "workflow-complete", "workflow-result"]);
});

test.each(["the same definition", "one with another step at its end"])(
  "an execution that a process has left behind ends with %s",
  async (which) => {
    let life = 1;
    const begun = Promise.withResolvers<void>();
    const first = flow().andThen({
      id: "held",
      execute: () => {
        begun.resolve();
        return life === 1 ? new Promise<never>(() => undefined) : 2;
      },
    });
    const { store, die } = mortalStore(shared);
    const { executionId } = await andanteOf([first], store).start(first.id, 1);
    await begun.promise;
    await die();
    life++;
    const next = which === "the same definition" ? first : first.andThen({ id: "after", execute: () => 3 });
    const andante = andanteOf([next]);
    await andante.ready();
    const result = which === "the same definition" ? 2 : 3;
    expect(await standing(andante, next, executionId)).toEqual({ status: "completed", result });
  },
);

test.each([
  ["10m", "completed"],
  ["40m", "error"],
] as const)(
  "a sleep of %s and a timeout of 30m, both over while no process ran: %s",
  async (duration, status) => {
    const workflow = createWorkflow({ id: flow().id, input: z.unknown(), timeout: "30m" })
      .andSleep({ id: "nap", duration })
      .andThen({ id: "after", execute: async () => 2 });
    const clock = new TestClock({ skipSleeps: false });
    const first = andanteOf([workflow], wrapStore(shared), clock);
    const { executionId } = await first.start(workflow.id, 1);
    expect(await standing(first, workflow, executionId)).toMatchObject({ status: "running" });
    await first.close();
    clock.advance("1h");
    const next = andanteOf([workflow], wrapStore(shared), clock);
    await next.ready();
    expect(await standing(next, workflow, executionId)).toMatchObject({ status });
  },
);

test.each([
  ["is gone", () => new StoreUnavailableError(), 1],
  ["refuses them", () => new StoreRefusedError({ operation: "commit", cause: new Error("too big") }), 2],
])("a store that %s is not sent commits for ever", async (_, failure, sent) => {
  const workflow = flow().andThen({ id: "a", execute: () => 2 });
  let commits = 0;
  // It gives in, so that one that tries for ever ends.
  const commit: Store["commit"] = async (argument) => {
    if (++commits < 5) throw failure();
    return shared.commit(argument);
  };
  const andante = andanteOf([workflow], wrapStore(shared, { commit }));
  const { result } = await andante.start(workflow.id, 1);
  expect(await outcome(result())).toEqual(expect.stringMatching(/^rejected: /));
  expect(commits).toBe(sent);
});
