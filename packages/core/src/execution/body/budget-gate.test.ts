// The gate of an execution's budget: when a loop ends, when it waits, and the limits after an approval.
import { expect, test } from "vitest";
import type { CallWait } from "../../agent/durable/call-waits.ts";
import { DurableLoop } from "../../agent/durable/durable-loop.ts";
import type { CallRecorder } from "../../agent/durable/recorder.ts";
import type { StepUsage } from "../../journal/events.ts";
import { RecordingLogger } from "../../test-kit/recording-logger.ts";
import type { ExecutionBudget } from "../../workflow/step.ts";
import { BudgetGate } from "./budget-gate.ts";

const usageOf = (totalTokens: number, calls: number): StepUsage => ({
  ...{ inputTokens: totalTokens, outputTokens: 0, totalTokens, calls },
});

interface Given {
  readonly used?: StepUsage;
  /** The decision at each place, as JSON text. */
  readonly decisions?: Readonly<Record<string, string>>;
  readonly usedAt?: Readonly<Record<string, StepUsage>>;
  readonly recorded?: readonly string[];
}

function gateOf(
  budget: ExecutionBudget,
  { used = usageOf(0, 0), decisions = {}, usedAt = {}, recorded = [] }: Given,
) {
  const waits: [string, CallWait][] = [];
  const reads: string[] = [];
  const recorder: CallRecorder = {
    ...{ executionId: "e1", attempt: 1, signal: new AbortController().signal, isEmpty: true },
    now: () => 0,
    pathOf: (place) => `one#${place}`,
    read: (place) =>
      recorded.includes(place) ? { call: { kind: "agent" }, output: '"x"', usage: undefined } : undefined,
    checkMayBegin: () => undefined,
    record: async () => undefined,
    failed: () => undefined,
    emit: () => undefined,
  };
  const gate = new BudgetGate(
    budget,
    { resumedWith: (place) => decisions[place], wait: (place, wait) => void waits.push([place, wait]) },
    {
      now: async () => used,
      whenResumed: async (place) => {
        reads.push(place);
        return usedAt[place] ?? usageOf(0, 0);
      },
    },
  );
  const loop = new DurableLoop(recorder, new RecordingLogger(), gate.pass);
  return { gate, loop, waits, reads };
}

test("below the budget a call passes; at it the call is refused, and the loop ends before", async () => {
  const below = gateOf({ tokens: 10, calls: 3 }, { used: usageOf(9, 2) });
  await below.gate.pass(below.loop);
  expect([await below.gate.mustStop(below.loop), below.gate.hasStopped]).toEqual([false, false]);
  for (const used of [usageOf(10, 2), usageOf(9, 3)]) {
    const { gate, loop, waits } = gateOf({ tokens: 10, calls: 3 }, { used });
    await expect(gate.pass(loop)).rejects.toThrow(used.calls === 3 ? "3 model calls" : "10 tokens");
    expect([await gate.mustStop(loop), gate.hasStopped, waits]).toEqual([true, true, []]);
  }
});

test("a recorded call is replayed without a look at the budget", async () => {
  const { gate, loop } = gateOf({ tokens: 10 }, { used: usageOf(10, 1), recorded: ["call[0]"] });
  expect([await gate.mustStop(loop), gate.hasStopped]).toEqual([false, false]);
});

test("with suspend the call waits for a decision, with everything that the person needs", async () => {
  const budget = { tokens: 10, onReached: "suspend" } as const;
  const { gate, loop, waits } = gateOf(budget, { used: usageOf(12, 1) });
  expect(await gate.mustStop(loop)).toBe(false);
  const thrown: unknown = await gate.pass(loop).catch((error: unknown) => error);
  expect(thrown).toBe(loop.left);
  expect(loop.left?.reason).toMatchObject({ name: "CallsWaitError" });
  const amount = { type: "integer", minimum: 1 };
  expect(waits).toEqual([
    [
      "call[0]",
      {
        reason: expect.stringContaining("10 tokens"),
        data: { used: usageOf(12, 1), budget: { tokens: 10, calls: undefined } },
        again: false,
        resumeSchema: {
          type: "object",
          properties: {
            approved: { type: "boolean", description: "Whether the agent may go on." },
            tokens: { ...amount, description: "How many more tokens; as many as before when left out." },
            calls: { ...amount, description: "How many more model calls; as many as before when left out." },
          },
          required: ["approved"],
          additionalProperties: false,
        },
      },
    ],
  ]);
});

test("a denial ends the loop and refuses the call", async () => {
  const budget = { tokens: 10, onReached: "suspend" } as const;
  const decisions = { "call[0]": '{"approved":false}' };
  const { gate, loop, waits } = gateOf(budget, { used: usageOf(12, 1), decisions });
  expect([await gate.mustStop(loop), gate.hasStopped]).toEqual([true, true]);
  await expect(gate.pass(loop)).rejects.toThrow("10 tokens");
  expect(waits).toEqual([]);
});

test.each([
  ['{"approved":true}', usageOf(21, 1), true],
  ['{"approved":true}', usageOf(22, 1), false],
  ['{"approved":true,"tokens":5}', usageOf(16, 1), true],
  ['{"approved":true,"tokens":5}', usageOf(17, 1), false],
  ['{"approved":true,"calls":2}', usageOf(12, 2), true],
  ['{"approved":true,"calls":2}', usageOf(12, 3), false],
])("after %s the amount counts from the decision: %o passes: %s", async (decision, used, passes) => {
  const budget = { tokens: 10, onReached: "suspend" } as const;
  const decisions = { "call[0]": decision };
  const usedAt = { "call[0]": usageOf(12, 1) };
  const { gate, loop, waits, reads } = gateOf(budget, { used, decisions, usedAt });
  if (passes) {
    await gate.pass(loop);
    await gate.pass(loop);
    expect(waits).toEqual([]);
    // Read once.
    expect(reads).toEqual(["call[0]"]);
  } else {
    await expect(gate.pass(loop)).rejects.toThrow();
    expect(waits).toMatchObject([["call[0]", { again: true }]]);
  }
});
