// The gate of an execution's budget: when a loop ends, when it waits, and the limits after an approval.
import { expect, test } from "vitest";
import { loopOver } from "../../../test/support/loop-for-test.ts";
import type { CallWait } from "../../agent/durable/call-waits.ts";
import type { StepUsage } from "../../journal/events.ts";
import type { ExecutionBudget } from "../../workflow/step.ts";
import { BudgetGate } from "./budget-gate.ts";

const usageOf = (totalTokens: number, calls: number): StepUsage => ({
  ...{ inputTokens: totalTokens, outputTokens: 0, totalTokens, calls },
});

interface Given {
  readonly used?: StepUsage;
  /** The decision at each place, as JSON text: its suspension has the place as its id. */
  readonly decisions?: Readonly<Record<string, string>>;
  /** The usage at each decision, the earliest first. */
  readonly usedAt?: Readonly<Record<string, StepUsage>>;
  readonly recorded?: readonly string[];
}

function gateOf(
  budget: ExecutionBudget,
  { used = usageOf(0, 0), decisions = {}, usedAt = {}, recorded = [] }: Given,
) {
  const waits: [string, CallWait][] = [];
  const reads: string[][] = [];
  const records = Object.fromEntries(
    recorded.map((place) => [place, { call: { kind: "agent" }, output: '"x"', usage: undefined } as const]),
  );
  const gate = new BudgetGate(
    budget,
    {
      waits: {
        ended: () => undefined,
        sleep: () => undefined,
        resumedWith: (place) => decisions[place],
        wait: (place, wait) => void waits.push([place, wait]),
      },
      modelResumes: () => Object.entries(decisions).map(([suspensionId, data]) => ({ suspensionId, data })),
    },
    {
      used: async () => used,
      usedAtResumes: async (ids) => {
        reads.push([...ids]);
        return new Map(Object.entries(usedAt));
      },
    },
  );
  const { loop } = loopOver(records, { gate });
  return { gate, loop, waits, reads };
}

test("below the budget a call passes; at it the call is refused, and the loop ends before", async () => {
  const below = gateOf({ tokens: 10, calls: 3 }, { used: usageOf(9, 2) });
  await below.gate.pass(below.loop);
  expect([await below.loop.mustStop(), below.gate.hasStopped]).toEqual([false, false]);
  for (const used of [usageOf(10, 2), usageOf(9, 3)]) {
    const { gate, loop, waits } = gateOf({ tokens: 10, calls: 3 }, { used });
    await expect(gate.pass(loop)).rejects.toThrow(used.calls === 3 ? "3 model calls" : "10 tokens");
    expect([await loop.mustStop(), gate.hasStopped, waits]).toEqual([true, true, []]);
  }
});

test("a recorded call is replayed without a look at the budget", async () => {
  const { gate, loop } = gateOf({ tokens: 10 }, { used: usageOf(10, 1), recorded: ["call[0]"] });
  expect([await loop.mustStop(), gate.hasStopped]).toEqual([false, false]);
});

test("with suspend the call waits for a decision, with everything that the person needs", async () => {
  const budget = { tokens: 10, onReached: "suspend" } as const;
  const { gate, loop, waits } = gateOf(budget, { used: usageOf(12, 1) });
  expect(await loop.mustStop()).toBe(false);
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
  expect([await loop.mustStop(), gate.hasStopped]).toEqual([true, true]);
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
    expect(reads).toEqual([["call[0]"]]);
  } else {
    await expect(gate.pass(loop)).rejects.toThrow();
    expect(waits).toMatchObject([["call[0]", { again: true }]]);
  }
});

const waiting = { tokens: 10, onReached: "suspend" } as const;
const approved = '{"approved":true,"tokens":5}';

test("a decision counts for every loop of the step: that of the agent, of its sub-agents, and of theirs", async () => {
  for (const place of ["call[1]", "call[0].tool[0].call[1]", "call[0].tool[0].call[0].tool[3].call[0]"]) {
    const usedAt = { [place]: usageOf(12, 1) };
    for (const inside of [[], ["call[0].tool[0]"], ["call[0].tool[0]", "call[0].tool[0].call[0].tool[3]"]]) {
      const loopIn = (loop: ReturnType<typeof loopOver>["loop"]) =>
        inside.reduce((above, at) => above.inside(at), loop);
      const given = { decisions: { [place]: approved }, usedAt };
      const allowed = gateOf(waiting, { ...given, used: usageOf(16, 2) });
      await loopIn(allowed.loop).passGate();
      expect([await loopIn(allowed.loop).mustStop(), allowed.waits]).toEqual([false, []]);
      const usedUp = gateOf(waiting, { ...given, used: usageOf(17, 2) });
      const loop = loopIn(usedUp.loop);
      await expect(loop.passGate()).rejects.toThrow("walked again later");
      expect(usedUp.waits).toMatchObject([[loop.nextPlace, { again: loop.nextPlace === place }]]);
      const denied = gateOf(waiting, {
        ...{ used: usageOf(12, 2), decisions: { [place]: '{"approved":false}' } },
      });
      await expect(loopIn(denied.loop).passGate()).rejects.toThrow("10 tokens");
      expect([await loopIn(denied.loop).mustStop(), denied.gate.hasStopped, denied.waits]).toEqual([
        ...[true, true, []],
      ]);
    }
  }
});

test("a call passes while any approval allows it, and the last one is named when none does", async () => {
  const decisions = { "call[1]": approved, "call[0].tool[0].call[0]": '{"approved":true,"tokens":1}' };
  const usedAt = { "call[1]": usageOf(12, 1), "call[0].tool[0].call[0]": usageOf(14, 2) };
  const allowed = gateOf(waiting, { used: usageOf(16, 3), decisions, usedAt });
  await allowed.loop.passGate();
  // The amounts are not added up.
  const usedUp = gateOf(waiting, { used: usageOf(17, 3), decisions, usedAt });
  await expect(usedUp.loop.passGate()).rejects.toThrow("walked again later");
  expect(usedUp.waits).toMatchObject([["call[0]", { reason: expect.stringContaining("15 tokens") }]]);
});

test("a denial counts although another approval is not used up", async () => {
  const decisions = { "call[1]": approved, "call[0].tool[0].call[0]": '{"approved":false}' };
  const usedAt = { "call[1]": usageOf(12, 1), "call[0].tool[0].call[0]": usageOf(12, 1) };
  const { loop } = gateOf(waiting, { used: usageOf(12, 1), decisions, usedAt });
  await expect(loop.passGate()).rejects.toThrow("10 tokens");
  expect(await loop.mustStop()).toBe(true);
});
