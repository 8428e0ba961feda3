// Tools of an agent in a workflow that wait for a person: approval, and output that comes from outside.
import { setImmediate as turn } from "node:timers/promises";
import { type ToolSet, tool } from "ai";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { Agent } from "../../src/agent/agent.ts";
import { durable } from "../../src/agent/call/durable.ts";
import { SchemaChecker } from "../../src/agent/schema/schema-checker.ts";
import { crashTest } from "../../src/test-kit/crash-test.ts";
import { TestClock } from "../../src/test-kit/test-clock.ts";
import { andAgent, andThen } from "../../src/workflow/steps/free-steps.ts";
import { controlledModel, type Said } from "../support/controlled-model.ts";
import { isExhaustive } from "../support/crash-points.ts";
import {
  attach,
  collect,
  flow,
  heldBody,
  onMemory,
  onMemoryAndFile,
  until,
} from "../support/test-andante.ts";

const stepOf = ({ prompt }: { prompt: readonly { role: string }[] }) =>
  prompt.filter(({ role }) => role === "assistant").length;

const stepwise = (...script: Said[]) =>
  controlledModel((asked) => script[stepOf(asked)] ?? { text: ["end"] });

const refundSchema = z.object({ amount: z.number() });

/** An agent that asks for a refund, which needs approval, and for the tools in `others`. */
function teller(others: readonly string[] = []) {
  const ran: unknown[] = [];
  const model = stepwise({
    text: ["Let me see. "],
    calls: [
      { id: "call_0", name: "refund", input: { amount: 90 } },
      ...others.map((name, index) => ({ id: `call_${index + 1}`, name, input: {} })),
    ],
  });
  const agent = new Agent({
    id: "teller",
    model,
    tools: {
      refund: tool({
        inputSchema: refundSchema,
        needsApproval: true,
        execute: ({ amount }) => {
          ran.push({ refund: amount });
          return { refunded: amount };
        },
      }),
      look: tool({
        inputSchema: z.object({}),
        execute: () => {
          ran.push("look");
          return "seen";
        },
      }),
      pick: tool({
        description: "Asks the person to pick a colour",
        inputSchema: z.object({}),
        outputSchema: z.object({ colour: z.enum(["red", "blue"]) }),
      }),
    },
  });
  /** The tool results in the last prompt of the model. */
  const read = () => JSON.stringify(model.asked.at(-1)?.prompt.filter(({ role }) => role === "tool"));
  return { agent, model, ran, read };
}

const paths = (suspensions: readonly { stepPath?: string }[] | undefined) =>
  suspensions?.map(({ stepPath }) => stepPath);

