// Loading a claimed execution: the reads of the store, and the executions that are not loaded.
import { expect, test, vi } from "vitest";
import { plainKind } from "../../../test/support/plain-kind.ts";
import { plainWorkflow } from "../../../test/support/run-command.ts";
import { engineForTest, rowForTest } from "../../../test/support/test-engine.ts";
import type { ExecutionRow, Store } from "../../store/store.ts";
import { suspension } from "../../store-cases/store-cases.ts";
import { emptyFold } from "../run/execution-fold.ts";
import type { EngineKind } from "./engine-kind.ts";
import { loadExecution } from "./load-execution.ts";

interface Given {
  readonly fields?: Partial<ExecutionRow>;
  readonly kind?: Partial<EngineKind>;
}

function loading({ fields, kind }: Given = {}) {
  const row = rowForTest({ stepIndex: 2, timeoutAt: 70, paused: true, ...fields });
  const found = {
    execution: row,
    suspensions: [suspension()],
    timers: [{ path: "nap", dueAt: 9 }],
    usage: null,
  };
  const state = vi.fn<Store["state"]>(async () => found);
  const { engine } = engineForTest({ state });
  const fold = { ...emptyFold(row), bytes: 55 };
  const take = vi.spyOn(engine.folds, "take").mockResolvedValue({ fold, spans: undefined });
  const observed = vi.spyOn(engine.observation, "load");
  const whole: EngineKind = { ...plainKind, definition: () => plainWorkflow, ...kind };
  return { row, found, state, engine, fold, take, observed, kind: whole };
}

test("its row, its waits and its journal are read", async () => {
  const { engine, kind, row, found, fold, state, take, observed } = loading();
  const loaded = await loadExecution(engine, "e1", kind, "t");
  const { suspensions, timers } = found;
  expect(loaded).toEqual({
    row,
    execution: {
      ...fold,
      ...{ suspensions, timers, sequence: 3, stepIndex: 2, paused: true, timeoutAt: 70 },
      ...{ workflow: plainWorkflow, token: "t" },
    },
  });
  expect([state.mock.calls, take.mock.calls, observed.mock.calls]).toEqual([[["e1"]], [[row]], []]);
});

test("after a resume neither is read again, and its spans are shown where its kind has some", async () => {
  const { engine, kind, row, found, fold, state, take, observed } = loading({ kind: { hasSpans: true } });
  const journal = { fold: { ...fold, bytes: 77 }, spans: undefined };
  const loaded = await loadExecution(engine, "e1", kind, "t", { state: found, journal });
  expect([loaded?.execution.bytes, state.mock.calls, take.mock.calls]).toEqual([77, [], []]);
  expect(observed.mock.calls).toEqual([[row, undefined]]);
  await loadExecution(engine, "e1", kind, "t", { state: found, journal: undefined });
  expect([state.mock.calls.length, take.mock.calls.length]).toEqual([0, 1]);
});

test("one that is gone, has ended, or does not fit is not loaded", async () => {
  const gone = loading();
  gone.state.mockResolvedValue(undefined);
  const ended = loading({ fields: { endAt: 5 } });
  const asked: unknown[] = [];
  const fits: EngineKind["fits"] = async (...given) => {
    asked.push(given);
    return false;
  };
  const other = loading({ kind: { fits, hasSpans: true } });
  for (const { engine, kind } of [gone, ended, other])
    expect(await loadExecution(engine, "e1", kind, "t")).toBeUndefined();
  expect(asked).toEqual([[other.row, other.fold.journal, "t"]]);
  expect(other.observed).not.toHaveBeenCalled();
});
