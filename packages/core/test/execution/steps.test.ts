// Steps of every kind, run through createAndante: data flow, schemas, failures.

import { describe, expect, test } from "vitest";
import { z } from "zod";
import { PublicError } from "../../src/errors/index.ts";
import { maxValidation } from "../../src/values/schema.ts";
import { createWorkflow } from "../../src/workflow/create-workflow.ts";
import type { WorkflowDefinition } from "../../src/workflow/step.ts";
import { andThen } from "../../src/workflow/steps/free-steps.ts";
import { type Bench, flow, onMemory } from "../support/test-andante.ts";
import { threadWorks } from "../support/thread-works.ts";

onMemory((bench: Bench) => {
  const run = (workflow: WorkflowDefinition, input: unknown = {}) =>
    bench.andante(workflow).execute(workflow.id, input);
  /** Why the execution failed, in full. */
  const failureOf = async (workflow: WorkflowDefinition, input: unknown = {}) => {
    const andante = bench.andante(workflow);
    const { executionId, status } = await andante.execute(workflow.id, input);
    expect(status).toBe("error");
    const { executions } = await andante.list({ idPrefix: executionId });
    return executions[0]?.error;
  };

  describe("data", () => {
    test("flows from step to step; the input stays at hand", async () => {
      const workflow = flow(z.object({ n: z.number() }))
        .andThen({ id: "double", execute: ({ data }) => data.n * 2 })
        .andThen({ id: "sum", execute: async ({ data, input }) => ({ sum: data + input.n }) });
      expect(await run(workflow, { n: 5 })).toMatchObject({ status: "completed", result: { sum: 15 } });
    });

    test("is the parsed input, with defaults and transforms", async () => {
      const schema = z.object({
        n: z.number().default(7),
        text: z.string().transform((text) => text.length),
      });
      const workflow = flow(schema).andThen({ id: "same", execute: ({ data }) => data });
      const andante = bench.andante(workflow);
      const { executionId, result } = await andante.execute(workflow.id, { text: "four" });
      expect(result).toEqual({ n: 7, text: 4 });
      expect((await andante.state(workflow.id, executionId)).input).toEqual({ text: "four" });
    });

    test("is a copy for each body: its changes are invisible to the others", async () => {
      const spoil = (id: string) =>
        andThen({
          id,
          execute: ({ data, input }: { data: { list: number[] }; input: unknown }) => {
            data.list.push(1);
            Object(input).list.push(2);
            return data.list.length;
          },
        });
      const workflow = flow(z.object({ list: z.array(z.number()) }))
        .andTap({ id: "tap", execute: ({ data }) => data.list.push(9) })
        .andAll({ id: "all", steps: [spoil("a"), spoil("b")] });
      const input = { list: [] };
      expect((await run(workflow, input)).result).toEqual([1, 1]);
      expect(input).toEqual({ list: [] });
    });

    test("passes through JSON: dates become strings, no output is null on the wire", async () => {
      const dates = flow().andThen({ id: "at", execute: () => ({ at: new Date(0), gone: undefined }) });
      expect((await run(dates)).result).toEqual({ at: "1970-01-01T00:00:00.000Z" });
      let seen: unknown = "nothing";
      const none = flow()
        .andThen({ id: "none", execute: () => undefined })
        .andTap({ id: "look", execute: ({ data }) => (seen = data) });
      expect((await run(none)).result).toBeNull();
      expect(seen).toBeUndefined();
    });
  });

  describe("the context of a body", () => {
    test("has the ids of execution and workflow, path, attempt and idempotency key", async () => {
      const workflow = flow().andAll({
        id: "all",
        steps: [
          andThen({
            id: "tell",
            execute: ({ executionId, workflowId, stepPath, attempt, idempotencyKey, ...context }) => ({
              executionId,
              workflowId,
              stepPath,
              attempt,
              idempotencyKey,
              rest: Object.keys(context).length,
            }),
          }),
        ],
      });
      const andante = bench.andante(workflow);
      const { executionId, result } = await andante.execute(workflow.id, {});
      expect(result).toMatchObject([
        { executionId, workflowId: workflow.id, stepPath: "all/tell", attempt: 1 },
      ]);
      expect(Object(result)[0].idempotencyKey).toBe(`${executionId}:all/tell`);
    });

    test("holds the caller's context, user and conversation", async () => {
      const workflow = flow().andThen({
        id: "tell",
        execute: ({ userId, conversationId, context }) => ({ userId, conversationId, map: [...context] }),
      });
      const options = { userId: "ada", conversationId: "talk", context: { tier: "gold" } };
      const { result } = await bench.andante(workflow).execute(workflow.id, {}, options);
      expect(result).toEqual({
        userId: "ada",
        conversationId: "talk",
        map: [
          ["tier", "gold"],
          ["userId", "ada"],
          ["conversationId", "talk"],
        ],
      });
    });

    test("gives input and output of earlier steps by id or path", async () => {
      const workflow = flow(z.number())
        .andAll({
          id: "all",
          steps: [andThen({ id: "inner", execute: ({ data }: { data: number }) => data + 1 })],
        })
        .andThen({
          id: "look",
          execute: ({ getStepData }) => [
            getStepData("inner"),
            getStepData("all/inner"),
            getStepData("none") ?? null,
          ],
        });
      const inner = { input: 1, output: 2 };
      expect((await run(workflow, 1)).result).toEqual([inner, inner, null]);
    });
  });

  describe("andTap", () => {
    test("its event shows the data that passed it, not its own result", async () => {
      const workflow = flow().andTap({ id: "tap", execute: () => "ignored" });
      const andante = bench.andante(workflow);
      const { executionId, result } = await andante.execute(workflow.id, 7);
      expect(result).toBe(7);
      const events = await andante.events(workflow.id, executionId);
      expect(events.find(({ type }) => type === "step-complete")).toMatchObject({ from: "tap", output: 7 });
    });

    test("changes nothing, and its failure is journaled and does not stop the run", async () => {
      const workflow = flow(z.number())
        .andTap({ id: "fail", execute: () => Promise.reject(new Error("tapped out")) })
        .andThen({ id: "next", execute: ({ data }) => data + 1 });
      const andante = bench.andante(workflow);
      const { executionId, result } = await andante.execute(workflow.id, 1);
      expect(result).toBe(2);
      const events = await andante.events(workflow.id, executionId);
      expect(events.find(({ type }) => type === "step-error")).toMatchObject({
        from: "fail",
        error: { name: "Error", message: "tapped out" },
      });
      expect(bench.logger.messages).toContain("the step failed");
    });
  });

  describe("andWhen", () => {
    const workflow = () =>
      flow(z.number()).andWhen({
        id: "when",
        condition: async ({ data }) => data > 1,
        step: (chain) =>
          chain
            .andThen({ id: "a", execute: ({ data }) => data * 10 })
            .andThen({ id: "b", execute: ({ data }) => data + 1 }),
      });
    test("runs its chain when the condition holds, else passes the data on", async () => {
      expect((await run(workflow(), 2)).result).toBe(21);
      expect((await run(workflow(), 1)).result).toBe(1);
    });

    test("cannot suspend in its condition", async () => {
      const asks = flow().andWhen({
        id: "when",
        condition: (context) => {
          try {
            Object(context).suspend();
          } catch {
            // Catching it does not help.
          }
          return Object(context).suspend();
        },
        step: andThen({ id: "a", execute: () => 1 }),
      });
      expect(await failureOf(asks)).toMatchObject({
        message: "when#condition cannot suspend: only the body of a step can",
      });
    });
  });

  describe("andAgent", () => {
    const agent = (text: string) => {
      const prompts: string[] = [];
      return {
        prompts,
        generate: async ({ prompt }: { prompt: string }) => {
          prompts.push(prompt);
          return { text };
        },
      };
    };
    test("without a schema gives the text", async () => {
      const writer = agent("hello");
      const workflow = flow(z.string()).andAgent({
        id: "ask",
        agent: writer,
        prompt: ({ data }) => `About ${data}`,
      });
      expect((await run(workflow, "walking")).result).toEqual({ text: "hello" });
      expect(writer.prompts).toEqual(["About walking"]);
    });

    test("with a schema gives the object, also out of a fenced block, and enforces it", async () => {
      const schema = z.object({ n: z.number() });
      const ask = (text: string) => flow().andAgent({ id: "ask", agent: agent(text), prompt: "p", schema });
      expect((await run(ask('```json\n{ "n": 5 }\n```'))).result).toEqual({ n: 5 });
      expect(await failureOf(ask('{ "n": "five" }'))).toMatchObject({ name: "StepSchemaError", step: "ask" });
      expect((await failureOf(ask("no json")))?.message).toContain("it is not JSON");
    });
  });

  describe("andWorkflow", () => {
    test("runs the child with its own input and result, under its path", async () => {
      const child = createWorkflow({
        id: "child",
        input: z.object({ n: z.number().default(4) }),
        result: z.object({ n: z.number() }),
      }).andThen({ id: "leaf", execute: ({ input, stepPath }) => ({ n: input.n, stepPath }) });
      const workflow = flow(z.object({})).andWorkflow({ id: "sub", workflow: child });
      expect((await run(workflow, {})).result).toEqual({ n: 4 });
    });

    test("enforces the child's input and result", async () => {
      const child = createWorkflow({ id: "child", input: z.number(), result: z.string() });
      const sub = (workflow: ReturnType<typeof flow>) =>
        Object(workflow).andWorkflow({ id: "sub", workflow: child });
      expect((await failureOf(sub(flow()), "no number"))?.message).toMatch(
        /sub: input of workflow child validation failed/,
      );
      expect((await failureOf(sub(flow()), 5))?.message).toMatch(
        /sub: result of workflow child validation failed/,
      );
    });
  });

  describe("schemas", () => {
    test("of steps are enforced before and after the body", async () => {
      let ran = false;
      const takes = flow().andThen({
        id: "takes",
        inputSchema: z.object({ n: z.number() }),
        execute: () => (ran = true),
      });
      expect((await failureOf(takes, { n: "x" }))?.message).toMatch(
        /^Step takes: input validation failed: n: /,
      );
      expect(ran).toBe(false);
      const gives = flow().andThen({ id: "gives", outputSchema: z.number(), execute: () => Object("text") });
      expect((await failureOf(gives))?.message).toMatch(/^Step gives: output validation failed/);
    });

    test("transform the data, also when they are asynchronous", async () => {
      const plusOne = z.number().transform(async (n) => n + 1);
      const workflow = flow(plusOne)
        // A body that computes with it at once, so that a promise would show.
        .andThen({ id: "a", inputSchema: plusOne, outputSchema: plusOne, execute: ({ data }) => data * 1 })
        .andAll({
          id: "all",
          inputSchema: plusOne,
          outputSchema: z.array(plusOne),
          steps: [andThen({ id: "b", execute: ({ data }: { data: number }) => data })],
        });
      expect((await run(workflow, 0)).result).toEqual([5]);
    });

    test("of containers are enforced", async () => {
      const inner = andThen({ id: "inner", execute: () => 1 });
      const takes = flow().andAll({ id: "all", inputSchema: z.string(), steps: [inner] });
      expect((await failureOf(takes, 5))?.message).toMatch(/^Step all: input validation failed/);
      const gives = flow().andRace({ id: "race", outputSchema: z.string(), steps: [inner] });
      expect((await failureOf(gives))?.message).toMatch(/^Step race: output validation failed/);
    });

    describe("that take longer than a caller's value may", () => {
      const large = Array(20_001).fill(1);
      const slow = z.unknown().refine(() => {
        const end = performance.now() + maxValidation + 100;
        while (performance.now() < end);
        return true;
      });

      test("hold for outputs, results and the data of suspensions", async () => {
        const workflow = createWorkflow({ id: "slow", input: z.unknown(), result: slow, suspendSchema: slow })
          .andThen({ id: "make", outputSchema: slow, execute: () => large })
          .andAll({ id: "all", outputSchema: slow, steps: [andThen({ id: "same", execute: () => large })] })
          .andThen({
            id: "gate",
            execute: ({ resumeData, suspend }) =>
              resumeData === undefined ? suspend("go?", large, { deadline: "1h" }) : large,
          });
        const andante = bench.andante(workflow);
        const { executionId, status } = await andante.execute(workflow.id, 1);
        expect(status).toBe("suspended");
        expect(await andante.resume(workflow.id, executionId, 1)).toMatchObject({ result: large });
      });

      test("refuse an input", async () => {
        threadWorks(maxValidation);
        const workflow = flow()
          .andThen({ id: "make", execute: () => large })
          .andThen({ id: "take", inputSchema: slow, execute: () => 1 });
        expect(await failureOf(workflow)).toMatchObject({
          message: expect.stringContaining("could not be validated within"),
        });
      });

      test("do not refuse an input that the machine is too busy to validate, however often a request is tried", async () => {
        threadWorks(0.79 * maxValidation);
        let tries = 0;
        const late = z.array(z.any()).refine(() => {
          tries += 1;
          while (tries < 4);
          return true;
        });
        const workflow = flow()
          .andThen({ id: "make", execute: () => large })
          .andThen({ id: "take", inputSchema: late, execute: () => "taken" });
        expect(await run(workflow)).toMatchObject({ status: "completed", result: "taken" });
      });
    });

    test("of input and result are enforced", async () => {
      const workflow = createWorkflow({
        id: flow().id,
        input: z.object({ n: z.number() }),
        result: z.object({ text: z.string() }),
      }).andThen({ id: "a", execute: ({ data }) => ({ text: data.n === 1 ? "one" : data.n, extra: 1 }) });
      expect((await run(workflow, { n: 1 })).result).toEqual({ text: "one" });
      expect((await failureOf(workflow, { n: 2 }))?.message).toMatch(/result validation failed: text: /);
      await expect(run(workflow, { n: "x" })).rejects.toMatchObject({
        status: 400,
        message: expect.stringMatching(/^Input validation failed: n: /),
      });
    });
  });

  describe("a failing body", () => {
    test.each<[string, unknown, string]>([
      ["a text", "words", "A value that is not an Error was thrown: words"],
      ["nothing", undefined, "A value that is not an Error was thrown: undefined"],
      ["an object", { code: 5 }, 'A value that is not an Error was thrown: {"code":5}'],
      ["an error with a strange message", Object.assign(new Error(), { message: 5 }), "5"],
      [
        "an error that cannot be read",
        Object.defineProperty(new Error("x"), "message", {
          get() {
            throw new Error("no");
          },
        }),
        "Error",
      ],
    ])("may throw %s", async (_, thrown, message) => {
      const throws = () => {
        throw thrown;
      };
      expect(await failureOf(flow().andThen({ id: "a", execute: throws }))).toMatchObject({
        message,
        step: "a",
      });
      const rejects = flow().andThen({ id: "a", execute: () => Promise.reject(thrown) });
      expect(await failureOf(rejects)).toMatchObject({ message });
    });

    test("may return a value that JSON cannot hold: the error names step and place", async () => {
      const workflow = flow().andThen({ id: "a", execute: () => ({ deep: [new Map()] }) });
      expect(await failureOf(workflow)).toMatchObject({
        name: "UnserializableError",
        message: "Output of step a at deep[0] cannot be kept as JSON: it is a Map",
      });
    });

    test("keeps its words from the state and the stream, not from the journal", async () => {
      const workflow = flow().andThen({ id: "a", execute: () => Promise.reject(new Error("secret")) });
      const andante = bench.andante(workflow);
      const result = await andante.execute(workflow.id, {});
      expect(result).toMatchObject({ status: "error", result: null, error: "Failed to execute workflow" });
      const { executionId } = result;
      expect(JSON.stringify(await andante.state(workflow.id, executionId))).not.toContain("secret");
      const stream = await andante.attach(workflow.id, executionId);
      for await (const event of stream?.events ?? []) expect(JSON.stringify(event)).not.toContain("secret");
      expect(JSON.stringify(await andante.events(workflow.id, executionId))).toContain("secret");
      expect(JSON.stringify(await andante.list({ idPrefix: executionId }))).toContain("secret");
    });

    test("lends its words when they are public", async () => {
      const workflow = flow().andThen({
        id: "a",
        execute: () => Promise.reject(new PublicError("Out of paper")),
      });
      const andante = bench.andante(workflow);
      const { executionId, error } = await andante.execute(workflow.id, {});
      expect(error).toBe("Out of paper");
      expect((await andante.state(workflow.id, executionId)).error).toBe("Out of paper");
    });
  });

  test("a workflow without steps gives its input", async () => {
    expect((await run(flow(z.number()), 5)).result).toBe(5);
  });
});
