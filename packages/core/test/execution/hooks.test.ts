// Hooks of a workflow: called after the commit, in order, and unable to disturb the run.
import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { RecordingLogger } from "../../src/test-kit/recording-logger.ts";
import { createWorkflow } from "../../src/workflow/create-workflow.ts";
import type { WorkflowHooks } from "../../src/workflow/hooks.ts";
import { andThen } from "../../src/workflow/steps/free-steps.ts";
import { inTime } from "../support/in-time.ts";
import { heldBody, onMemory } from "../support/test-andante.ts";

let flows = 0;
function hooked(hooks: WorkflowHooks) {
  return createWorkflow({ id: `hooked-${process.pid}-${++flows}`, input: z.unknown(), hooks });
}

/** Hooks that record their arguments; `told(n)` resolves at the n-th call. */
function listener() {
  const calls: [string, Record<string, unknown>][] = [];
  const waiting: { count: number; resolve(): void }[] = [];
  const hear = (name: string) => (context: object) => {
    calls.push([name, { ...context }]);
    for (const each of waiting) if (calls.length >= each.count) each.resolve();
  };
  const hooks: WorkflowHooks = {
    onStart: hear("onStart"),
    onStepEnd: hear("onStepEnd"),
    onSuspend: hear("onSuspend"),
    onEnd: hear("onEnd"),
  };
  const told = async (count: number) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    waiting.push({ count, resolve });
    if (calls.length < count) await inTime(promise, `call ${count} of a hook`);
    return calls;
  };
  return { hooks, told };
}