onMemory((bench) => {
  test("a tool that yields shows its preliminary results, also after it was approved", async () => {
    const model = stepwise({ calls: [{ id: "call_0", name: "ship", input: {} }] });
    const ship = tool({
      inputSchema: z.object({}),
      needsApproval: true,
      async *execute() {
        yield "packed";
        yield "shipped";
      },
    });
    const workflow = flow().andAgent({
      id: "ask",
      agent: new Agent({ id: "shipper", model, tools: { ship } }),
      prompt: "go",
    });
    const andante = bench.andante(workflow);
    const { executionId } = await andante.execute(workflow.id, 1);
    const stream = await andante.attach(workflow.id, executionId);
    if (stream === undefined) throw new Error("nothing to follow");
    const events = collect(stream.events);
    const ended = await andante.resume(workflow.id, executionId, { approved: true });
    expect(ended).toMatchObject({ status: "completed", result: { text: "end" } });
    const results = (await events).filter(({ type }) => type === "tool-result");
    expect(results.map(({ output, preliminary }) => [output, preliminary])).toEqual([
      ["packed", true],
      ["shipped", true],
      ["shipped", undefined],
    ]);
    expect(JSON.stringify(model.asked.at(-1)?.prompt.at(-1))).toContain("shipped");
    const denied = await andante.execute(workflow.id, 1);
    await andante.resume(workflow.id, denied.executionId, { approved: false, reason: "not today" });
    expect(JSON.stringify(model.asked.at(-1)?.prompt.at(-1))).toContain("not today");
  });

  describe("a tool that needs approval", () => {
    test("suspends the execution at its path and runs once it is approved; the model is asked no more than once for it", async () => {
      const { agent, model, ran, read } = teller(["look"]);
      const workflow = flow().andAgent({ id: "ask", agent, prompt: "go" });
      const andante = bench.andante(workflow);
      const first = await andante.execute(workflow.id, 1);
      expect(first).toMatchObject({
        status: "suspended",
        suspension: {
          stepId: "ask",
          stepPath: "ask#call[0].tool[0]",
          reason: "The tool refund needs approval",
          data: { toolName: "refund", input: { amount: 90 } },
          resumeSchema: {
            required: ["approved"],
            properties: {
              approved: { type: "boolean", description: "Whether the tool may run." },
              reason: { type: "string", description: "Why; the model reads it when the call is denied." },
              input: { required: ["amount"] },
            },
            additionalProperties: false,
          },
        },
      });
      // Its sibling was not held up, and a wait is no failure.
      expect(ran).toEqual(["look"]);
      expect(bench.logger.messages).toEqual([]);
      const wrong = andante.resume(workflow.id, first.executionId, { approved: "yes" });
      await expect(wrong).rejects.toThrow(/approved/);
      const resumed = await andante.resume(workflow.id, first.executionId, { approved: true });
      expect(resumed).toMatchObject({ status: "completed", result: { text: "end" }, usage: { calls: 2 } });
      expect(ran).toEqual(["look", { refund: 90 }]);
      expect(model.asked).toHaveLength(2);
      expect(read()).toContain('"refunded":90');
      const events = await andante.events(workflow.id, first.executionId);
      expect(events.find(({ type }) => type === "step-suspended")).toMatchObject({
        stepPath: "ask#call[0].tool[0]",
        suspension: { resumeSchema: { required: ["approved"] } },
      });
    });

    test("runs with an edited input", async () => {
      const { agent, ran, read } = teller();
      const workflow = flow().andAgent({ id: "ask", agent, prompt: "go" });
      const andante = bench.andante(workflow);
      const { executionId } = await andante.execute(workflow.id, 1);
      await andante.resume(workflow.id, executionId, { approved: true, input: { amount: 50 } });
      expect(ran).toEqual([{ refund: 50 }]);
      expect(read()).toContain('"refunded":50');
    });

    test("that is denied does not run, and the model reads why", async () => {
      const { agent, ran, read } = teller();
      const workflow = flow().andAgent({ id: "ask", agent, prompt: "go" });
      const andante = bench.andante(workflow);
      const { executionId } = await andante.execute(workflow.id, 1);
      const denied = await andante.resume(workflow.id, executionId, { approved: false, reason: "too much" });
      expect(denied).toMatchObject({ status: "completed" });
      expect(ran).toEqual([]);
      expect(read()).toContain("The call of refund was denied: too much");
    });

    test.each([[{}], [{ approved: "yes" }], [{ approved: true, input: { amount: "much" } }], [null]])(
      "refuses %j and still waits",
      async (data) => {
        const { agent } = teller();
        const workflow = flow().andAgent({ id: "ask", agent, prompt: "go" });
        const andante = bench.andante(workflow);
        const { executionId, suspension } = await andante.execute(workflow.id, 1);
        await expect(andante.resume(workflow.id, executionId, data)).rejects.toMatchObject({ status: 400 });
        // With and without the id of the suspension that the caller saw.
        const pinned = { suspensionId: suspension?.suspensionId };
        const seen = andante.resume(workflow.id, executionId, data, pinned);
        await expect(seen).rejects.toMatchObject({ status: 400 });
        expect(await andante.state(workflow.id, executionId)).toMatchObject({ status: "suspended" });
      },
    );

    test("is decided by the agent's toolApproval as the AI SDK has it", async () => {
      const { agent: base, model } = teller();
      const seen: unknown[] = [];
      const agent = new Agent({
        id: "teller",
        model,
        tools: base.tools,
        toolApproval: {
          refund: (input: unknown) => {
            seen.push(input);
            return { type: "user-approval", reason: "More than 50" };
          },
        },
      });
      const automatic = new Agent({
        id: "auto",
        model,
        tools: base.tools,
        toolApproval: { refund: "denied" },
      });
      const asking = flow().andAgent({ id: "ask", agent, prompt: "go" });
      const denying = flow().andAgent({ id: "ask", agent: automatic, prompt: "go" });
      const andante = bench.andante(asking, denying);
      expect(await andante.execute(asking.id, 1)).toMatchObject({ suspension: { reason: "More than 50" } });
      expect(seen).toEqual([{ amount: 90 }]);
      expect(await andante.execute(denying.id, 1)).toMatchObject({ status: "completed" });
    });

    test("is approved or denied at the deadline of its status", async () => {
      const clock = new TestClock({ start: 0, skipSleeps: false });
      const outcomes = (["approve", "deny"] as const).map(async (onDeadline) => {
        const { agent: base, model, ran, read } = teller();
        const status = { type: "user-approval", deadline: "2d", onDeadline } as const;
        const tools = base.tools;
        const agent = new Agent({ id: "teller", model, tools, toolApproval: { refund: () => status } });
        const workflow = flow().andAgent({ id: "ask", agent, prompt: "go" });
        const andante = bench.andanteWith({ clock }, workflow);
        const { executionId, suspension } = await andante.execute(workflow.id, 1);
        expect(suspension).toMatchObject({
          deadline: "1970-01-03T00:00:00.000Z",
          onDeadline: { resume: { approved: onDeadline === "approve" } },
        });
        expect((await andante.explain(executionId)).waits).toMatchObject([
          { kind: "tool", until: "1970-01-03T00:00:00.000Z", onDeadline: "resume" },
        ]);
        return { andante, executionId, ran, read, workflow };
      });
      const [approved, denied] = await Promise.all(outcomes);
      clock.advance("2d");
      for (const of of [approved, denied])
        await expect
          .poll(() => of?.andante.state(of.workflow.id, of.executionId))
          .toMatchObject({ status: "completed" });
      expect([approved?.ran, denied?.ran]).toEqual([[{ refund: 90 }], []]);
      expect(denied?.read()).toContain("No decision was made before the deadline");
    });
  });

  test("resume data for a call is checked once, accepted or not", async () => {
    const check = vi.spyOn(SchemaChecker.prototype, "check");
    onTestFinished(() => check.mockRestore());
    const picker = new Agent({
      id: "picker",
      model: stepwise({ calls: [{ id: "call_0", name: "pick", input: {} }] }),
      tools: teller().agent.tools,
    });
    const workflow = flow().andAgent({ id: "ask", agent: picker, prompt: "go" });
    const andante = bench.andante(workflow);
    const { executionId } = await andante.execute(workflow.id, 1);
    const values = () => check.mock.calls.map(([, value]) => value);
    expect(values()).toEqual([]);
    await expect(andante.resume(workflow.id, executionId, { colour: "green" })).rejects.toThrow("colour");
    expect(values()).toEqual(['{"colour":"green"}']);
    const { status } = await andante.resume(workflow.id, executionId, { colour: "red" });
    expect(status).toBe("completed");
    expect(values()).toEqual(['{"colour":"green"}', '{"colour":"red"}']);
  });

  test("a tool of the client's suspends with its output schema, and its output goes to the model", async () => {
    const { agent, model, read } = teller(["pick"]);
    const only = new Agent({
      id: "picker",
      model: stepwise({ calls: [{ id: "call_0", name: "pick", input: {} }] }),
      tools: agent.tools,
    });
    const workflow = flow().andAgent({ id: "ask", agent: only, prompt: "go" });
    const andante = bench.andante(workflow);
    const { executionId, suspension } = await andante.execute(workflow.id, 1);
    expect(suspension).toMatchObject({
      stepPath: "ask#call[0].tool[0]",
      data: { toolName: "pick", input: {} },
      resumeSchema: { properties: { colour: { enum: ["red", "blue"] } } },
    });
    await expect(andante.resume(workflow.id, executionId, { colour: "green" })).rejects.toThrow("colour");
    expect(await andante.resume(workflow.id, executionId, { colour: "red" })).toMatchObject({
      status: "completed",
    });
    expect(model.asked).toHaveLength(0);
    expect(read()).toBeUndefined();
  });

  test("a tool of the client's without an output schema takes any output", async () => {
    const model = stepwise({ calls: [{ id: "call_0", name: "say", input: {} }] });
    const say: ToolSet[string] = { inputSchema: z.object({}) };
    const agent = new Agent({ id: "sayer", model, tools: { say } });
    const workflow = flow().andAgent({ id: "ask", agent, prompt: "go" });
    const andante = bench.andante(workflow);
    const { executionId, suspension } = await andante.execute(workflow.id, 1);
    expect(suspension).toMatchObject({ data: { toolName: "say" } });
    expect(suspension).not.toHaveProperty("resumeSchema");
    const { status } = await andante.resume(workflow.id, executionId, "anything");
    expect(status).toBe("completed");
    expect(JSON.stringify(model.asked.at(-1)?.prompt.at(-1))).toContain("anything");
  });

  test.each<[string, () => unknown, RegExp]>([
    ["cannot be written as JSON", () => ({ done: 1n }), /bigint/],
    ["is too large", () => "x".repeat(1001), /limits\.output/],
  ])(
    "a tool beside one that waits whose output %s runs once and fails the step",
    async (_, output, problem) => {
      let runs = 0;
      const refund = tool({ inputSchema: refundSchema, needsApproval: true, execute: () => "refunded" });
      const write = tool({
        inputSchema: z.object({}),
        execute: async () => {
          runs++;
          // The refund, which was asked for before, waits by then: it takes no turn of the event loop.
          await turn();
          await turn();
          return output();
        },
      });
      const model = stepwise({
        calls: [
          { id: "call_0", name: "refund", input: { amount: 90 } },
          { id: "call_1", name: "write", input: {} },
        ],
      });
      const agents = [
        new Agent({ id: "teller", model, tools: { refund, write } }),
        new Agent({
          id: "boss",
          model: stepwise({ calls: [{ id: "call_0", name: "teller", input: { prompt: "go" } }] }),
          subAgents: [new Agent({ id: "teller", model, tools: { refund, write } })],
        }),
      ];
      for (const agent of agents) {
        runs = 0;
        const workflow = flow().andAgent({ id: "ask", agent, prompt: "go" });
        const andante = bench.andanteWith({ limits: { output: 1000 } }, workflow);
        const ended = await andante.execute(workflow.id, 1);
        expect({ status: ended.status, runs }).toEqual({ status: "error", runs: 1 });
        expect(JSON.stringify(await andante.events(workflow.id, ended.executionId))).toMatch(problem);
      }
    },
  );

  describe("resume data is checked once, within a time that grows with its length", () => {
    const asking = (name: string, approval: ToolSet[string]) => {
      const model = stepwise({ calls: [{ id: "call_0", name, input: {} }] });
      const agent = new Agent({ id: "asker", model, tools: { [name]: approval } });
      return flow().andAgent({ id: "ask", agent, prompt: "go" });
    };

    test("a pattern that backtracks without end is refused", { timeout: 60_000 }, async () => {
      const outputSchema = z.object({ code: z.string().regex(/^(a+)+$/), note: z.string().optional() });
      const workflow = asking("enter", { inputSchema: z.object({}), outputSchema });
      const andante = bench.andante(workflow);
      const { executionId } = await andante.execute(workflow.id, 1);
      const code = `${"a".repeat(40)}b`;
      const hostile = andante.resume(workflow.id, executionId, { code });
      await expect(hostile).rejects.toThrow("could not be checked within 101 ms");
      // The check runs in another thread: timers of this one fire meanwhile.
      let fired = 0;
      const timer = setInterval(() => fired++, 10);
      const long = andante.resume(workflow.id, executionId, { code, note: "x".repeat(999_000) });
      await expect(long).rejects.toThrow("could not be checked within 1000 ms");
      clearInterval(timer);
      expect(fired).toBeGreaterThan(20);
      const { status } = await andante.resume(workflow.id, executionId, { code: "aaa" });
      expect(status).toBe("completed");
    });

    test("its size is checked before its schema, up to the default limit", async () => {
      const outputSchema = z.object({ code: z.string().regex(/^(a+)+$/), note: z.string().optional() });
      const workflow = asking("enter", { inputSchema: z.object({}), outputSchema });
      // The output of a tool is recorded with a few words around it.
      const andante = bench.andanteWith({ limits: { output: 5 * 1024 * 1024 } }, workflow);
      const { executionId } = await andante.execute(workflow.id, 1);
      const most = 4 * 1024 * 1024 - JSON.stringify({ code: "", note: "" }).length;
      const note = "x".repeat(most - 41);
      const code = "a".repeat(40);
      const large = andante.resume(workflow.id, executionId, { code: `${code}b`, note: `${note}x` });
      await expect(large).rejects.toMatchObject({ status: 413 });
      const fitting = await andante.resume(workflow.id, executionId, { code, note: `${note}x` });
      expect(fitting.status).toBe("completed");
    });

    test("thousands of rows are accepted", async () => {
      const rows = z.array(z.strictObject({ id: z.number(), name: z.string() }));
      const workflow = asking("load", { inputSchema: z.object({}), outputSchema: rows });
      const andante = bench.andante(workflow);
      const { executionId } = await andante.execute(workflow.id, 1);
      const output = Array.from({ length: 2000 }, (_, id) => ({ id, name: `some name ${id}` }));
      const { status } = await andante.resume(workflow.id, executionId, output);
      expect(status).toBe("completed");
    });
  });

  test("several wait at once, each is resumed on its own, in any order", async () => {
    const { agent, model, ran } = teller(["pick", "look"]);
    const workflow = flow().andAgent({ id: "ask", agent, prompt: "go" });
    const andante = bench.andante(workflow);
    const { executionId } = await andante.execute(workflow.id, 1);
    const state = await andante.state(workflow.id, executionId);
    const [refund, pick] = ["ask#call[0].tool[0]", "ask#call[0].tool[1]"];
    expect(paths(state.suspensions)).toEqual([refund, pick]);
    await expect(andante.resume(workflow.id, executionId, true, { stepId: "ask" })).rejects.toThrow(
      "ambiguous",
    );
    const second = await andante.resume(workflow.id, executionId, { colour: "blue" }, { stepId: pick ?? "" });
    expect(second).toMatchObject({ status: "suspended", suspension: { stepPath: refund } });
    expect(second.suspension?.suspensionId).toBe(state.suspensions?.[0]?.suspensionId);
    const last = await andante.resume(workflow.id, executionId, { approved: true });
    expect(last).toMatchObject({ status: "completed" });
    expect({ ran, asked: model.asked.length }).toEqual({ ran: ["look", { refund: 90 }], asked: 2 });
  });

  test("one that waits beside a branch that runs continues as soon as it is resumed", async () => {
    const { agent, ran } = teller();
    const held = heldBody("held");
    const workflow = flow().andAll({
      id: "both",
      steps: [
        andThen({ id: "held", execute: held.execute }),
        (chain) => chain.andAgent({ id: "ask", agent, prompt: "go" }),
      ],
    });
    const andante = bench.andante(workflow);
    const { executionId, result } = await andante.start(workflow.id, 1);
    await until(await attach(andante, workflow.id, executionId), "step-suspended");
    await andante.startResume(workflow.id, executionId, { approved: true }, { stepId: "ask" });
    await expect.poll(() => ran).toEqual([{ refund: 90 }]);
    held.finish();
    expect(await result()).toMatchObject({ status: "completed", result: ["held", { text: "end" }] });
  });

  test("its schema holds too where a pause is lifted with it", async () => {
    const gate = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    const model = controlledModel((call) =>
      stepOf(call) > 0
        ? { text: ["end"] }
        : {
            calls: [{ id: "call_0", name: "refund", input: { amount: 90 } }],
            hold: () => {
              asked.resolve();
              return gate.promise;
            },
          },
    );
    const refund = tool({ inputSchema: refundSchema, needsApproval: true, execute: () => "refunded" });
    const agent = new Agent({ id: "teller", model, tools: { refund } });
    const workflow = flow().andAgent({ id: "ask", agent, prompt: "go" });
    const andante = bench.andante(workflow);
    const { executionId } = await andante.start(workflow.id, 1);
    await asked.promise;
    await andante.suspend(workflow.id, executionId);
    gate.resolve();
    const stepId = "ask#call[0].tool[0]";
    await expect
      .poll(async () => (await bench.store.state(executionId))?.suspensions)
      .toMatchObject([{ path: null }, { path: stepId }]);
    await expect(andante.resume(workflow.id, executionId, { approved: "yes" }, { stepId })).rejects.toThrow(
      /approved/,
    );
    expect(await andante.resume(workflow.id, executionId, { approved: true }, { stepId })).toMatchObject({
      status: "completed",
    });
  });

  test("calls to which the model gave one id each wait for their own decision and output", async () => {
    const { agent, ran } = teller();
    const model = stepwise(
      {
        calls: [
          { id: "call_0", name: "refund", input: { amount: 1 } },
          { id: "call_0", name: "refund", input: { amount: 2 } },
          { id: "call_0", name: "pick", input: {} },
          { id: "call_0", name: "pick", input: {} },
        ],
      },
      { calls: [{ id: "call_0", name: "refund", input: { amount: 3 } }] },
    );
    const repeating = new Agent({ id: "teller", model, tools: agent.tools });
    const workflow = flow().andAgent({ id: "ask", agent: repeating, prompt: "go" });
    const andante = bench.andante(workflow);
    const { executionId } = await andante.execute(workflow.id, 1);
    const state = await andante.state(workflow.id, executionId);
    const places = [0, 1, 2, 3].map((index) => `ask#call[0].tool[${index}]`);
    expect(paths(state.suspensions)).toEqual(places);
    const answers = [{ approved: false }, { approved: true }, { colour: "red" }, { colour: "blue" }];
    for (const [index, answer] of answers.entries())
      await andante.resume(workflow.id, executionId, answer, { stepId: places[index] ?? "" });
    expect(ran).toEqual([{ refund: 2 }]);
    const read = JSON.stringify(model.asked.at(-1)?.prompt.at(-1));
    expect(read).toMatch(/denied.*"refunded":2.*red.*blue/);
    const last = { stepId: "ask#call[1].tool[0]" };
    const ended = await andante.resume(workflow.id, executionId, { approved: true }, last);
    expect(ended).toMatchObject({ status: "completed", result: { text: "end" } });
    expect(ran).toEqual([{ refund: 2 }, { refund: 3 }]);
  });

  test("two resumes at once both count", async () => {
    const { agent, ran } = teller(["pick"]);
    const workflow = flow().andAgent({ id: "ask", agent, prompt: "go" });
    const andante = bench.andante(workflow);
    const { executionId } = await andante.execute(workflow.id, 1);
    await Promise.all([
      andante.startResume(workflow.id, executionId, { colour: "blue" }, { stepId: "ask#call[0].tool[1]" }),
      andante.startResume(workflow.id, executionId, { approved: true }, { stepId: "ask#call[0].tool[0]" }),
    ]);
    const status = async () => (await andante.state(workflow.id, executionId)).status;
    await expect.poll(status).toBe("completed");
    expect(ran).toEqual([{ refund: 90 }]);
  });

  test("an approval inside a sub-agent reaches the caller", async () => {
    const { agent: helper, ran } = teller();
    const agent = new Agent({
      id: "boss",
      model: stepwise({ calls: [{ id: "call_0", name: "teller", input: { prompt: "refund it" } }] }),
      subAgents: [helper],
    });
    const workflow = flow().andAgent({ id: "ask", agent, prompt: "go" });
    const andante = bench.andante(workflow);
    const { executionId, suspension } = await andante.execute(workflow.id, 1);
    expect(suspension).toMatchObject({
      stepPath: "ask#call[0].tool[0].call[0].tool[0]",
      data: { toolName: "refund" },
    });
    expect(await andante.resume(workflow.id, executionId, { approved: true })).toMatchObject({
      status: "completed",
      usage: { calls: 4 },
    });
    expect(ran).toEqual([{ refund: 90 }]);
  });
});

