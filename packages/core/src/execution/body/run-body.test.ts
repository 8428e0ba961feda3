// One run of a user function: which function runs, its checks, and the result of every way in which it ends.
import { describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { bodyForTest, type GivenBody } from "../../../test/support/running-body.ts";
import { CallsWaitError } from "../../agent/durable/call-waits.ts";
import { PermanentError } from "../../errors/index.ts";
import { origin } from "../../journal/failure.ts";
import type { Step, StepBase } from "../../workflow/step.ts";
import type { StepContext } from "../../workflow/step-context.ts";
import type { RunCommand } from "../interpreter/commands.ts";
import { runBody } from "./run-body.ts";
import { RunningStepContext } from "./running-step-context.ts";

const used = { inputTokens: 10, outputTokens: 5, totalTokens: 15, calls: 1 };

const base: StepBase = {
  ...{ id: "one", name: "one", purpose: "", inputSchema: undefined, outputSchema: undefined },
  ...{ suspendSchema: undefined, resumeSchema: undefined, retry: undefined, timeout: undefined },
};

const thenStep = (execute: (context: StepContext) => unknown, more: Partial<StepBase> = {}): Step => ({
  ...{ ...base, ...more },
  ...{ type: "andThen", execute },
});

function bodyOf(step: Step, given: Omit<GivenBody, "step"> = {}) {
  const body = bodyForTest({ step, ...given });
  return { ...body, result: () => runBody(body.run) };
}

/** The context with its inner functions. */
function running(context: StepContext): RunningStepContext {
  if (context instanceof RunningStepContext) return context;
  throw new Error("another context");
}

/** The result of a body with this function. */
const resultOf = (execute: (context: StepContext) => unknown, more?: Partial<StepBase>) =>
  bodyOf(thenStep(execute, more)).result();

const output = (value: string | undefined) => ({ kind: "output", value, usage: undefined });
const failure = (name: string, message: string, permanent: boolean) => ({
  kind: "error",
  error: expect.objectContaining({ name, message, step: "list/one" }),
  permanent,
});

describe("the function of a step", () => {
  const steps: readonly Step[] = [];
  const seen = (value: unknown) => vi.fn((_: unknown) => value);
  const cases: [string, Step, Partial<RunCommand>, string | undefined][] = [
    ["andThen", { ...base, type: "andThen", execute: seen(1) }, {}, "1"],
    ["andTap", { ...base, type: "andTap", execute: seen(1) }, {}, undefined],
    [
      "andWhen",
      { ...base, type: "andWhen", steps, condition: seen("yes") },
      { function: "condition" },
      "true",
    ],
    ["andWhen", { ...base, type: "andWhen", steps, condition: seen("") }, { function: "condition" }, "false"],
    [
      "andDoWhile",
      Object.assign({ ...base, type: "andDoWhile" as const, steps, condition: seen(0) }, { maxRounds: 3 }),
      { function: "condition" },
      "false",
    ],
    [
      "andDoUntil",
      Object.assign({ ...base, type: "andDoUntil" as const, steps, condition: seen(1) }, { maxRounds: 3 }),
      { function: "condition" },
      "true",
    ],
    ["andSleep", { ...base, type: "andSleep", duration: seen(500) }, { function: "duration" }, "500"],
    ["andSleep", { ...base, type: "andSleep", duration: 2000 }, { function: "duration" }, "2000"],
    ["andSleepUntil", { ...base, type: "andSleepUntil", date: seen(7) }, { function: "date" }, "7"],
    ["andSleepUntil", { ...base, type: "andSleepUntil", date: 8 }, { function: "date" }, "8"],
  ];
  test.each(cases)("of %s runs with the context of its step", (_, step, command, value) => {
    const body = bodyOf(step, { command });
    expect(body.result()).toEqual(output(value));
    for (const each of Object.values(step)) {
      if (!vi.isMockFunction(each)) continue;
      expect(each.mock.calls).toHaveLength(1);
      expect(each.mock.calls[0]?.[0]).toMatchObject({ data: 2, stepPath: "list/one", attempt: 2 });
    }
  });

  test("a branch runs the condition of its case", () => {
    const condition = (value: unknown) => ({ condition: () => value, steps });
    const step: Step = {
      ...base,
      type: "andBranch",
      cases: [condition(0), condition(1)],
    };
    const run = (extra: string) => bodyOf(step, { command: { function: "condition", extra } }).result();
    expect([run("0"), run("1"), run("2")]).toEqual([output("false"), output("true"), output("false")]);
  });

  test("items are made by their function, if there is one", () => {
    const forEach = { ...base, type: "andForEach" as const, steps, concurrency: 1 };
    const given = { command: { function: "items" } } as const;
    expect(bodyOf({ ...forEach, items: () => [1] }, given).result()).toEqual(output("[1]"));
    expect(bodyOf({ ...forEach, items: undefined }, given).result()).toEqual(output(undefined));
  });

  test("of an agent step makes the prompt, or asks the agent with it", async () => {
    const prompts: string[] = [];
    const agent = {
      generate: async ({ prompt }: { prompt: string }) => {
        prompts.push(prompt);
        return { text: "reply" };
      },
    };
    const none = { schema: undefined, allowIncomplete: false, budget: undefined };
    const step: Step = { ...base, ...none, type: "andAgent", agent, prompt: () => "made" };
    expect(bodyOf(step, { command: { function: "prompt" } }).result()).toEqual(output('"made"'));
    const fixed = { ...step, prompt: "fixed" };
    expect(bodyOf(fixed, { command: { function: "prompt" } }).result()).toEqual(output('"fixed"'));
    expect(prompts).toEqual([]);
    const asked = bodyOf(step, { command: { function: "agent", extra: '"hello"' } });
    expect(await asked.result()).toEqual(output('{"text":"reply"}'));
    expect(prompts).toEqual(["hello"]);
  });

  test("of a step that has none is an error", () => {
    const step: Step = { ...base, type: "andAll", branches: [], concurrency: 1 } as never;
    expect(bodyOf(step).result()).toEqual(failure("TypeError", "andAll has no body", false));
  });
});

test("a body without anything asynchronous ends at once, any other later", async () => {
  expect(resultOf(() => 1)).toEqual(output("1"));
  expect(resultOf(() => JSON.parse('{"then":1}'))).toEqual(output('{"then":1}'));
  expect(resultOf(() => null)).toEqual(output("null"));
  expect(resultOf(() => undefined)).toEqual(output(undefined));
  expect(resultOf(() => "then")).toEqual(output('"then"'));
  // biome-ignore lint/suspicious/noThenProperty: a promise of another library.
  const thenable = resultOf(() => ({ then: (resolve: (value: number) => void) => resolve(3) }));
  expect(thenable).toBeInstanceOf(Promise);
  expect(await thenable).toEqual(output("3"));
  expect(await resultOf(async () => 4)).toEqual(output("4"));
});

test("it runs inside the span of its step", () => {
  const body = bodyOf(thenStep(() => 1));
  const spy = vi.spyOn(body.run.facts.observation, "run");
  expect(body.result()).toEqual(output("1"));
  expect(spy.mock.calls).toEqual([["e1", "list/one", expect.any(Function)]]);
});

describe("schemas", () => {
  const even = z.number().refine((value) => value % 2 === 0, "odd");
  const laterEven = z.number().refine(async (value) => value % 2 === 0, "odd");
  const doubled = z.number().transform((value) => value * 2);
  const laterDoubled = z.number().transform(async (value) => value * 2);

  test("the input of a body is checked and transformed before it runs", async () => {
    const execute = vi.fn(({ data }: { data: unknown }) => data);
    expect(resultOf(execute, { inputSchema: doubled })).toEqual(output("4"));
    expect(await resultOf(execute, { inputSchema: laterDoubled })).toEqual(output("4"));
    execute.mockClear();
    const refused = (inputSchema: z.ZodType) =>
      bodyOf(thenStep(execute, { inputSchema }), { data: "3" }).result();
    const odd = failure("StepSchemaError", "Step list/one: input validation failed: odd", true);
    expect(refused(even)).toEqual(odd);
    expect(await refused(laterEven)).toEqual(odd);
    expect(execute).not.toHaveBeenCalled();
  });

  test("a failure after an asynchronous check of the input is the body's", async () => {
    const execute = () => {
      throw new Error("no");
    };
    expect(await resultOf(execute, { inputSchema: laterDoubled })).toEqual(failure("Error", "no", false));
    const suspend = ({ suspend: leave }: StepContext) => leave("why");
    expect(await resultOf(suspend, { inputSchema: laterDoubled })).toMatchObject({ kind: "suspended" });
  });

  test("the output of a body is checked and transformed after it ran", async () => {
    expect(resultOf(() => 2, { outputSchema: doubled })).toEqual(output("4"));
    expect(await resultOf(() => 2, { outputSchema: laterDoubled })).toEqual(output("4"));
    expect(await resultOf(async () => 2, { outputSchema: doubled })).toEqual(output("4"));
    const odd = failure("StepSchemaError", "Step list/one: output validation failed: odd", true);
    expect(resultOf(() => 3, { outputSchema: even })).toEqual(odd);
    expect(await resultOf(() => 3, { outputSchema: laterEven })).toEqual(odd);
  });

  test("they are not those of a function beside the body, except for the input of a prompt", () => {
    const strict = { inputSchema: z.string(), outputSchema: z.string() };
    const none = { schema: undefined, allowIncomplete: false, budget: undefined };
    const agent = { generate: async () => ({ text: "" }) };
    const condition: Step = { ...base, ...strict, type: "andWhen", steps: [], condition: () => true };
    expect(bodyOf(condition, { command: { function: "condition" } }).result()).toEqual(output("true"));
    const prompt: Step = { ...base, ...strict, ...none, type: "andAgent", agent, prompt: () => "p" };
    expect(bodyOf(prompt, { command: { function: "prompt" } }).result()).toMatchObject({ kind: "error" });
    expect(bodyOf(prompt, { command: { function: "prompt" }, data: '"s"' }).result()).toEqual(output('"p"'));
    const lenient: Step = { ...prompt, inputSchema: undefined, outputSchema: z.number(), prompt: "p" };
    expect(bodyOf(lenient, { command: { function: "prompt" } }).result()).toEqual(output('"p"'));
  });

  test("the reply of an agent is checked against both", async () => {
    const none = { schema: undefined, allowIncomplete: false, budget: undefined };
    const agent = { generate: async () => ({ text: "" }) };
    const given = { command: { function: "agent", extra: '"p"' } } as const;
    const asking = (more: Partial<StepBase>): Step => ({
      ...{ ...base, ...none, ...more },
      ...{ type: "andAgent", agent, prompt: "p" },
    });
    expect(await bodyOf(asking({ inputSchema: z.string() }), given).result()).toMatchObject({
      error: { message: expect.stringContaining("Step list/one: input validation failed") },
    });
    expect(await bodyOf(asking({ outputSchema: z.string() }), given).result()).toMatchObject({
      error: { message: expect.stringContaining("Step list/one: output validation failed") },
    });
  });
});

describe("a body that leaves", () => {
  const suspended = {
    kind: "suspended",
    request: { kind: "suspend", reason: "why", data: undefined, deadline: null, onDeadline: null },
  };

  test("by suspend or bail has that result, with the state that it has set before a bail", async () => {
    expect(resultOf(({ suspend }) => suspend("why"))).toEqual(suspended);
    expect(await resultOf(async ({ suspend }) => suspend("why"))).toEqual(suspended);
    expect(resultOf(({ bail }) => bail(1))).toEqual({ kind: "bailed", value: "1" });
    const bailed = await resultOf(({ bail, setState }) => {
      setState({ n: 1 });
      return bail();
    });
    expect(bailed).toMatchObject({ kind: "bailed", value: undefined, changes: expect.anything() });
  });

  test("and swallows the signal leaves all the same, with a line in the log", async () => {
    const warnings = async (
      execute: (context: StepContext) => unknown,
      given: Omit<GivenBody, "step"> = {},
    ) => {
      const body = bodyOf(thenStep(execute), given);
      const result = await body.result();
      const lines = body.logger.lines.map(({ level, msg, stepPath }) => [level, msg, stepPath]);
      return { result, lines };
    };
    const line = (text: string) => [["warn", `the body swallowed what ${text} anyway`, "list/one"]];
    const swallow = (call: () => unknown) => {
      try {
        call();
      } catch {}
      return 1;
    };
    expect(await warnings(({ suspend }) => swallow(() => suspend("why")))).toEqual({
      result: suspended,
      lines: line("suspend() throws; suspending"),
    });
    expect(await warnings(({ bail }) => swallow(() => bail(2)))).toEqual({
      result: { kind: "bailed", value: "2" },
      lines: line("bail() throws; bailing"),
    });
    const throwing = ({ suspend }: StepContext) => {
      swallow(() => suspend("why"));
      throw new Error("another");
    };
    expect(await warnings(throwing)).toEqual({
      result: suspended,
      lines: line("suspend() throws; suspending"),
    });
    const checkpoint = ({ checkpoint: work }: StepContext) => work("a", () => 1).catch(() => 2);
    expect(await warnings(checkpoint, { startsWork: false })).toEqual({
      result: { kind: "interrupted" },
      lines: line("checkpoint() throws during a pause or a shut-down; running it again"),
    });
    const late = ({ checkpoint: work }: StepContext) =>
      work("a", () => Promise.reject(new Error("no")), {
        retry: { attempts: 2, delay: "2s", jitter: false },
      }).catch(() => 2);
    const waited = await warnings(late);
    expect([waited.result, waited.lines.at(-1)]).toEqual([
      { kind: "waiting", until: 3000 },
      line("checkpoint() throws before a delay; running it again")[0],
    ]);
  });

  test("and does not swallow the signal of a checkpoint runs again", async () => {
    const body = bodyOf(
      thenStep(({ checkpoint }) => checkpoint("a", () => 1)),
      { startsWork: false },
    );
    expect(await body.result()).toEqual({ kind: "interrupted" });
    expect(body.logger.lines).toEqual([]);
  });

  test("because calls of its agent wait has their suspensions", async () => {
    const calls = [
      {
        path: "list/one#call[0]",
        reason: "r",
        data: '{"n":1}',
        resumeSchema: null,
        again: false,
        deadline: null,
        onDeadline: null,
      },
    ];
    const body = bodyOf(
      thenStep((context) => {
        const recorder = running(context).recorder();
        recorder.waits.wait("call[0]", { reason: "r", data: { n: 1 }, resumeSchema: undefined });
        return recorder.leave(new CallsWaitError());
      }),
    );
    expect(body.result()).toEqual({ kind: "calls-suspended", calls, sleeps: [] });
  });
});

describe("a body that fails", () => {
  test("has the error of its attempt, which is permanent when the host marks it so", async () => {
    const thrower = (error: unknown) => () => {
      throw error;
    };
    expect(resultOf(thrower(new Error("no")))).toEqual(failure("Error", "no", false));
    expect(resultOf(thrower(new PermanentError("no")))).toEqual(failure("PermanentError", "no", true));
    expect(await resultOf(async () => thrower(new Error("later"))())).toEqual(
      failure("Error", "later", false),
    );
    expect(resultOf(thrower("text"))).toEqual(
      failure("Error", "A value that is not an Error was thrown: text", false),
    );
    const result = await resultOf(thrower(new Error("no")));
    if (result.kind !== "error") throw new Error("it fails");
    expect(result.error[origin]).toMatchObject({ attempt: 2 });
  });

  test("because its output cannot be kept names the step", async () => {
    expect(resultOf(() => 1n)).toMatchObject({
      ...{ kind: "error", permanent: true },
      error: { message: expect.stringContaining("Output of step list/one") },
    });
    expect(await resultOf(async () => "x".repeat(60))).toMatchObject({
      ...{ kind: "error", permanent: true },
      error: { message: expect.stringContaining("Output of step list/one is 62 bytes; the limit is 50") },
    });
  });

  test("because the output of its checkpoint cannot be kept fails with that error, unless it catches it", async () => {
    const big = () => "x".repeat(60);
    const tooBig = {
      ...{ kind: "error", permanent: true },
      error: { message: expect.stringContaining("Output of checkpoint list/one#a") },
    };
    expect(await resultOf(({ checkpoint }) => checkpoint("a", big))).toMatchObject(tooBig);
    const catching = ({ checkpoint }: StepContext) => checkpoint("a", big).catch(() => "small");
    expect(await resultOf(catching)).toEqual(output('"small"'));
    const other = ({ checkpoint }: StepContext) =>
      checkpoint("a", big).catch(() => {
        throw new Error("mine");
      });
    expect(await resultOf(other)).toEqual(failure("Error", "mine", false));
    const leaving = ({ checkpoint, suspend }: StepContext) =>
      checkpoint("a", big).catch(() => suspend("why"));
    expect(await resultOf(leaving)).toMatchObject({ kind: "suspended" });
  });

  test("for good cannot return, throw something else or leave instead", async () => {
    const lost = new Error("lost");
    const ends: ((context: StepContext) => unknown)[] = [
      () => {
        throw new Error("mine");
      },
      ({ suspend }) => suspend("why"),
      ({ suspend }) => {
        try {
          suspend("why");
        } catch {}
        return 1;
      },
    ];
    for (const end of ends) {
      const body = bodyOf(
        thenStep((context) => {
          running(context).recorder().failed(lost);
          return end(context);
        }),
      );
      expect(body.result()).toEqual(failure("Error", "lost", false));
    }
  });
});

test("a body ends when the checkpoints that it did not wait for have ended", async () => {
  const held = Promise.withResolvers<number>();
  const order: string[] = [];
  const body = bodyOf(
    thenStep(({ checkpoint }) => {
      void checkpoint("a", () => held.promise).then(() => order.push("checkpoint"));
      return 1;
    }),
  );
  const result = Promise.resolve(body.result()).then((value) => {
    order.push("body");
    return value;
  });
  await Promise.resolve();
  expect(order).toEqual([]);
  held.resolve(5);
  expect(await result).toEqual(output("1"));
  expect(order).toEqual(["checkpoint", "body"]);
});

test("the state that a body has set and the usage of its agent are part of its output", () => {
  const body = bodyOf(
    thenStep((context) => {
      context.setState({ n: 1 });
      running(context).usage = used;
      return 1;
    }),
  );
  expect(body.result()).toEqual({
    ...{ kind: "output", value: "1", usage: used },
    changes: expect.objectContaining({}),
  });
});