onMemory((bench) => {
  test("the hooks of a run are called from start to end, with its ids, user, context and outcomes", async () => {
    const { hooks, told } = listener();
    const workflow = hooked(hooks)
      .andThen({ id: "one", execute: () => ({ n: 1 }) })
      .andWhen({ id: "never", condition: () => false, step: andThen({ id: "inside", execute: () => 0 }) })
      .andTap({
        id: "noisy",
        execute: () => {
          throw new RangeError("loud");
        },
      });
    const andante = bench.andante(workflow);
    const options = { userId: "ada", conversationId: "c", context: { tier: "gold" } };
    const { executionId } = await andante.execute(workflow.id, "in", options);
    const calls = await told(5);
    expect(calls.map(([name]) => name)).toEqual(["onStart", "onStepEnd", "onStepEnd", "onStepEnd", "onEnd"]);
    for (const [, context] of calls) {
      expect(context).toMatchObject({
        executionId,
        workflowId: workflow.id,
        userId: "ada",
        conversationId: "c",
      });
      expect(context.context).toEqual(
        new Map(Object.entries({ tier: "gold", userId: "ada", conversationId: "c" })),
      );
      expect(context.timestamp).toBeInstanceOf(Date);
      expect(context.logger).toBeDefined();
    }
    expect(calls[0]?.[1]).toMatchObject({ input: "in", replayOf: undefined });
    expect(
      calls
        .slice(1, 4)
        .map(([, { stepPath, stepType, stepIndex, outcome }]) => [stepPath, stepType, stepIndex, outcome]),
    ).toEqual([
      ["one", "andThen", 0, { kind: "output", output: { n: 1 } }],
      ["never", "andWhen", 1, { kind: "skipped" }],
      [
        "noisy",
        "andTap",
        2,
        { kind: "error", error: { name: "RangeError", message: "loud", step: "noisy" } },
      ],
    ]);
    expect(calls[4]?.[1]).toMatchObject({ status: "completed", result: { n: 1 }, error: undefined });
  });

  test("onStepEnd of a step that bails receives its result", async () => {
    const { hooks, told } = listener();
    const workflow = hooked(hooks).andThen({ id: "leave", execute: ({ bail }) => bail({ early: true }) });
    const andante = bench.andante(workflow);
    await andante.execute(workflow.id, "in");
    const calls = await told(2);
    await andante.settled();
    expect(calls.map(([name]) => name)).toEqual(["onStart", "onStepEnd", "onEnd"]);
    expect(calls[1]?.[1]).toMatchObject({
      stepPath: "leave",
      outcome: { kind: "bailed", result: { early: true } },
    });
  });

  test("a hook is called after its commit", async () => {
    const seen = Promise.withResolvers<unknown>();
    const workflow = hooked({
      onEnd: async ({ workflowId, executionId }) =>
        seen.resolve((await andante.state(workflowId, executionId)).status),
    }).andThen({ id: "one", execute: () => 1 });
    const andante = bench.andante(workflow);
    await andante.execute(workflow.id, {});
    expect(await seen.promise).toBe("completed");
  });

  test("a failure and a suspension call their hooks, and a resume does not call onStart", async () => {
    const { hooks, told } = listener();
    const workflow = hooked(hooks).andThen({
      id: "ask",
      execute: ({ suspend, resumeData }) => {
        if (resumeData === undefined) return suspend("why?", { question: 1 });
        throw new Error("because");
      },
    });
    const andante = bench.andante(workflow);
    const { executionId, suspension } = await andante.execute(workflow.id, {});
    expect((await told(2))[1]).toMatchObject([
      "onSuspend",
      {
        suspensionId: suspension?.suspensionId,
        reason: "why?",
        data: { question: 1 },
        stepPath: "ask",
        stepIndex: 0,
        suspendedBy: undefined,
      },
    ]);
    await andante.resume(workflow.id, executionId, "x");
    const calls = await told(4);
    expect(calls.map(([name]) => name)).toEqual(["onStart", "onSuspend", "onStepEnd", "onEnd"]);
    const error = { name: "Error", message: "because", step: "ask" };
    expect(calls[3]?.[1]).toMatchObject({ status: "error", result: undefined, error });
  });

  test("a pause and a cancel from outside call their hooks once, with user and reason", async () => {
    const { hooks, told } = listener();
    const held = heldBody("late");
    const workflow = hooked(hooks).andThen({ id: "held", execute: held.execute });
    const andante = bench.andante(workflow);
    const { executionId } = await andante.start(workflow.id, {});
    await held.started;
    await andante.suspend(workflow.id, executionId, { reason: "wait", userId: "bob" });
    const pause = { reason: "wait", suspendedBy: "bob", stepPath: undefined, stepIndex: 0 };
    expect((await told(2))[1]).toMatchObject(["onSuspend", pause]);
    held.finish();
    await andante.cancel(workflow.id, executionId, { reason: "enough", userId: "carol" });
    const calls = await told(3);
    const last = calls.findLast(([name]) => name === "onEnd");
    expect(last?.[1]).toMatchObject({ status: "cancelled", reason: "enough", cancelledBy: "carol" });
    expect(calls.filter(([name]) => name === "onSuspend")).toHaveLength(1);
  });

  test("giving up on an execution that crashes its process is reported", async () => {
    const { hooks, told } = listener();
    const workflow = hooked(hooks).andThen({ id: "one", execute: () => 1 });
    const executionId = `crashing-${workflow.id}`;
    const start = {
      timestamp: 1,
      type: "workflow-start",
      path: null,
      stepIndex: null,
      stepType: null,
      value: null,
      detail: null,
    };
    const claim = { owner: "gone", token: "t" };
    const row = {
      executionId,
      workflowId: workflow.id,
      input: null,
      context: "{}",
      userId: null,
      conversationId: null,
    };
    await bench.store.create({ ...row, startAt: 1, timeoutAt: null, claim, events: [start] });
    await bench.store.heartbeat({ owner: "gone", lease: 0 });
    // Each time a process claims it and dies: the sixth is the engine, which fails it.
    for (let life = 0; life < 5; life++) {
      const query = {
        owner: "gone",
        key: randomUUID(),
        workflowIds: [workflow.id],
        limit: 1,
        suspects: life >= 2,
        suspectAfter: 2,
      };
      expect(await bench.store.claimAbandoned(query)).toHaveLength(1);
    }
    await bench.andante(workflow).ready();
    const [name, context] = (await told(1))[0] ?? [];
    expect(name).toBe("onEnd");
    expect(context).toMatchObject({ executionId, status: "error", error: { name: "CrashLoopError" } });
  });

  test("lines of a hook name the execution, and its user where it has one", async () => {
    const logger = new RecordingLogger();
    const ended = Promise.withResolvers<void>();
    const workflow = hooked({
      onEnd: (context) => {
        context.logger.info({}, "heard");
        if (context.userId === undefined) ended.resolve();
      },
    }).andThen({ id: "one", execute: () => 1 });
    const andante = bench.andanteWith({ logger }, workflow);
    const workflowId = workflow.id;
    const { executionId } = await andante.execute(workflowId, 1, { userId: "ada" });
    const nobodys = await andante.execute(workflowId, 1);
    await inTime(ended.promise, "the end of the second");
    const heard = logger.lines.filter(({ msg }) => msg === "heard");
    expect(heard).toMatchObject([
      { workflowId, executionId, userId: "ada" },
      { workflowId, executionId: nobodys.executionId },
    ]);
    expect(heard[1]).not.toHaveProperty("userId");
  });

  test("a replay calls hooks for the steps that it runs, not for those that it took over", async () => {
    const { hooks, told } = listener();
    const workflow = hooked(hooks)
      .andThen({ id: "one", execute: () => 1 })
      .andThen({ id: "two", execute: () => 2 });
    const andante = bench.andante(workflow);
    const source = await andante.execute(workflow.id, {});
    await told(4);
    await andante.replay(workflow.id, source.executionId, { stepId: "two" });
    const calls = (await told(7)).slice(4);
    expect(calls.map(([name, { stepPath }]) => [name, stepPath])).toEqual([
      ["onStart", undefined],
      ["onStepEnd", "two"],
      ["onEnd", undefined],
    ]);
    expect(calls[0]?.[1].replayOf).toEqual({ executionId: source.executionId, stepId: "two" });
  });

  describe("a hook that fails changes nothing and is logged:", () => {
    const fail = () => {
      throw new Error("hook");
    };
    test.each<[string, () => unknown]>([
      ["it throws", fail],
      ["it rejects", async () => fail()],
    ])("%s", async (_, hook) => {
      const hooks: WorkflowHooks = { onStart: hook, onStepEnd: hook, onSuspend: hook, onEnd: hook };
      const workflow = hooked(hooks).andThen({
        id: "ask",
        execute: ({ suspend, resumeData }) => resumeData ?? suspend(),
      });
      const andante = bench.andante(workflow);
      const { executionId } = await andante.execute(workflow.id, {});
      await expect(andante.resume(workflow.id, executionId, 1)).resolves.toMatchObject({ result: 1 });
      // onStart, onSuspend, onStepEnd and onEnd: the store has answered since, so all of them were called.
      await andante.state(workflow.id, executionId);
      expect(bench.logger.messages.filter((message) => message === "a hook failed")).toHaveLength(4);
    });

    test("one that never ends holds nothing up", async () => {
      const never = () => new Promise(() => undefined);
      const workflow = hooked({ onStart: never, onStepEnd: never, onEnd: never }).andThen({
        id: "one",
        execute: () => 1,
      });
      const andante = bench.andante(workflow);
      await expect(andante.execute(workflow.id, {})).resolves.toMatchObject({ result: 1 });
      await andante.close();
    });
  });
});

describe("at definition time", () => {
  /** As a host in plain JavaScript may call it. */
  const define = (options: object) => () =>
    Reflect.apply(createWorkflow, undefined, [{ id: "w", input: z.unknown(), ...options }]);

  test.each<[string, object, string]>([
    ["hooks that are no object", { hooks: "onStart" }, "hooks must be an object of functions"],
    ["an unknown hook", { hooks: { onFinish: () => 1 } }, 'hooks: unknown option "onFinish"'],
    ["a hook that is no function", { hooks: { onEnd: 1 } }, "the hook onEnd must be a function"],
    ["tags that are not an array", { tags: "red" }, "tags: expected an array of strings"],
    ["a long tag", { tags: ["x".repeat(101)] }, "tags: expected strings of 1 to 100 characters"],
    ["too many tags", { tags: Array.from({ length: 21 }, String) }, "tags: expected at most 20 tags"],
  ])("%s is refused", (_, options, words) => {
    expect(define(options)).toThrow(words);
  });
});