onMemoryAndFile((bench) => {
  test("a call that waits is closed with its step, and cannot be decided afterwards", async () => {
    const { agent, model } = teller(["pick"]);
    const begun = Promise.withResolvers<void>();
    const held = tool({
      inputSchema: refundSchema,
      needsApproval: true,
      execute: () => {
        begun.resolve();
        return new Promise(() => undefined);
      },
    });
    const slow = new Agent({ id: "slow", model, tools: { ...agent.tools, refund: held } });
    const gate = andThen({ id: "gate", execute: ({ suspend, resumeData }) => resumeData ?? suspend() });
    const ask = andAgent({ id: "ask", agent: slow, prompt: "go", timeout: "1m" });
    const workflow = flow().andRace({ id: "race", steps: [ask, gate] });
    const clock = new TestClock();
    const andante = bench.andanteWith({ clock }, workflow);
    const { executionId } = await andante.execute(workflow.id, 1);
    const open = async () => paths((await andante.state(workflow.id, executionId)).suspensions)?.sort();
    const [approval, pick] = ["race/ask#call[0].tool[0]", "race/ask#call[0].tool[1]"];
    expect(await open()).toEqual([approval, pick, "race/gate"]);
    const resumed = andante.resume(workflow.id, executionId, { approved: true }, { stepId: approval });
    await begun.promise;
    // The attempt is out of time, and the step fails. The race waits for the other branch.
    clock.advance("2m");
    await resumed;
    expect(await open()).toEqual(["race/gate"]);
    const late = andante.resume(workflow.id, executionId, { colour: "red" }, { stepId: pick });
    await expect(late).rejects.toMatchObject({ status: 400 });
    expect(await andante.resume(workflow.id, executionId, "go")).toMatchObject({ result: "go" });
  });

  test("waits through a restart", async () => {
    const { agent, model, ran } = teller(["look", "pick"]);
    const workflow = flow().andAgent({ id: "ask", agent, prompt: "go" });
    const andante = bench.andante(workflow);
    const { executionId } = await andante.execute(workflow.id, 1);
    await andante.close();
    const next = bench.andante(workflow);
    expect(paths((await next.state(workflow.id, executionId)).suspensions)).toHaveLength(2);
    await next.resume(workflow.id, executionId, { approved: true }, { stepId: "ask#call[0].tool[0]" });
    await next.close();
    const last = bench.andante(workflow);
    expect(await last.resume(workflow.id, executionId, { colour: "red" })).toMatchObject({
      status: "completed",
    });
    expect({ ran, asked: model.asked.length }).toEqual({ ran: ["look", { refund: 90 }], asked: 2 });
  });
});

