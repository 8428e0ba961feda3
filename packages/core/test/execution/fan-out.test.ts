// A fan-out of thousands of items holds the event loop in slices: so much work in one turn, and no more.
import { expect, test } from "vitest";
import { z } from "zod";
import { sliceSize } from "../../src/execution/run/fibers.ts";
import { TestClock } from "../../src/test-kit/test-clock.ts";
import { createWorkflow } from "../../src/workflow/create-workflow.ts";
import { flow, onMemory } from "../support/test-andante.ts";
import { wrapStore } from "../support/wrapped-store.ts";

const count = 10 * sliceSize;

/** Counts what happens in each turn of the event loop. */
function turns() {
  let [now, most, over] = [0, 0, false];
  const next = () => {
    now = 0;
    if (!over) setImmediate(next);
  };
  next();
  return {
    count: (by = 1) => {
      now += by;
      most = Math.max(most, now);
    },
    end: () => {
      over = true;
      return most;
    },
  };
}

onMemory((bench) => {
  const run = async (execute: () => unknown, each?: () => void) => {
    const [begun, written] = [turns(), turns()];
    const workflow = flow().andForEach({
      id: "each",
      items: () => Array.from({ length: count }, (_, index) => index),
      concurrency: count,
      step: (chain) =>
        chain.andThen({
          id: "work",
          execute: () => {
            begun.count();
            each?.();
            return execute();
          },
        }),
    });
    const store = wrapStore(bench.store, {
      commit: (commit) => {
        written.count(commit.events.length + commit.following.length);
        return bench.store.commit(commit);
      },
    });
    const andante = bench.andanteWith({ store }, workflow);
    const { result, status } = await andante.execute(workflow.id, 1);
    expect(status).toBe("completed");
    expect(result).toHaveLength(count);
    return { begun: begun.end(), written: written.end() };
  };

  // Those that were opened before the commit, and those that follow with it.
  const most = 2 * sliceSize;

  test("of bodies that return at once", async () => {
    const { begun, written } = await run(() => 1);
    expect(begun).toBeLessThanOrEqual(most);
    // An outcome and a start for each of them, and the end of the container.
    expect(written).toBeLessThanOrEqual(2 * most + 2);
  });

  test("of bodies that all end together", async () => {
    const gate = Promise.withResolvers<number>();
    let left = count;
    const { begun, written } = await run(
      () => gate.promise,
      () => {
        if (--left === 0) gate.resolve(1);
      },
    );
    expect(begun).toBeLessThanOrEqual(most);
    expect(written).toBeLessThanOrEqual(2 * most + 2);
  });

  test("that fails in a later slice, inside a workflow with a timeout, ends its execution", async () => {
    const item = createWorkflow({ id: "item", input: z.unknown().refine((value) => value !== "wrong") });
    const child = createWorkflow({ id: "child", input: z.array(z.unknown()), timeout: "1h" }).andForEach({
      id: "each",
      concurrency: count,
      step: (chain) =>
        chain.andWorkflow({ id: "one", workflow: item.andThen({ id: "work", execute: () => 1 }) }),
    });
    const items = Array.from({ length: count }, (_, index) => (index === 2 * sliceSize ? "wrong" : index));
    const workflow = flow()
      .andThen({ id: "list", execute: () => items })
      .andWorkflow({ id: "part", workflow: child });
    const andante = bench.andante(workflow);
    const { executionId } = await andante.start(workflow.id, 1);
    await expect
      .poll(async () => (await andante.state(workflow.id, executionId)).status, { timeout: 20_000 })
      .toBe("error");
  }, 30_000);

  test("of sleeps that all end together", async () => {
    const written = turns();
    const workflow = flow().andForEach({
      id: "each",
      items: () => Array.from({ length: count }, (_, index) => index),
      concurrency: count,
      step: (chain) => chain.andSleep({ id: "nap", duration: "1h" }),
    });
    const store = wrapStore(bench.store, {
      commit: (commit) => {
        written.count(commit.events.length + commit.following.length);
        return bench.store.commit(commit);
      },
    });
    const clock = new TestClock({ skipSleeps: false });
    const andante = bench.andanteWith({ store, clock }, workflow);
    const { executionId } = await andante.start(workflow.id, 1);
    await andante.settled();
    clock.advance("2h");
    await expect
      .poll(async () => (await andante.state(workflow.id, executionId)).status, { timeout: 20_000 })
      .toBe("completed");
    expect(written.end()).toBeLessThanOrEqual(2 * most + 2);
  }, 30_000);
});
