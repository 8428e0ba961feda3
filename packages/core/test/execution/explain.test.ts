// `explain`: the reason why an execution waits, as a sentence and as facts, in every state that it can be in.
import { tool } from "ai";
import { expect, test } from "vitest";
import { z } from "zod";
import { Agent } from "../../src/agent/agent.ts";
import type { Andante } from "../../src/andante/andante.ts";
import { TestClock } from "../../src/test-kit/test-clock.ts";
import { andSleep, andThen } from "../../src/workflow/steps/free-steps.ts";
import { controlledModel } from "../support/controlled-model.ts";
import { heldBodies } from "../support/held-bodies.ts";
import { flow, heldBody, onMemory, onMemoryAndFile } from "../support/test-andante.ts";

const still = () => new TestClock({ skipSleeps: false });
const iso = (time: number) => new Date(time).toISOString();

/** The explanation of an execution once it waits in this way. */
const waitsFor = async (andante: Andante, executionId: string, kind: string) => {
  await expect.poll(async () => (await andante.explain(executionId)).waits[0]?.kind).toBe(kind);
  return andante.explain(executionId);
};

onMemoryAndFile((bench) => {
  test.each([
    [{ resume: { ok: false } }, { onDeadline: "resume", resume: { ok: false } }, "it continues with ok: no"],
    [{ resume: true }, { onDeadline: "resume", resume: true }, "it continues with the answer yes"],
    [
      { resume: { amount: 90, note: null, more: [1] } },
      { onDeadline: "resume", resume: { amount: 90 } },
      "it continues with amount: 90, note: nothing",
    ],
    [{ resume: [1, 2] }, { onDeadline: "resume", resume: [1, 2] }, "it continues with prepared data"],
    ["fail", { onDeadline: "fail" }, "the step fails"],
    ["cancel", { onDeadline: "cancel" }, "the execution is cancelled"],
  ] as const)("a suspension with a deadline that does %j", async (onDeadline, fact, words) => {
    const clock = still();
    const gate = andThen({
      id: "gate",
      execute: ({ suspend }) => suspend("Approve\n\nit", { a: 1 }, { deadline: "3h", onDeadline }),
    });
    const workflow = flow().andAll({ id: "both", steps: [gate, andThen({ id: "b", execute: () => 1 })] });
    const andante = bench.andanteWith({ clock }, workflow);
    const { executionId } = await andante.execute(workflow.id, 1);
    const [since, until] = [iso(clock.now()), iso(clock.now() + 10_800_000)];
    const explained = await andante.explain(executionId);
    expect(explained).toMatchObject({ executionId, workflowId: workflow.id, status: "suspended" });
    expect(explained.waits).toMatchObject([
      { kind: "suspension", stepPath: "both/gate", reason: "Approve\n\nit", since, until, ...fact },
    ]);
    expect(explained.sentence).toBe(
      `Step both/gate waits since ${since} for an answer: Approve it; without one ${words} at ${until}.`,
    );
    // A list has no texts of steps: reading it needs another permission.
    const { executions } = await andante.list({ workflowId: workflow.id, explain: true });
    expect(executions[0]?.explanation).toEqual({
      kind: "suspension",
      until,
      sentence: expect.stringMatching(/^Step both\/gate waits since \S+ for an answer; without one /),
    });
    expect(executions[0]?.explanation?.sentence).not.toContain("Approve");
    expect(executions[0]?.explanation?.sentence).not.toContain("false}");
    expect((await andante.list({ workflowId: workflow.id })).executions[0]).not.toHaveProperty("explanation");
  });

  test("a sleep and a failed attempt, the earlier first; in a list too", async () => {
    const clock = still();
    const flaky = andThen({
      id: "charge",
      retry: { attempts: 5, delay: "2m", jitter: false },
      execute: () => {
        throw new Error("503 from the bank");
      },
    });
    const workflow = flow().andAll({ id: "both", steps: [flaky, andSleep({ id: "nap", duration: "3d" })] });
    const andante = bench.andanteWith({ clock }, workflow);
    const { executionId } = await andante.start(workflow.id, 1);
    const explained = await waitsFor(andante, executionId, "retry");
    const [retryAt, wakeAt] = [iso(clock.now() + 120_000), iso(clock.now() + 3 * 86_400_000)];
    expect(explained).toMatchObject({
      status: "running",
      waits: [
        {
          ...{ kind: "retry", stepPath: "both/charge", until: retryAt },
          ...{ attempt: 1, attempts: 5, error: "Error: 503 from the bank" },
        },
        { kind: "sleep", stepPath: "both/nap", until: wakeAt },
      ],
      sentence: `Step both/charge: attempt 1 of 5 failed with Error: 503 from the bank; the next one starts at ${retryAt}. One more waits.`,
    });
    const { executions } = await andante.list({ workflowId: workflow.id, explain: true });
    expect(executions[0]).toMatchObject({
      status: "running",
      explanation: { kind: "retry", until: retryAt },
    });
  });
});

