// A fan-out of thousands of items holds the event loop in slices: so much work in one turn, and no more.
import { expect, test } from "vitest";
import { z } from "zod";
import { sliceSize } from "../../src/execution/run/fibers.ts";
import { TestClock } from "../../src/test-kit/test-clock.ts";
import { createWorkflow } from "../../src/workflow/create-workflow.ts";
import { andThen, andWorkflow } from "../../src/workflow/steps/free-steps.ts";
import { inTime } from "../support/in-time.ts";
import { flow, onMemory } from "../support/test-andante.ts";
import { wrapStore } from "../support/wrapped-store.ts";

const count = 10 * sliceSize;

/** Counts the work in each turn of the event loop. */
function turns() {
  let [now, most, total, over] = [0, 0, 0, false];
  const next = () => {
    now = 0;
    if (!over) setImmediate(next);
  };
  next();
  return {
    count: (by = 1) => {
      now += by;
      total += by;
      most = Math.max(most, now);
    },
    get total() {
      return total;
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

  /** Items with two bodies each; the first of each ends on request, that of the first item never. */
  const inTwo = () => {
    const gate = Promise.withResolvers<number>();
    let begun = turns();
    const workflow = flow().andForEach({
      id: "each",
      items: () => Array.from({ length: count }, (_, index) => index),
      concurrency: count,
      step: (chain) =>
        chain
          .andThen({
            id: "first",
            execute: ({ data }) => {
              begun.count();
              return data === 0 ? new Promise(() => undefined) : gate.promise;
            },
          })
          .andThen({ id: "second", execute: () => begun.count() }),
    });
    /** Resolves when so many bodies have begun since the last call, to how many began in one turn at most. */
    const reach = async (bodies: number) => {
      await expect.poll(() => begun.total).toBe(bodies);
      const most = begun.end();
      begun = turns();
      return most;
    };
    return { workflow, reach, release: () => gate.resolve(1) };
  };

  test("of bodies that follow when a pause is lifted", async () => {
    const { workflow, reach, release } = inTwo();
    let ended = 0;
    const store = wrapStore(bench.store, {
      commit: async (commit) => {
        const result = await bench.store.commit(commit);
        ended += commit.events.filter(({ type }) => type === "step-complete").length;
        return result;
      },
    });
    const andante = bench.andanteWith({ store }, workflow);
    const { executionId } = await andante.start(workflow.id, 1);
    await reach(count);
    await andante.suspend(workflow.id, executionId, {});
    release();
    await expect.poll(() => ended).toBe(count - 1);
    andante.resume(workflow.id, executionId).catch(() => undefined);
    expect(await reach(count - 1)).toBeLessThanOrEqual(most);
  }, 60_000);

  test("of bodies that run again in the next process", async () => {
    const { workflow, reach } = inTwo();
    const first = bench.andante(workflow);
    await first.start(workflow.id, 1);
    await reach(count);
    await first.close({ grace: 0 });
    await bench.andante(workflow).ready();
    expect(await reach(count)).toBeLessThanOrEqual(most);
  }, 60_000);

  test("inside another opens every item of the outer one before the rest of the inner ones", async () => {
    const outer = 5;
    const order: string[] = [];
    const numbers = (length: number) => Array.from({ length }, (_, index) => index);
    const workflow = flow()
      .andThen({ id: "list", execute: () => numbers(outer).map(() => numbers(2 * sliceSize)) })
      .andForEach({
        id: "outer",
        concurrency: outer,
        step: (chain) =>
          chain.andForEach({
            id: "inner",
            concurrency: 2 * sliceSize,
            step: (each) => each.andThen({ id: "work", execute: ({ stepPath }) => order.push(stepPath) }),
          }),
      });
    await bench.andante(workflow).execute(workflow.id, 1);
    const of = (item: number, index: number) => order.indexOf(`outer[${item}]/inner[${index}]/work`);
    const firsts = numbers(outer).map((item) => of(item, 0));
    const lasts = numbers(outer).map((item) => of(item, 2 * sliceSize - 1));
    expect(Math.max(...firsts)).toBeLessThan(Math.min(...lasts));
  }, 60_000);

  test("whose winner is in the journal is won by it, though others could continue before it is read", async () => {
    const branches = 3 * sliceSize;
    const begun: string[] = [];
    const gate = Promise.withResolvers<number>();
    const hold = ({ stepPath }: { stepPath: string }) => {
      begun.push(stepPath);
      return gate.promise;
    };
    const steps = Array.from({ length: branches }, (_, index) =>
      index === branches - 1
        ? andThen({ id: "last", execute: hold })
        : andWorkflow({
            id: `branch-${index}`,
            workflow: createWorkflow({ id: `branch-${index}`, input: z.unknown() })
              .andThen({ id: "first", execute: hold })
              .andThen({ id: "second", execute: ({ stepPath }) => begun.push(stepPath) }),
          }),
    );
    const workflow = flow().andRace({ id: "race", steps });
    const andante = bench.andante(workflow);
    const { executionId } = await andante.start(workflow.id, 1);
    await expect.poll(() => begun.length).toBe(branches);
    await andante.suspend(workflow.id, executionId, {});
    gate.resolve(7);
    await inTime(andante.settled(), "the end of the bodies");
    expect(await andante.resume(workflow.id, executionId)).toMatchObject({ result: 7 });
    expect(begun).toHaveLength(branches);
  }, 60_000);

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
    await expect.poll(async () => (await andante.state(workflow.id, executionId)).status).toBe("error");
  });

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
    await expect.poll(async () => (await andante.state(workflow.id, executionId)).status).toBe("completed");
    expect(written.end()).toBeLessThanOrEqual(2 * most + 2);
  });
});
