// The states of suspended executions lie beside their folds: only where no other process writes, and within their bound.
import { expect, test } from "vitest";
import { engineForTest, rowForTest } from "../../../test/support/test-engine.ts";
import { suspension } from "../../store-cases/store-cases.ts";
import { emptyFold } from "../run/execution-fold.ts";
import type { LoadableState } from "./engine-kind.ts";

const row = rowForTest({ status: "suspended" });
const state: LoadableState = { execution: row, suspensions: [suspension()], timers: [] };
/** A fourth of the memory for all folds, and a little more. */
const long = "x".repeat(4 * 1024 * 1024 + 1);

function held(kept: LoadableState, engine = engineForTest().engine): LoadableState | undefined {
  engine.folds.keep("e1", emptyFold(row), undefined, kept);
  return engine.folds.idleState("e1");
}

test("a state is held until its fold is taken", async () => {
  const { engine } = engineForTest({ events: async () => [] });
  expect(held(state, engine)).toBe(state);
  await engine.folds.take({ ...row, sequence: 0 });
  expect(engine.folds.idleState("e1")).toBeUndefined();
});

test("none is held on a store that other processes use", () => {
  const listen = () => () => undefined;
  const clusterChannel = { lease: 1000, clockOffset: 0, listen, askToStop: () => undefined };
  expect(held(state, engineForTest({ clusterChannel }).engine)).toBeUndefined();
});

test.each<Partial<LoadableState>>([
  { execution: { ...row, input: long } },
  { execution: { ...row, context: long } },
  { suspensions: [suspension({ reason: long })] },
  { suspensions: [suspension({ data: long })] },
  { suspensions: [suspension({ onDeadline: long })] },
  { suspensions: [suspension({ resumeSchema: long })] },
])("one with a long text is not held (%#)", (fields) => {
  expect(held({ ...state, ...fields })).toBeUndefined();
});
