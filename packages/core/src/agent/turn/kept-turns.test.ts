// The turns of kept conversations in this process: begun here or recovered, found by their executions until they end.
import { expect, test, vi } from "vitest";
import { KeptTurns } from "./kept-turns.ts";
import type { TurnEnd } from "./turn-host.ts";

const turnOf = (executionId: string) => {
  const [run, stop, ending] = [
    vi.fn(async () => undefined),
    vi.fn(),
    vi.fn(async () => `end of ${executionId}`),
  ];
  return { executionId, input: { agentId: "a" }, run, stop, ending };
};

function turnsForTest(result: () => Promise<object> = async () => ({ kind: "begun" })) {
  const begin = vi.fn(result);
  const recovered = turnOf("r");
  const recover = vi.fn(() => recovered);
  const turns = new KeptTurns(Object({ agentIds: ["a", "b"], executions: { begin }, recover }));
  return { turns, begin, recover, recovered };
}

const running = (executionId: string, settled: Promise<TurnEnd> = new Promise(() => undefined)) =>
  Object({ executionId, settled });

test("a turn that has begun is here until its execution has settled", async () => {
  const { turns, begin, recover } = turnsForTest();
  const turn = turnOf("e");
  expect(await turns.begin(Object(turn), Object({ agentId: "a", before: 3 }))).toEqual({ kind: "begun" });
  expect(begin.mock.calls).toEqual([
    [{ agentId: "a", before: 3, executionId: "e", input: '{"agentId":"a"}' }],
  ]);
  expect([turns.has("e"), turns.has("f"), turns.agentIds]).toEqual([true, false, ["a", "b"]]);
  const settled = Promise.withResolvers<TurnEnd>();
  const execution = running("e", settled.promise);
  await turns.run(execution);
  expect(turn.run.mock.calls).toEqual([[execution]]);
  expect(recover).not.toHaveBeenCalled();
  expect(await turns.endingOf("e")).toBe("end of e");
  turns.stop("f");
  expect(turn.stop).not.toHaveBeenCalled();
  turns.stop("e");
  expect(turn.stop).toHaveBeenCalledTimes(1);
  settled.resolve("ended");
  await settled.promise;
  await Promise.resolve();
  expect(turns.has("e")).toBe(false);
  await expect(turns.endingOf("e")).rejects.toEqual(new TypeError("the turn e is not here"));
});

test("a turn is here while it begins, and not after it was refused or could not be written", async () => {
  for (const [result, outcome] of [
    [async () => ({ kind: "busy" }), { kind: "busy" }],
    [() => Promise.reject(new Error("disk full")), new Error("disk full")],
  ] as const) {
    const { turns } = turnsForTest(result);
    const beginning = turns.begin(Object(turnOf("e")), Object({})).catch((error: unknown) => error);
    expect(turns.has("e")).toBe(true);
    expect(await beginning).toEqual(outcome);
    expect(turns.has("e")).toBe(false);
  }
});

test("a turn that another process left is recovered once, and an old end does not remove a newer run", async () => {
  const { turns, recover, recovered } = turnsForTest();
  const settled = Promise.withResolvers<TurnEnd>();
  const first = running("r", settled.promise);
  await turns.run(first);
  await turns.run(running("r"));
  expect(recover.mock.calls).toEqual([[first]]);
  expect(recovered.run).toHaveBeenCalledTimes(2);
  expect(turns.has("r")).toBe(true);
  const newer = turnOf("r");
  await turns.begin(Object(newer), Object({}));
  settled.resolve("failed");
  await settled.promise;
  await Promise.resolve();
  expect(turns.has("r")).toBe(true);
});