/** A refund that needs approval, beside a payment that fails once and is tried again an hour later. */
function payer() {
  const { agent: asking, model, ran } = teller(["pay"]);
  const pay = tool({
    inputSchema: z.object({}),
    execute: (_, options) =>
      durable(options).checkpoint(
        "bank",
        ({ attempt }) => {
          ran.push(`attempt ${attempt}`);
          if (attempt === 1) throw new Error("the bank is closed");
          return "paid";
        },
        { retry: { attempts: 2, delay: "1h" } },
      ),
  });
  const agent = new Agent({ id: "payer", model, tools: { ...asking.tools, pay } });
  return { ran, workflow: flow().andAgent({ id: "ask", agent, prompt: "go" }) };
}

onMemoryAndFile((bench) => {
  test("a call beside work that is tried again later waits in the inbox at once", async () => {
    const clock = new TestClock({ skipSleeps: false });
    const { ran, workflow } = payer();
    const andante = bench.andanteWith({ clock }, workflow);
    const { executionId } = await andante.start(workflow.id, {});
    const kinds = async () => (await andante.explain(executionId)).waits.map(({ kind }) => kind);
    await expect.poll(kinds).toEqual(["tool", "retry"]);
    expect((await andante.live.waiting({ limit: 5 })).items).toHaveLength(1);
    await andante.startResume(workflow.id, executionId, { approved: true });
    clock.advance("2h");
    await expect.poll(async () => (await andante.state(workflow.id, executionId)).status).toBe("completed");
    expect(ran.toSorted()).toEqual(["attempt 1", "attempt 2", { refund: 90 }].toSorted());
  });
});