onMemory((bench) => {
  test("a tool that needs approval, and a pause by a user", async () => {
    const model = controlledModel(() => ({ calls: [{ name: "refund", input: { amount: 90 } }] }));
    const refund = tool({
      inputSchema: z.object({ amount: z.number() }),
      needsApproval: true,
      execute: () => 1,
    });
    const agent = new Agent({ id: "teller", model, tools: { refund } });
    const workflow = flow().andAgent({ id: "ask", agent, prompt: "go" });
    const andante = bench.andante(workflow);
    const { executionId, suspension } = await andante.execute(workflow.id, 1);
    const since = suspension?.suspendedAt;
    expect(await andante.explain(executionId)).toMatchObject({
      sentence: `The tool refund of step ask waits since ${since} for approval.`,
      waits: [{ kind: "tool", toolName: "refund", stepPath: "ask", suspensionId: suspension?.suspensionId }],
    });
    const held = heldBody(1);
    const slow = flow().andThen({ id: "slow", execute: held.execute });
    const other = bench.andante(slow);
    const started = await other.start(slow.id, 1);
    await held.started;
    const running = await other.explain(started.executionId);
    expect(running.waits).toMatchObject([{ kind: "running", stepPath: "slow" }]);
    expect(running.sentence).toMatch(/^Step slow runs since \S+Z\.$/);
    await other.suspend(slow.id, started.executionId, { reason: "an incident", userId: "ada" });
    const paused = await other.explain(started.executionId);
    expect(paused.waits[0]).toMatchObject({ kind: "pause", userId: "ada", reason: "an incident" });
    expect(paused.sentence).toMatch(/^Paused by ada since \S+Z: an incident\.$/);
    held.finish();
  });

  test("an agent that has used its budget waits for a decision about it", async () => {
    const agent = new Agent({ id: "clerk", model: controlledModel(() => ({ text: ["done"] })) });
    const ask = { agent, prompt: "go", budget: { tokens: 15, onReached: "suspend" } } as const;
    const workflow = flow()
      .andAgent({ ...ask, id: "first" })
      .andAgent({ ...ask, id: "second" });
    const andante = bench.andante(workflow);
    const { executionId, suspension } = await andante.execute(workflow.id, 1);
    const { suspensionId, suspendedAt: since } = suspension ?? {};
    const reason = "The execution has used its budget of 15 tokens";
    const words = `Step second waits since ${since} for a decision about its budget`;
    expect(await andante.explain(executionId)).toMatchObject({
      sentence: `${words}: ${reason}.`,
      waits: [{ kind: "budget", stepPath: "second", since, suspensionId, reason }],
    });
    const { executions } = await andante.list({ workflowId: workflow.id, explain: true });
    expect(executions[0]?.explanation).toEqual({ kind: "budget", sentence: `${words}.` });
    const allowed = await andante.resume(workflow.id, executionId, { approved: true });
    expect(allowed.status, "the decision that it waits for").toBe("completed");
  });

  test("an execution whose definition does not fit any more is parked, and explains why; cancelled, it does not", async () => {
    const first = flow();
    const held = heldBody(1);
    const old = bench.andante(first.andThen({ id: "charge", execute: held.execute }));
    const { executionId } = await old.start(first.id, 1);
    await held.started;
    await old.close({ grace: 0 });
    const changed = bench.andante(first.andThen({ id: "charge-card", execute: () => 1 }));
    await changed.ready();
    const why = 'step 1 was "charge" (andThen), now "charge-card" (andThen)';
    const reason = `The workflow "${first.id}" has changed since this execution began: ${why}`;
    const sentence = `No process may run it: ${reason}.`;
    const explained = await changed.explain(executionId);
    expect(explained).toMatchObject({ status: "running", sentence, waits: [{ kind: "parked", reason }] });
    // Also in a list: its words are those of definitions, not of data.
    const { executions } = await changed.list({ workflowId: first.id, explain: true });
    expect(executions[0]?.explanation).toEqual({ kind: "parked", sentence });
    await changed.cancel(first.id, executionId);
    expect(await changed.explain(executionId)).toMatchObject({
      ...{ waits: [], sentence: expect.stringMatching(/^Cancelled/) },
    });
  });

  test("a resumed execution on a full process waits for a free place", async () => {
    const bodies = heldBodies();
    const workflow = flow()
      .andThen({ id: "gate", execute: ({ resumeData, suspend }) => resumeData ?? suspend() })
      .andThen({ id: "work", execute: ({ data }) => bodies.run(data) });
    const andante = bench.andanteWith({ limits: { running: 1 } }, workflow);
    const ids = [];
    for (const n of [1, 2]) ids.push((await andante.execute(workflow.id, n)).executionId);
    for (const id of ids) await andante.startResume(workflow.id, id, id);
    const [, second = ""] = ids;
    expect((await waitsFor(andante, second, "capacity")).sentence).toBe(
      "It could continue and waits for a process with a free place.",
    );
    await bodies.finishAll(2);
  });

  test("an execution that has ended has a sentence about its end and waits for nothing", async () => {
    const workflow = flow().andThen({
      id: "pay",
      execute: ({ data, suspend }) => {
        if (data === "fail") throw new Error("no money");
        return data === "wait" ? suspend() : data;
      },
    });
    const andante = bench.andante(workflow);
    const explained = async (input: string) => {
      const { executionId } = await andante.execute(workflow.id, input);
      if (input === "wait")
        await andante.cancel(workflow.id, executionId, { reason: "the wrong file", userId: "ada" });
      const { sentence, waits } = await andante.explain(executionId);
      expect(waits).toEqual([]);
      return sentence.replaceAll(/\S+Z, \d+\.\d{3} s/g, "T, n s");
    };
    expect(await explained("fine")).toBe("Completed at T, n s after its start.");
    expect(await explained("fail")).toBe("Failed in step pay at T, n s after its start: Error: no money.");
    expect(await explained("wait")).toBe("Cancelled by ada at T, n s after its start: the wrong file.");
    await expect(andante.explain("none")).rejects.toMatchObject({ code: "execution-not-found" });
  });
});
