// The log of operators: every execution that fails is one error line with the place and the reason, however it failed.
import { tool, type UIMessage } from "ai";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { Agent } from "../../src/agent/agent.ts";
import type { AgentOptions } from "../../src/agent/call/agent-options.ts";
import { PermanentError, StoreRefusedError } from "../../src/errors/index.ts";
import { RecordingLogger } from "../../src/test-kit/recording-logger.ts";
import { scriptedModel } from "../../src/test-kit/scripted-model.ts";
import { TestClock } from "../../src/test-kit/test-clock.ts";
import { createWorkflow } from "../../src/workflow/create-workflow.ts";
import type { WorkflowDefinition } from "../../src/workflow/step.ts";
import type { StepContext } from "../../src/workflow/step-context.ts";
import { andThen } from "../../src/workflow/steps/free-steps.ts";
import { controlledModel, type Said } from "../support/controlled-model.ts";
import { flow, heldBody, onMemory } from "../support/test-andante.ts";
import { mortalStore, wrapStore } from "../support/wrapped-store.ts";

const never = () => new Promise<never>(() => undefined);
const boom = () => {
  throw new Error("boom");
};

onMemory((bench) => {
  let ids = 0;
  /** Runs it to its end; returns the lines that it left. */
  const run = async (workflow: WorkflowDefinition, options: Parameters<typeof bench.andanteWith>[0] = {}) => {
    const logger = new RecordingLogger();
    const andante = bench.andanteWith({ logger, ...options }, workflow);
    const executionId = `failing-${process.pid}-${++ids}`;
    const { status } = await andante.execute(workflow.id, {}, { executionId, userId: "ada" });
    const linesOf = (level: "error" | "warn") =>
      logger.of(level).filter((line) => line.executionId === executionId);
    return { logger, executionId, status, errors: linesOf("error"), warnings: linesOf("warn") };
  };
  const one = (workflow: WorkflowDefinition, executionId: string, fields: object) => [
    { msg: "the execution failed", workflowId: workflow.id, executionId, userId: "ada", ...fields },
  ];

  describe("an execution that fails is one error line", () => {
    test("with the step, the attempt, the cause and its stack", async () => {
      const workflow = flow().andThen({ id: "work", execute: boom });
      const { errors, warnings, executionId } = await run(workflow);
      const err = { name: "Error", message: "boom", stack: expect.stringContaining("failure-lines.test.ts") };
      expect(errors).toMatchObject(one(workflow, executionId, { stepPath: "work", attempt: 1, err }));
      expect(warnings).toEqual([]);
    });

    test("and each attempt before the last is a warning", async () => {
      const workflow = flow().andThen({ id: "work", retry: { attempts: 3, delay: 1 }, execute: boom });
      const { errors, warnings, executionId } = await run(workflow);
      expect(errors).toMatchObject(one(workflow, executionId, { stepPath: "work", attempt: 3 }));
      expect(warnings).toMatchObject([
        { msg: "the step failed and is tried again", stepPath: "work", attempt: 1, err: { message: "boom" } },
        { msg: "the step failed and is tried again", stepPath: "work", attempt: 2 },
      ]);
    });

    test("deep inside containers", async () => {
      const child = createWorkflow({ id: "child", input: z.unknown() }).andThen({
        id: "deep",
        execute: boom,
      });
      const workflow = flow().andAll({
        id: "all",
        steps: [(chain) => chain.andWorkflow({ id: "sub", workflow: child })],
      });
      const { errors, executionId } = await run(workflow);
      const err = { message: "boom", stack: expect.stringContaining("failure-lines.test.ts") };
      expect(errors).toMatchObject(one(workflow, executionId, { stepPath: "all/sub/deep", attempt: 1, err }));
    });

    test("when an agent fails", async () => {
      const model = scriptedModel([{ error: new Error("the provider is down") }]);
      const agent = new Agent({ id: "writer", purpose: "writes", model, instructions: "", maxRetries: 0 });
      const workflow = flow().andAgent({ id: "ask", agent, prompt: "hello" });
      const { errors, executionId } = await run(workflow);
      const lines = errors.filter(({ msg }) => msg === "the execution failed");
      expect(lines).toMatchObject(one(workflow, executionId, { stepPath: "ask", attempt: 1 }));
    });

    test.each([
      {
        name: "an attempt that takes too long",
        make: () =>
          flow().andThen({
            id: "slow",
            timeout: 5,
            execute: ({ signal }) =>
              new Promise((_, fail) => signal.addEventListener("abort", () => fail(signal.reason))),
          }),
        fields: { stepPath: "slow", attempt: 1, err: { name: "StepTimeoutError" } },
      },
      {
        name: "an execution that takes too long",
        make: () =>
          createWorkflow({ id: `slow-${++ids}`, input: z.unknown(), timeout: 20 }).andThen({
            id: "slow",
            execute: never,
          }),
        fields: { stepPath: "slow", err: { name: "ExecutionTimeoutError" } },
      },
      {
        name: "a child that takes too long",
        make: () => {
          const child = createWorkflow({ id: "child", input: z.unknown(), timeout: 20 }).andThen({
            id: "slow",
            execute: never,
          });
          return flow().andWorkflow({ id: "sub", workflow: child });
        },
        fields: { stepPath: "sub", err: { name: "StepTimeoutError" } },
      },
      {
        name: "an input that does not fit",
        make: () => flow().andThen({ id: "strict", inputSchema: z.string(), execute: () => 1 }),
        fields: { stepPath: "strict", attempt: 1, err: { name: "StepSchemaError" } },
      },
      {
        name: "an output that does not fit",
        make: () =>
          flow().andThen({ id: "strict", outputSchema: z.string(), execute: () => JSON.parse("1") }),
        fields: { stepPath: "strict", attempt: 1, err: { name: "StepSchemaError" } },
      },
      {
        name: "a result that does not fit",
        make: () =>
          createWorkflow({ id: `strict-${++ids}`, input: z.unknown(), result: z.string() }).andThen({
            id: "last",
            execute: () => JSON.parse("1"),
          }),
        fields: {
          err: { name: "StepSchemaError", message: expect.stringContaining("result validation failed") },
        },
      },
      {
        name: "state that cannot be kept",
        make: () => flow().andThen({ id: "set", execute: ({ setState }) => setState({ big: 1n }) }),
        fields: { stepPath: "set", attempt: 1, err: { name: "UnserializableError" } },
      },
      {
        name: "a permanent error of the host",
        make: () =>
          flow().andThen({
            id: "work",
            retry: { attempts: 3 },
            execute: () => {
              throw new PermanentError("no");
            },
          }),
        fields: { stepPath: "work", attempt: 1, err: { name: "PermanentError" } },
      },
    ])("for $name", async ({ make, fields }) => {
      const workflow = make();
      const { errors, warnings, executionId, status } = await run(workflow);
      expect(status).toBe("error");
      expect(errors).toMatchObject(one(workflow, executionId, fields));
      expect(errors[0]?.err).toMatchObject({ stack: expect.stringContaining("Error") });
      expect(warnings).toEqual([]);
    });

    test.each<[string, (context: StepContext) => unknown]>([
      ["Checkpoint work#a needs a function", ({ checkpoint }) => Reflect.apply(checkpoint, null, ["a"])],
      [
        "Checkpoint work#a is used twice in one run of the body: each needs an id of its own",
        async ({ checkpoint }) => {
          await checkpoint("a", () => 1);
          await checkpoint("a", () => 2);
        },
      ],
      [
        "Checkpoint work#a cannot set state: only the body around it can",
        ({ checkpoint, setState }) => checkpoint("a", () => setState({ b: 1 })),
      ],
      [
        "Checkpoint work#a cannot suspend: only the body around it can",
        ({ checkpoint, suspend }) => checkpoint("a", () => suspend("why")),
      ],
      [
        "Checkpoint work#a cannot bail: only the body around it can",
        ({ checkpoint, bail }) => checkpoint("a", () => bail(1)),
      ],
      [
        "Checkpoint work#a cannot checkpoint: only the body around it can",
        ({ checkpoint }) => checkpoint("a", () => checkpoint("b", () => 1)),
      ],
      [
        'Step work: event type validation failed: "" is reserved, empty or longer than 100 characters',
        ({ emit }) => emit(""),
      ],
      ['Event "big" of step work cannot be kept as JSON: ', ({ emit }) => emit("big", 1n)],
      ["Result of bail of step work cannot be kept as JSON: ", ({ bail }) => bail(1n)],
      ["State set by step work at big cannot be kept as JSON: ", ({ setState }) => setState({ big: 1n })],
      ["Output of step work cannot be kept as JSON: ", () => 1n],
      [
        "Step work: deadline validation failed: is not a valid date",
        ({ suspend }) => suspend("why", null, { deadline: new Date(Number.NaN) }),
      ],
      [
        'Step work: onDeadline validation failed: expected { resume: … }, "fail" or "cancel"',
        ({ suspend }) => suspend("why", null, { deadline: "1h", onDeadline: Object("end") }),
      ],
      [
        "onDeadline of step work at resume cannot be kept as JSON: ",
        ({ suspend }) => suspend("why", null, { deadline: "1h", onDeadline: { resume: 1n } }),
      ],
    ])("for an invalid call of a body: %s", async (message, execute) => {
      const workflow = flow().andThen({ id: "work", execute });
      const { errors, executionId } = await run(workflow);
      const err = { message: expect.stringContaining(message) };
      expect(errors).toMatchObject(one(workflow, executionId, { stepPath: "work", attempt: 1, err }));
    });

    test.each<[string, Said, Partial<AgentOptions>]>([
      ["it has reached the number of tokens that the model may write", { finish: "length" }, {}],
      ["the provider's content filter stopped it", { finish: "content-filter" }, {}],
      [
        "it has used the agent's budget, and the last reply asks for tools",
        { calls: [{ name: "look", input: {} }] },
        { budget: { calls: 2 } },
      ],
      [
        "it has called the model 3 times, as often as maxSteps allows, and the last reply asks for tools",
        { calls: [{ name: "look", input: {} }] },
        { maxSteps: 3 },
      ],
    ])("for a reply that is not complete: %s", async (why, said, options) => {
      const model = controlledModel((_, number) => ({ text: [`reply ${number}`], ...said }));
      const look = tool({ inputSchema: z.object({}), execute: () => "seen" });
      const agent = new Agent({ id: "writer", model, tools: { look }, ...options });
      const ask = { id: "ask", agent, prompt: "hello" };
      const { errors } = await run(flow().andAgent(ask));
      const message = `Step ask: the agent's reply is not complete: ${why}. Set allowIncomplete to use it anyway.`;
      expect(errors).toMatchObject([{ msg: "the execution failed", err: { message } }]);
      const allowed = flow().andAgent({ ...ask, allowIncomplete: true });
      const { result } = await bench.andante(allowed).execute(allowed.id, {});
      expect(result).toMatchObject({ text: expect.stringMatching(/^reply \d$/) });
    });

    test("for files that an agent without a stream function would not see", async () => {
      const agent = { id: "plain", generate: async () => ({ text: "done" }) };
      const file = { type: "file", mediaType: "text/plain", url: "data:text/plain;base64,YQ==" } as const;
      const prompt: UIMessage[] = [{ id: "m", role: "user", parts: [file] }];
      const { errors } = await run(flow().andAgent({ id: "ask", agent, prompt: () => prompt }));
      const message = "this agent has only a generate function, which takes a string, not files";
      expect(errors).toMatchObject([{ msg: "the execution failed", err: { message } }]);
    });

    test.each([
      {
        name: "output",
        limits: { output: 100 },
        fields: { stepPath: "big", attempt: 1, err: { name: "OutputLimitError" } },
      },
      {
        name: "result",
        limits: { result: 100 },
        fields: { stepPath: "big", err: { name: "OutputLimitError" } },
      },
      {
        name: "journal",
        limits: { journal: { bytes: 100 } },
        fields: { stepPath: "after", err: { name: "JournalLimitError" } },
      },
    ])("for the limit of the $name", async ({ limits, fields, name }) => {
      const big = flow().andThen({ id: "big", execute: () => "x".repeat(200) });
      const workflow = name === "journal" ? big.andThen({ id: "after", execute: () => 1 }) : big;
      const { errors, executionId } = await run(workflow, { limits });
      expect(errors).toMatchObject(one(workflow, executionId, fields));
      expect(errors[0]?.err).toMatchObject({ stack: expect.stringContaining("LimitError") });
    });

    test("for a missed deadline", async () => {
      const logger = new RecordingLogger();
      const workflow = flow().andThen({
        id: "gate",
        execute: ({ suspend }) => suspend("why", {}, { deadline: "1h" }),
      });
      const clock = new TestClock();
      const andante = bench.andanteWith({ logger, clock }, workflow);
      const { executionId } = await andante.execute(workflow.id, {}, { userId: "ada" });
      clock.advance("1h");
      await andante.settled();
      expect(logger.of("error")).toMatchObject(
        one(workflow, executionId, { stepPath: "gate", attempt: 1, err: { name: "DeadlineError" } }),
      );
    });

    test("for one that keeps crashing its process", async () => {
      let held = heldBody("never");
      const workflow = flow().andThen({ id: "deadly", execute: (context) => held.execute(context) });
      const executionId = workflow.id;
      for (let life = 0; life <= 5; life++) {
        held = heldBody("never");
        const { store, die } = mortalStore(bench.store);
        const andante = bench.andanteWith({ store }, workflow);
        if (life === 0) await andante.start(workflow.id, {}, { executionId, userId: "ada" });
        await andante.ready();
        await held.started;
        await die();
      }
      const logger = new RecordingLogger();
      await bench.andanteWith({ logger }, workflow).ready();
      expect(logger.of("error")).toMatchObject(
        one(workflow, executionId, { stepPath: "deadly", err: { name: "CrashLoopError" } }),
      );
    });

    test("for a commit that the store refuses", async () => {
      let refuse = true;
      const store = wrapStore(bench.store, {
        commit: (commit) => {
          if (!refuse) return bench.store.commit(commit);
          refuse = false;
          return Promise.reject(new StoreRefusedError({ operation: "commit", cause: new Error("too big") }));
        },
      });
      const workflow = flow().andThen({ id: "work", execute: () => 1 });
      const { errors, executionId } = await run(workflow, { store });
      expect(errors).toMatchObject(one(workflow, executionId, { err: { name: "StoreRefusedError" } }));
    });

    test("for one whose workflow has changed incompatibly", async () => {
      const id = `changed-${++ids}`;
      const begin = () =>
        createWorkflow({ id, input: z.unknown() }).andThen({ id: "before", execute: () => 1 });
      const held = heldBody(1);
      const first = bench.andante(begin().andThen({ id: "held", execute: held.execute }));
      const { executionId } = await first.start(id, {}, { userId: "ada" });
      await held.started;
      await first.close({ grace: 0 });
      const logger = new RecordingLogger();
      await bench.andanteWith({ logger }, begin().andThen({ id: "other", execute: () => 1 })).ready();
      const lines = logger.of("warn", "error").filter((line) => line.executionId === executionId);
      expect(lines).toMatchObject([
        {
          level: "error",
          msg: "execution parked: its workflow has changed incompatibly",
          workflowId: id,
          executionId,
          userId: "ada",
          stepPath: "held",
          err: { name: "DefinitionChangedError", stack: expect.any(String) },
        },
      ]);
    });
  });

  test("a failure that ends no execution is a warning", async () => {
    const workflow = flow()
      .andTap({ id: "tap", execute: boom })
      .andRace({
        id: "race",
        steps: [andThen({ id: "loses", execute: boom }), andThen({ id: "wins", execute: () => 1 })],
      });
    const { errors, warnings, status } = await run(workflow);
    expect(status).toBe("completed");
    expect(errors).toEqual([]);
    expect(warnings).toMatchObject([
      { msg: "the step failed", stepPath: "tap", attempt: 1, userId: "ada" },
      { msg: "the step failed", stepPath: "race/loses", attempt: 1 },
    ]);
  });

  test("one that is cancelled, completes or waits is none", async () => {
    const workflow = flow().andThen({
      id: "gate",
      execute: ({ suspend, resumeData }) => resumeData ?? suspend(),
    });
    const logger = new RecordingLogger();
    const andante = bench.andanteWith({ logger }, workflow);
    const first = await andante.execute(workflow.id, {});
    await andante.cancel(workflow.id, first.executionId);
    const second = await andante.execute(workflow.id, {});
    await andante.resume(workflow.id, second.executionId, 1);
    expect(logger.of("warn", "error").filter((line) => line.workflowId === workflow.id)).toEqual([]);
  });
});