test("crashTest: a call that waits beside work that is tried again", { timeout: 60_000 }, async () => {
  const { ran, workflow } = payer();
  const { expected, runs } = await crashTest({
    workflow,
    input: {},
    resume: () => ({ approved: true }),
    reset: () => ran.splice(0),
    observe: () => ran.filter((each) => each !== "attempt 1").length,
  });
  expect(expected).toMatchObject({ status: "completed", result: { text: "end" }, observed: 2 });
  for (const { ending, variant } of runs) {
    expect(ending).toMatchObject({ status: "completed", result: { text: "end" } });
    if (variant === "unacknowledged") expect(ending.observed).toBe(2);
  }
});

test("crashTest: waiting tools, killed at every write, end the same", { timeout: 60_000 }, async () => {
  const { agent, ran } = teller(["look", "pick"]);
  const workflow = flow().andAgent({ id: "ask", agent, prompt: "go" });
  const { expected, runs } = await crashTest({
    workflow,
    input: {},
    resume: ({ data }) => (JSON.stringify(data).includes("refund") ? { approved: true } : { colour: "red" }),
    reset: () => ran.splice(0),
    observe: () => ran.length,
  });
  const usage = { calls: 2 };
  expect(expected).toMatchObject({ status: "completed", result: { text: "end" }, usage, observed: 2 });
  for (const { ending, events, variant } of runs) {
    const own =
      variant === "lost" ? (events.match(/checkpoint-complete \S+\.tool\[[01]\]/g)?.length ?? 0) : 0;
    expect(ending).toMatchObject({ status: "completed", result: { text: "end" }, usage, observed: 2 + own });
  }
});

