// The cases that the counts over time of every store must pass.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RollupCount, RollupTotal } from "../store/rollup-store.ts";
import type { Store } from "../store/store.ts";

function counted(fields: Partial<RollupCount> = {}): RollupCount {
  return { minute: 100, workflowId: "publish", step: "", kind: "completed", bucket: 4, count: 1, ...fields };
}

const totalOf = ({ minute: _, ...total }: RollupCount): RollupTotal => total;
const sorted = (totals: readonly RollupTotal[]) =>
  totals.map((total) => JSON.stringify(Object.entries(total).sort())).sort();

export function rollupCases(name: string, makeStore: () => Store): void {
  describe(`${name} as a store of counts over time`, () => {
    let store: Store;
    beforeAll(async () => {
      store = makeStore();
      await store.open();
    });
    afterAll(() => store.close());
    const add = (counts: readonly RollupCount[], writer = randomUUID(), number = 1) =>
      store.rollups.add({ writer, number, counts });
    const all = { from: 0, to: 1_000_000 };
    const totals = (query: object) => store.rollups.totals({ ...all, of: "executions", ...query });

    test("counts of several processes are added up", async () => {
      const workflowId = randomUUID();
      const started = counted({ workflowId, kind: "started", bucket: -1, count: 3 });
      const fast = counted({ workflowId, bucket: 2 });
      const slow = counted({ workflowId, bucket: 9 });
      await Promise.all([add([started, fast]), add([started, slow]), add([fast])]);
      expect(sorted(await totals({ workflowId }))).toEqual(
        sorted([{ ...started, count: 6 }, { ...fast, count: 2 }, slow].map(totalOf)),
      );
    });

    test("a batch that is written again adds nothing, the next one does", async () => {
      const workflowId = randomUUID();
      const writer = randomUUID();
      const once = [counted({ workflowId })];
      await add(once, writer, 1);
      await add(once, writer, 1);
      expect(await totals({ workflowId })).toEqual(once.map(totalOf));
      await add(once, writer, 2);
      expect(await totals({ workflowId })).toEqual([totalOf(counted({ workflowId, count: 2 }))]);
    });

    test("executions and steps are read apart, by workflow and within a range", async () => {
      const workflowId = randomUUID();
      const whole = counted({ workflowId });
      const step = counted({ workflowId, step: "each/resize", kind: "failed", bucket: -1 });
      const early = counted({ workflowId, minute: 99 });
      const late = counted({ workflowId, minute: 110 });
      await add([whole, step, early, late, counted({ workflowId: `${workflowId}-other` })]);
      expect(await totals({ workflowId, from: 100, to: 110 })).toEqual([totalOf(whole)]);
      expect(await totals({ workflowId, of: "steps" })).toEqual([totalOf(step)]);
      const both = (await totals({ from: 100, to: 110 })).filter((each) =>
        each.workflowId.startsWith(workflowId),
      );
      expect(both).toHaveLength(2);
    });

    test("over time they are summed up by stretches", async () => {
      const workflowId = randomUUID();
      const at = (minute: number, fields: Partial<RollupCount> = {}) =>
        counted({ workflowId, minute, ...fields });
      await add([at(200), at(204, { bucket: 7 }), at(205), at(205, { kind: "failed" }), at(215)]);
      await add([at(201, { step: "one" })]);
      const points = await store.rollups.overTime({ workflowId, from: 200, to: 215, width: 5 });
      const { bucket } = at(200);
      const inOrder = [...points].sort(
        (a, b) => a.index - b.index || a.kind.localeCompare(b.kind) || a.bucket - b.bucket,
      );
      expect(inOrder).toEqual([
        { index: 0, kind: "completed", bucket, count: 1 },
        { index: 0, kind: "completed", bucket: 7, count: 1 },
        { index: 1, kind: "completed", bucket, count: 1 },
        { index: 1, kind: "failed", bucket, count: 1 },
      ]);
    });

    test("trimming removes old counts, a bounded number at a time", async () => {
      const workflowId = randomUUID();
      const at = (minute: number, step: string) => counted({ workflowId, minute, step });
      await add([-4, -3, -2, 10].flatMap((minute) => [at(minute, ""), at(minute, "one")]));
      const trim = () => store.rollups.trim({ executions: -2, steps: 0, limit: 2 });
      expect([await trim(), await trim(), await trim()]).toEqual([2 + 2, 1, 0]);
      const left = { workflowId, from: -10 };
      expect(await totals(left)).toEqual([totalOf(counted({ workflowId, count: 2 }))]);
      expect(await totals({ ...left, of: "steps" })).toEqual([totalOf(at(10, "one"))]);
    });
  });
}
