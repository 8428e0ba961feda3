// andForEach, andDoWhile, andDoUntil and andBranch: which steps run, in which order, and which ones a second life does not repeat.
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { andThen, andWhen } from "../../src/workflow/steps/free-steps.ts";
import {
  attach,
  collect,
  flow,
  heldBody,
  onMemory,
  onMemoryAndFile,
  until,
} from "../support/test-andante.ts";

const numbers = z.array(z.number());

onMemory((bench) => {
  describe("andForEach", () => {
    test("runs its step for each item of the data, in order, and gives the outputs as a list", async () => {
      const seen: number[] = [];
      const workflow = flow(numbers).andForEach({
        id: "each",
        step: andThen({
          id: "double",
          execute: ({ data }: { data: number }) => {
            seen.push(data);
            return data * 2;
          },
        }),
      });
      expect(await bench.andante(workflow).execute(workflow.id, [3, 1, 2])).toMatchObject({
        status: "completed",
        result: [6, 2, 4],
      });
      expect(seen).toEqual([3, 1, 2]);
    });

    test("addresses each item by its number and its items function by name", async () => {
      const workflow = flow(z.object({ count: z.number() })).andForEach({
        id: "each",
        items: ({ data }) => Array.from({ length: data.count }, (_, index) => ({ index })),
        step: (chain) =>
          chain
            .andThen({ id: "a", execute: ({ data, stepPath }) => ({ ...data, stepPath }) })
            .andThen({ id: "b", execute: ({ data, stepPath }) => `${data.stepPath} ${stepPath}` }),
      });
      const { events } = await bench.andante(workflow).stream(workflow.id, { count: 2 });
      const all = await collect(events);
      expect(all.at(-1)).toMatchObject({ result: ["each[0]/a each[0]/b", "each[1]/a each[1]/b"] });
      expect(all.filter(({ type }) => type === "step-start").map(({ stepPath }) => stepPath)).toEqual([
        "each",
        "each[0]/a",
        "each[0]/b",
        "each[1]/a",
        "each[1]/b",
      ]);
      expect(all.find(({ type }) => type === "step-evaluated")).toMatchObject({ stepPath: "each#items" });
    });

    test("keeps at most `concurrency` items under way and fills each place as soon as it is free", async () => {
      const bodies = Array.from({ length: 5 }, (_, index) => heldBody(index));
      const workflow = flow(numbers).andForEach({
        id: "each",
        concurrency: 2,
        step: andThen({
          id: "held",
          execute: ({ data, signal }: { data: number; signal: AbortSignal }) =>
            bodies[data]?.execute({ signal }),
        }),
      });
      const andante = bench.andante(workflow);
      const { result } = await andante.start(workflow.id, [0, 1, 2, 3, 4]);
      const runs = () => bodies.map((body) => body.runs);
      await Promise.all([bodies[0]?.started, bodies[1]?.started]);
      expect(runs()).toEqual([1, 1, 0, 0, 0]);
      bodies[1]?.finish();
      await bodies[2]?.started;
      expect(runs()).toEqual([1, 1, 1, 0, 0]);
      for (const body of bodies) body.finish();
      expect(await result()).toMatchObject({ status: "completed", result: [0, 1, 2, 3, 4] });
    });

    test("fails with the first item that fails, aborts the others and starts no more", async () => {
      const slow = heldBody(0);
      const started: number[] = [];
      const workflow = flow(numbers).andForEach({
        id: "each",
        concurrency: 2,
        step: andThen({
          id: "one",
          execute: async ({ data, signal }: { data: number; signal: AbortSignal }) => {
            started.push(data);
            if (data === 0) return slow.execute({ signal });
            throw new Error("broken");
          },
        }),
      });
      const { executionId, result } = await bench.andante(workflow).start(workflow.id, [0, 1, 2, 3]);
      expect(await result()).toMatchObject({ status: "error" });
      expect((await slow.started).aborted).toBe(true);
      slow.finish();
      expect(started).toEqual([0, 1]);
      const { execution } = (await bench.store.state(executionId)) ?? {};
      expect(execution?.error).toContain("each[1]/one");
    });

    test.each([
      { name: "no list", input: { some: "object" }, message: "items" },
      { name: "null", input: null, message: "items" },
    ])("fails clearly when the data is $name", async ({ input, message }) => {
      const workflow = flow().andForEach({
        id: "each",
        step: andThen({ id: "one", execute: () => 1 }),
      });
      const result = await bench.andante(workflow).execute(workflow.id, input);
      expect(result.status).toBe("error");
      const { execution } = (await bench.store.state(result.executionId)) ?? {};
      expect(execution?.error).toContain(message);
    });

    test("of nothing is an empty list", async () => {
      const workflow = flow(numbers).andForEach({
        id: "each",
        step: andThen({ id: "one", execute: () => 1 }),
      });
      expect(await bench.andante(workflow).execute(workflow.id, [])).toMatchObject({ result: [] });
    });

    test("waits for each item that suspends, one after the other", async () => {
      const workflow = flow(numbers).andForEach({
        id: "each",
        step: andThen({
          id: "gate",
          execute: ({ data, suspend, resumeData }) =>
            resumeData === undefined ? suspend(`item ${data}`) : `${data} ${resumeData}`,
        }),
      });
      const andante = bench.andante(workflow);
      const first = await andante.execute(workflow.id, [7, 8]);
      expect(first.suspension).toMatchObject({ reason: "item 7", stepPath: "each[0]/gate", stepId: "gate" });
      const second = await andante.resume(workflow.id, first.executionId, "yes");
      expect(second.suspension).toMatchObject({ reason: "item 8", stepPath: "each[1]/gate" });
      const done = await andante.resume(workflow.id, first.executionId, "no");
      expect(done.result).toEqual(["7 yes", "8 no"]);
    });
  });

  describe("loops", () => {
    test("andDoWhile runs its step once, then again while the condition holds", async () => {
      const workflow = flow(z.number()).andDoWhile({
        id: "loop",
        step: andThen({ id: "add", execute: ({ data }: { data: number }) => data + 1 }),
        condition: ({ data }) => data < 5,
      });
      const andante = bench.andante(workflow);
      expect(await andante.execute(workflow.id, 0)).toMatchObject({ result: 5 });
      expect(await andante.execute(workflow.id, 9)).toMatchObject({ result: 10 });
    });

    test("andDoUntil stops when the condition holds; each round has its path", async () => {
      const workflow = flow(z.number()).andDoUntil({
        id: "loop",
        step: andThen({ id: "add", execute: ({ data }: { data: number }) => data + 1 }),
        condition: ({ data }) => data >= 3,
      });
      const { events } = await bench.andante(workflow).stream(workflow.id, 1);
      const all = await collect(events);
      expect(all.at(-1)).toMatchObject({ result: 3 });
      const paths = all.flatMap(({ type, stepPath }) =>
        type.startsWith("step") ? [`${type} ${stepPath}`] : [],
      );
      expect(paths).toEqual([
        "step-start loop",
        "step-start loop[0]/add",
        "step-complete loop[0]/add",
        "step-evaluated loop[0]#condition",
        "step-start loop[1]/add",
        "step-complete loop[1]/add",
        "step-evaluated loop[1]#condition",
        "step-complete loop",
      ]);
    });

    test("a loop that suspends in its second round continues there", async () => {
      let runs = 0;
      const workflow = flow(z.number()).andDoWhile({
        id: "loop",
        step: andThen({
          id: "round",
          execute: ({ data, suspend, resumeData }): number => {
            runs++;
            if (data === 1 && resumeData === undefined) suspend("look");
            return data + 1;
          },
        }),
        condition: ({ data }) => data < 3,
      });
      const andante = bench.andante(workflow);
      const waiting = await andante.execute(workflow.id, 0);
      expect(waiting.suspension).toMatchObject({ stepPath: "loop[1]/round" });
      expect(await andante.resume(workflow.id, waiting.executionId)).toMatchObject({ result: 3 });
      expect(runs).toBe(4);
    });

    test("a failing step or condition ends the loop", async () => {
      const workflow = flow(z.number()).andDoWhile({
        id: "loop",
        step: andThen({ id: "add", execute: ({ data }: { data: number }) => data + 1 }),
        condition: ({ data }) => {
          if (data === 2) throw new Error("cannot tell");
          return true;
        },
      });
      const result = await bench.andante(workflow).execute(workflow.id, 0);
      expect(result.status).toBe("error");
      const { execution } = (await bench.store.state(result.executionId)) ?? {};
      expect(execution?.error).toContain("loop[1]#condition");
    });
  });

  describe("andBranch", () => {
    const sizes = () => {
      const asked: string[] = [];
      const workflow = flow(z.number()).andBranch({
        id: "size",
        branches: [
          {
            condition: ({ data }) => {
              asked.push("small");
              return data < 10;
            },
            step: andThen({ id: "small", execute: ({ data }) => `small ${data}` }),
          },
          {
            condition: ({ data }) => {
              asked.push("big");
              return data < 100;
            },
            step: (chain) =>
              chain
                .andThen({ id: "big", execute: ({ data }) => `big ${data}` })
                .andThen({ id: "loud", execute: ({ data }) => data.toUpperCase() }),
          },
        ],
      });
      return { workflow, asked };
    };

    test.each([
      { input: 1, result: "small 1", asked: ["small"] },
      { input: 50, result: "BIG 50", asked: ["small", "big"] },
      { input: 500, result: 500, asked: ["small", "big"] },
    ])("with $input takes the first branch that holds", async ({ input, result, asked }) => {
      const { workflow, asked: seen } = sizes();
      expect(await bench.andante(workflow).execute(workflow.id, input)).toMatchObject({ result });
      expect(seen).toEqual(asked);
    });

    test("publishes each condition and skips the container when none holds", async () => {
      const { workflow } = sizes();
      const { events } = await bench.andante(workflow).stream(workflow.id, 500);
      const all = await collect(events);
      expect(all.filter(({ type }) => type === "step-evaluated").map(({ stepPath }) => stepPath)).toEqual([
        "size[0]#condition",
        "size[1]#condition",
      ]);
      expect(all.find(({ type }) => type === "step-skipped")).toMatchObject({ from: "size" });
    });
  });

  test("containers inside containers are addressed by all of their numbers", async () => {
    const workflow = flow(z.array(numbers)).andForEach({
      id: "rows",
      step: (row) =>
        row.andForEach({
          id: "cells",
          step: (cell) =>
            cell.andWhen({
              id: "odd",
              condition: ({ data }) => data % 2 === 1,
              step: andThen({ id: "path", execute: ({ stepPath }) => stepPath }),
            }),
        }),
    });
    const { events } = await bench.andante(workflow).stream(workflow.id, [[1, 2], [3]]);
    const last = (await collect(events)).at(-1);
    expect(last).toMatchObject({
      result: [["rows[0]/cells[0]/odd/path", 2], ["rows[1]/cells[0]/odd/path"]],
    });
  });

  test("an item's condition inside andWhen may look at the item", async () => {
    const workflow = flow(numbers).andForEach({
      id: "each",
      step: andWhen({
        id: "odd",
        condition: ({ data }: { data: number }) => data % 2 === 1,
        step: andThen({ id: "mark", execute: () => "odd" }),
      }),
    });
    const { events } = await bench.andante(workflow).stream(workflow.id, [1, 2]);
    expect(await until(events, "workflow-result")).toMatchObject({ result: ["odd", 2] });
  });
});

// The state that one process leaves for the next goes through the disk: these run on a file, too.
onMemoryAndFile((bench) => {
  describe("andForEach", () => {
    test("does not run an item again after a crash", async () => {
      const runs = new Map<number, number>();
      const held = heldBody("late");
      const workflow = flow(numbers).andForEach({
        id: "each",
        step: andThen({
          id: "one",
          execute: ({ data, signal }: { data: number; signal: AbortSignal }) => {
            runs.set(data, (runs.get(data) ?? 0) + 1);
            return data === 50 && runs.get(data) === 1 ? held.execute({ signal }) : data;
          },
        }),
      });
      const items = Array.from({ length: 80 }, (_, index) => index);
      const first = bench.andante(workflow);
      const { executionId } = await first.start(workflow.id, items);
      await held.started;
      await first.close({ grace: 0 });
      const second = bench.andante(workflow);
      const all = await collect(await attach(second, workflow.id, executionId));
      expect(all.at(-1)).toMatchObject({ status: "completed", result: items });
      expect(items.filter((item) => runs.get(item) !== (item === 50 ? 2 : 1))).toEqual([]);
    });
  });
});
