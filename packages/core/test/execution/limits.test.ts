// Limits: a value that is too large is refused or ends in an error that names it, its size and the limit.
import { tool } from "ai";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { Agent } from "../../src/agent/agent.ts";
import type { Andante } from "../../src/andante/andante.ts";
import {
  type AndanteLimits,
  JournalGauge,
  repliesLimit,
  runningLimit,
  StateGauge,
  sizeLimits,
  userShareOf,
} from "../../src/execution/limits/limits.ts";
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

test("the limits have the documented defaults", () => {
  const mebibyte = 1_048_576;
  expect(sizeLimits({})).toEqual({
    ...{ input: 4 * mebibyte, context: mebibyte, resumeData: 4 * mebibyte, reason: 65_536 },
    ...{ output: 4 * mebibyte, containerOutput: 16 * mebibyte, state: 4 * mebibyte, result: 16 * mebibyte },
    journal: { events: 100_000, bytes: 256 * mebibyte },
  });
  expect([runningLimit({}), repliesLimit({}), userShareOf({})]).toEqual([1000, 1000, 0.5]);
});

test("given limits are taken as they are; numbers of executions and replies are whole", () => {
  const given = { input: 1, context: 2, resumeData: 3, reason: 4, output: 5, containerOutput: 6, state: 7 };
  const limits = { ...given, result: 8, journal: { events: 9, bytes: 10 } };
  expect(sizeLimits(limits)).toEqual(limits);
  expect([runningLimit({ running: 2.9 }), repliesLimit({ agentReplies: 1.5 })]).toEqual([2, 1]);
  expect([userShareOf({ userShare: 1 }), userShareOf({ userShare: 0.01 })]).toEqual([1, 0.01]);
  for (const name of [...Object.keys(given), "result"])
    expect(() => sizeLimits({ [name]: 0.9 })).toThrow(
      `Option limits.${name}: expected a number of 1 or more`,
    );
  expect(() => runningLimit({ running: 0 })).toThrow("Option limits.running: expected a number of 1 or more");
  expect(() => repliesLimit({ agentReplies: 0 })).toThrow("Option limits.agentReplies: ");
  for (const userShare of [0, -1, 1.1, Number.NaN, Object("1")])
    expect(() => userShareOf({ userShare })).toThrow(
      "Option limits.userShare: expected a number above 0 and up to 1",
    );
});

test("a state is measured with all that was set before, exactly", () => {
  const gauge = new StateGauge(sizeLimits({ state: 30 }));
  const empty = new Map();
  const longest = JSON.stringify({ a: "x".repeat(22) });
  expect(longest).toHaveLength(30);
  gauge.check(empty, longest, "set");
  const longer = JSON.stringify({ a: "x".repeat(23) });
  expect(() => gauge.check(empty, longer, "set")).toThrow(
    "State of the execution after step set is 31 bytes; the limit is 30 (limits.state)",
  );
  // It replaces the key that the state has.
  gauge.check(new Map([["a", "y".repeat(22)]]), longest, "set");
  expect(() => gauge.check(new Map([["b", 1]]), longest, "set")).toThrow("is 36 bytes");
});

test("a journal is full with one event or byte more than the limit", () => {
  const event = { timestamp: 1, type: "emitted", path: "a", stepIndex: 0, stepType: "andThen" } as const;
  const stored = { ...event, value: '"12345678"', detail: null };
  const one = { events: [stored], following: [] };
  const gauge = new JournalGauge({ events: 3, bytes: 1000 }, 0);
  gauge.add([stored], 2);
  const size = gauge.bytes;
  expect(gauge.outcomeWith(one)).toBeUndefined();
  const tooMany = { kind: "error", error: { name: "JournalLimitError" } };
  expect(gauge.outcomeWith({ events: [stored], following: [stored] })).toMatchObject(tooMany);
  gauge.add([], 3);
  expect(gauge.outcome).toBeUndefined();
  gauge.add([], 4);
  expect(gauge.outcome).toMatchObject({
    ...tooMany,
    error: {
      message: expect.stringContaining("holds 4 events; the limit is 3 (limits.journal.events)"),
    },
  });
  const exact = new JournalGauge({ events: 100, bytes: 2 * size }, size);
  expect(exact.outcomeWith(one)).toBeUndefined();
  expect(exact.outcomeWith({ events: [], following: [stored] })).toBeUndefined();
  const less = new JournalGauge({ events: 100, bytes: 2 * size - 1 }, size);
  expect(less.outcomeWith(one)).toMatchObject(tooMany);
  expect(less.outcomeWith({ events: [], following: [stored] })).toMatchObject(tooMany);
  less.addText("ä".repeat(size / 2));
  expect(less.outcome).toMatchObject(tooMany);
  exact.addText("x".repeat(size));
  expect(exact.outcome).toBeUndefined();
});
