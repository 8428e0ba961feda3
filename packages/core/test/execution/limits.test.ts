// Limits: a value that is too large is refused or ends in an error that names it, its size and the limit.
import { tool } from "ai";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { Agent } from "../../src/agent/agent.ts";
import type { Andante } from "../../src/andante/andante.ts";
import type { AndanteLimits } from "../../src/execution/limits/limits.ts";
import type { StepContext } from "../../src/workflow/step-context.ts";
import { andThen } from "../../src/workflow/steps/free-steps.ts";
import { controlledModel } from "../support/controlled-model.ts";
import { flow, heldBody, onMemory, onMemoryAndFile } from "../support/test-andante.ts";

/** A JSON text of exactly this many bytes. */
const text = (bytes: number) => "x".repeat(bytes - 2);

onMemory((bench) => {
  describe("the input", () => {
    const workflow = flow().andThen({ id: "length", execute: ({ data }) => JSON.stringify(data).length });

    test("may be as large as the limit, to the byte", async () => {
      const andante = bench.andanteWith({ limits: { input: 1000 } }, workflow);
      await expect(andante.execute(workflow.id, text(1000))).resolves.toMatchObject({ result: 1000 });
      await expect(andante.execute(workflow.id, text(1001))).rejects.toMatchObject({
        code: "too-large",
        status: 413,
        message: "Input is 1001 bytes; the limit is 1000 (limits.input)",
      });
      // Three bytes each, though one character.
      await expect(andante.execute(workflow.id, "€".repeat(400))).rejects.toMatchObject({
        code: "too-large",
      });
      expect((await andante.list({ workflowId: workflow.id })).executions).toHaveLength(1);
    });

    test("is limited to 4 MiB by default", async () => {
      const andante = bench.andante(workflow);
      await expect(andante.execute(workflow.id, text(4 * 2 ** 20 + 1))).rejects.toMatchObject({
        status: 413,
      });
    });

    test("counts as the schema returns it too", async () => {
      const growing = flow(z.string().transform((given) => given.repeat(100))).andThen({
        id: "never",
        execute: () => 1,
      });
      const andante = bench.andanteWith({ limits: { input: 1000 } }, growing);
      await expect(andante.execute(growing.id, text(50))).rejects.toMatchObject({ code: "too-large" });
    });
  });

  describe("the answer to a suspension", () => {
    const workflow = flow().andThen({
      id: "ask",
      execute: ({ suspend, resumeData }) => (resumeData === undefined ? suspend() : "thanks"),
    });

    test("that is too large is refused, and the execution waits on", async () => {
      const andante = bench.andanteWith({ limits: { resumeData: 1000 } }, workflow);
      const { executionId } = await andante.execute(workflow.id, {});
      await expect(andante.resume(workflow.id, executionId, text(1001))).rejects.toMatchObject({
        status: 413,
        message: "Resume data is 1001 bytes; the limit is 1000 (limits.resumeData)",
      });
      await expect(andante.resume(workflow.id, executionId, text(1000))).resolves.toMatchObject({
        status: "completed",
      });
    });
  });

  describe("the output of a step", () => {
    test("fails the step when it is too large, and the error names the step, its size and the limit", async () => {
      const workflow = flow()
        .andThen({ id: "small", execute: () => text(1000) })
        .andThen({ id: "big", execute: async () => text(1001) });
      const andante = bench.andanteWith({ limits: { output: 1000 } }, workflow);
      const { executionId, status } = await andante.execute(workflow.id, {});
      expect(status).toBe("error");
      const events = await andante.events(workflow.id, executionId);
      expect(events.find(({ type }) => type === "step-error")).toMatchObject({
        from: "big",
        error: {
          name: "OutputLimitError",
          step: "big",
          message: expect.stringMatching(
            /^Output of step big is 1001 bytes; the limit is 1000 \(limits\.output\)/,
          ),
        },
      });
    });

    test("counts for suspend data as well", async () => {
      const workflow = flow().andThen({ id: "ask", execute: ({ suspend }) => suspend("why", text(1001)) });
      const andante = bench.andanteWith({ limits: { output: 1000 } }, workflow);
      const { executionId, status } = await andante.execute(workflow.id, {});
      expect(status).toBe("error");
      const { executions } = await andante.list({ workflowId: workflow.id });
      expect(executions).toMatchObject([
        {
          executionId,
          error: { message: expect.stringContaining("Suspend data of step ask is 1001 bytes") },
        },
      ]);
    });
  });

  /** The message of the failure of the newest execution. */
  const failureOf = async (andante: Andante, workflowId: string) =>
    (await andante.list({ workflowId })).executions[0]?.error?.message;

  test("the output of a tool that is too large fails the step, and the error names the call, its size and the limit", async () => {
    const model = controlledModel(() => ({ calls: [{ name: "look", input: {} }] }));
    const look = tool({ inputSchema: z.object({}), execute: () => "x".repeat(2000) });
    const agent = new Agent({ id: "a", model, tools: { look } });
    const workflow = flow().andAgent({ id: "ask", agent, prompt: "go" });
    const andante = bench.andanteWith({ limits: { output: 1000 } }, workflow);
    const { executionId, status } = await andante.execute(workflow.id, 1);
    expect(status).toBe("error");
    expect(JSON.stringify(await andante.events(workflow.id, executionId))).toMatch(
      /Output of ask#call\[0\]\.tool\[0\] is \d+ bytes; the limit is 1000 \(limits\.output\)/,
    );
  });

  describe("other limits on the values of a step", () => {
    const tooLarge = (what: string, option: string) =>
      expect.stringMatching(new RegExp(`^${what} is \\d+ bytes; the limit is 1000 \\(limits\\.${option}\\)`));
    let attempts = 0;
    const retry = { attempts: 3, delay: 1 };

    test.each<[string, Partial<AndanteLimits>, string, string, (context: StepContext) => unknown]>([
      [
        "the reason of a suspension",
        { reason: 1000 },
        "Suspend reason of step a",
        "reason",
        ({ suspend }) => suspend(text(1003)),
      ],
      [
        "the data of a suspension",
        { output: 1000 },
        "Suspend data of step a",
        "output",
        ({ suspend }) => suspend("", text(1001)),
      ],
      [
        "the resume data of a deadline",
        { resumeData: 1000 },
        "Resume data for the deadline of step a",
        "resumeData",
        ({ suspend }) => suspend("", null, { deadline: "1h", onDeadline: { resume: text(1001) } }),
      ],
      [
        "the result of bail",
        { output: 1000 },
        "Result of bail of step a",
        "output",
        ({ bail }) => bail(text(1001)),
      ],
      [
        "the data of an event",
        { output: 1000 },
        'Event "progress" of step a',
        "output",
        ({ emit }) => emit("progress", text(1001)),
      ],
      [
        "a state set at once",
        { state: 1000 },
        "State of the execution after step a",
        "state",
        ({ setState }) => setState({ text: text(1001) }),
      ],
      [
        "a state set in many pieces",
        { state: 1000 },
        "State of the execution after step a",
        "state",
        ({ setState }) => {
          for (let n = 0; n < 20; n++) setState({ [n]: text(60) });
        },
      ],
    ])("%s fails it, and it is not tried again", async (_, limits, what, option, execute) => {
      attempts = 0;
      const workflow = flow().andThen({
        id: "a",
        retry,
        execute: (context) => {
          attempts++;
          return execute(context);
        },
      });
      const andante = bench.andanteWith({ limits }, workflow);
      expect((await andante.execute(workflow.id, {})).status).toBe("error");
      expect(await failureOf(andante, workflow.id)).toEqual(tooLarge(what, option));
      expect(attempts).toBe(1);
    });

    test("the state as a whole, though each step sets little", async () => {
      let chain = flow().andThen({ id: "first", execute: ({ setState }) => setState({ kept: "x" }) });
      for (let n = 0; n < 20; n++) {
        chain = chain.andThen({ id: `step-${n}`, execute: ({ setState }) => setState({ [n]: text(60) }) });
      }
      const andante = bench.andanteWith({ limits: { state: 1000 } }, chain);
      await andante.execute(chain.id, {});
      expect(await failureOf(andante, chain.id)).toEqual(
        tooLarge("State of the execution after step step-\\d+", "state"),
      );
    });

    test("but a state that is set again and again does not grow", async () => {
      let chain = flow().andThen({ id: "first", execute: ({ setState }) => setState({ kept: "x" }) });
      for (let n = 0; n < 20; n++) {
        chain = chain.andThen({ id: `step-${n}`, execute: ({ setState }) => setState({ again: text(900) }) });
      }
      const andante = bench.andanteWith({ limits: { state: 1000 } }, chain);
      expect((await andante.execute(chain.id, {})).status).toBe("completed");
    });

    test("the array of a container, though each output is small enough", async () => {
      const give = (id: string) => andThen({ id, execute: () => text(600) });
      const limits = { containerOutput: 1000 };
      const all = flow()
        .andAll({ id: "all", steps: [give("left"), give("right")] })
        .andThen({ id: "forget", execute: () => 1 });
      const each = flow()
        .andForEach({ id: "each", items: () => [1, 2], step: give("one") })
        .andThen({ id: "forget", execute: () => 1 });
      const caught = flow()
        .andRace({
          id: "race",
          steps: [
            (chain) => chain.andAll({ id: "all", steps: [give("left"), give("right")] }),
            give("alone"),
          ],
        })
        .andThen({ id: "forget", execute: () => "raced" });
      const andante = bench.andanteWith({ limits }, all, each, caught);
      await andante.execute(all.id, {});
      expect(await failureOf(andante, all.id)).toEqual(tooLarge("Output of step all", "containerOutput"));
      await andante.execute(each.id, {});
      expect(await failureOf(andante, each.id)).toEqual(tooLarge("Output of step each", "containerOutput"));
      // It is a failure of that step like any other: a race is won by the branch that does not fail.
      expect((await andante.execute(caught.id, {})).result).toBe("raced");
    });
  });

  describe("the context and the reason that a caller sends", () => {
    const workflow = flow().andThen({
      id: "ask",
      execute: ({ suspend, resumeData }) => resumeData ?? suspend(),
    });

    test("a context that is too large is refused, of a start and of a replay", async () => {
      const andante = bench.andanteWith({ limits: { context: 1000 } }, workflow);
      const refusal = {
        status: 413,
        message: expect.stringMatching(/^Context is \d+ bytes; the limit is 1000 \(limits\.context\)/),
      };
      const context = { text: text(1001) };
      await expect(andante.start(workflow.id, {}, { context })).rejects.toMatchObject(refusal);
      const { executionId } = await andante.execute(workflow.id, {}, { context: { text: text(900) } });
      const replay = { stepId: "ask", context: { more: text(900) } };
      await expect(andante.replay(workflow.id, executionId, replay)).rejects.toMatchObject(refusal);
    });

    test("a reason that is too large is refused, of a pause and of a cancellation", async () => {
      const held = heldBody(1);
      const running = flow().andThen({ id: "held", execute: held.execute });
      const andante = bench.andanteWith({ limits: { reason: 1000 } }, running);
      const { executionId } = await andante.start(running.id, {});
      const refusal = { status: 413, message: "Reason is 1001 bytes; the limit is 1000 (limits.reason)" };
      const reason = "x".repeat(1001);
      await expect(andante.suspend(running.id, executionId, { reason })).rejects.toMatchObject(refusal);
      await expect(andante.cancel(running.id, executionId, { reason })).rejects.toMatchObject(refusal);
      expect((await andante.state(running.id, executionId)).status).toBe("running");
      held.finish();
    });
  });

  test("a result that is too large ends the execution in error", async () => {
    const half = (id: string) => andThen({ id, execute: () => text(600) });
    const workflow = flow().andAll({ id: "both", steps: [half("left"), half("right")] });
    const andante = bench.andanteWith({ limits: { result: 1000 } }, workflow);
    await expect(andante.execute(workflow.id, {})).resolves.toMatchObject({ status: "error", result: null });
    const { executions } = await andante.list({ workflowId: workflow.id });
    expect(executions[0]?.error?.message).toMatch(/^Result of the workflow is 1203 bytes; the limit is 1000/);
  });

  describe("the journal", () => {
    test("that holds too many events ends the execution, and its bodies are aborted", async () => {
      const held = heldBody("never");
      const steps = Array.from({ length: 10 }, (_, index) => index);
      const workflow = flow().andAll({
        id: "all",
        steps: [
          andThen({ id: "held", execute: held.execute }),
          (chain) =>
            steps.reduce(
              (so, index) => so.andThen({ id: `step-${index}`, execute: () => index }),
              chain.andThen({
                id: "first",
                execute: async () => {
                  await held.started;
                  return 0;
                },
              }),
            ),
        ],
      });
      const andante = bench.andanteWith({ limits: { journal: { events: 12 } } }, workflow);
      const { executionId, status } = await andante.execute(workflow.id, {});
      expect(status).toBe("error");
      const { executions } = await andante.list({ workflowId: workflow.id });
      expect(executions).toMatchObject([
        {
          executionId,
          error: {
            name: "JournalLimitError",
            message: expect.stringMatching(
              /^The journal of the execution holds 1\d events; the limit is 12 \(limits\.journal\.events\)/,
            ),
          },
        },
      ]);
      expect((await held.started).aborted).toBe(true);
      expect((await andante.events(workflow.id, executionId)).length).toBeLessThan(20);
    });

    test("a pause comes first: the execution ends once it is lifted", async () => {
      const held = heldBody(text(900));
      const workflow = flow()
        .andThen({ id: "held", execute: held.execute })
        .andThen({ id: "b", execute: ({ data }) => data })
        .andThen({ id: "c", execute: ({ data }) => data });
      const andante = bench.andanteWith({ limits: { journal: { bytes: 1500 } } }, workflow);
      const { executionId } = await andante.start(workflow.id, {});
      await held.started;
      await andante.suspend(workflow.id, executionId);
      held.finish();
      await expect(andante.resume(workflow.id, executionId)).resolves.toMatchObject({ status: "error" });
    });
  });

  test.each([
    [{ input: 0 }, "limits.input"],
    [{ output: Number.NaN }, "limits.output"],
    [{ reason: 0.5 }, "limits.reason"],
    [{ journal: { events: -1 } }, "limits.journal.events"],
    [{ journal: { bytes: 0 } }, "limits.journal.bytes"],
  ])("a limit that makes no sense is refused at once: %j", (limits, option) => {
    expect(() => bench.andanteWith({ limits })).toThrow(`Option ${option}: expected a number of 1 or more`);
  });
});

// The state that one process leaves for the next goes through the disk: these run on a file, too.
onMemoryAndFile((bench) => {
  describe("the journal", () => {
    test("that holds too many bytes ends the execution, also when it grew in two lives", async () => {
      const give = (id: string) => ({ id, execute: () => text(400) });
      const workflow = flow()
        .andThen(give("a"))
        .andThen({
          id: "ask",
          execute: ({ data, suspend, resumeData }) => (resumeData === undefined ? suspend() : data),
        })
        .andThen(give("b"))
        .andThen(give("c"))
        .andThen(give("d"));
      const first = bench.andanteWith({ limits: { journal: { bytes: 2000 } } }, workflow);
      const { executionId, status } = await first.execute(workflow.id, {});
      expect(status).toBe("suspended");
      await first.close();
      const second = bench.andanteWith({ limits: { journal: { bytes: 2000 } } }, workflow);
      await expect(second.resume(workflow.id, executionId, 1)).resolves.toMatchObject({ status: "error" });
      const { executions } = await second.list({ workflowId: workflow.id });
      expect(executions[0]?.error?.message).toMatch(/bytes; the limit is 2000 \(limits\.journal\.bytes\)/);
    });
  });
});