test("a crash at any write of tools that suspend, sleep and record their work changes nothing", async () => {
  const order = (name: string) =>
    tool({
      inputSchema: z.object({}),
      contextSchema: z.object({ shop: z.string() }),
      execute: async (_, options) => {
        const { checkpoint, suspend, sleep } = durable(options);
        const price = await checkpoint("price", () => 9);
        const { paid } = await suspend(
          `Pay ${name}`,
          { price },
          { resumeSchema: z.object({ paid: z.number() }) },
        );
        await sleep(name === "tea" ? "2h" : "3d");
        const second = await suspend("Send it?", undefined, {
          deadline: "1d",
          onDeadline: { resume: "now" },
        });
        return { name, paid, second, shop: options.context.shop };
      },
    });
  const [tea, milk] = [order("tea"), order("milk")];
  const shop = { shop: "corner" };
  // One tool alone has a third of the crash points of two at once.
  const names = isExhaustive ? ["tea", "milk"] : ["milk"];
  const calls = names.map((name, index) => ({ id: `call_${index}`, name, input: {} }));
  const model = stepwise({ text: ["Let me see. "], calls });
  const agent = new Agent({
    id: "clerk",
    model,
    tools: { tea, milk },
    toolsContext: { tea: shop, milk: shop },
  });
  const report = await crashTest({
    workflow: flow()
      .andAgent({ id: "ask", agent, prompt: "go" })
      .andThen({ id: "after", execute: ({ data }) => data }),
    input: 1,
    resume: ({ reason }) => (reason.startsWith("Pay") ? { paid: 9 } : undefined),
    observe: () => model.asked.at(-1)?.prompt.filter(({ role }) => role === "tool"),
    timeout: 30_000,
  });
  expect(report.differences).toEqual([]);
  expect(report.expected).toMatchObject({ status: "completed", result: { text: "end" } });
  expect(JSON.stringify(report.expected.observed)).toMatch(new RegExp(names.join(".*corner.*")));
  expect(report.expected.usage).toMatchObject({ calls: 2 });
}, 120_000);
