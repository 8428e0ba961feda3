// Times with fractions of a millisecond: rounded before they reach the store, which keeps whole numbers.
import { expect, test } from "vitest";
import { z } from "zod";
import { TestClock } from "../../src/test-kit/test-clock.ts";
import { createWorkflow } from "../../src/workflow/create-workflow.ts";
import { flow, onMemory } from "../support/test-andante.ts";

onMemory((bench) => {
  test.each([
    ["given", 1000.4],
    ["in a unit", "1.0004s"],
    ["made of the data", () => 10_000 / 7],
  ] as const)("a sleep of a fraction, %s, ends", async (_, duration) => {
    const workflow = flow().andSleep({ id: "nap", duration });
    const andante = bench.andanteWith({ clock: new TestClock() }, workflow);
    expect(await andante.execute(workflow.id, 1)).toMatchObject({ status: "completed" });
  });

  test("a deadline, a timeout, a retry and a clock with fractions leave the execution alone", async () => {
    const clock = new TestClock({ start: 1_000_000.25 });
    let attempts = 0;
    const workflow = createWorkflow({ id: "fractions", input: z.unknown(), timeout: "100.00001h" })
      .andThen({
        id: "flaky",
        retry: { attempts: 2, delay: 1500.3, jitter: false },
        timeout: 900.7,
        execute: () => {
          if (++attempts === 1) throw new Error("the first time");
          return attempts;
        },
      })
      .andThen({
        id: "gate",
        execute: ({ resumeData, suspend }) =>
          resumeData ?? suspend("", null, { deadline: 1e6 / 3, onDeadline: { resume: "late" } }),
      });
    const andante = bench.andanteWith({ clock }, workflow);
    const { executionId, status } = await andante.execute(workflow.id, 1);
    expect(status).toBe("suspended");
    clock.advance("1h");
    await andante.settled();
    expect(await andante.state(workflow.id, executionId)).toMatchObject({
      status: "completed",
      result: "late",
    });
  });

  test("a limit of executions with a fraction is rounded down", async () => {
    const workflow = flow().andThen({ id: "a", execute: () => 1 });
    const andante = bench.andanteWith({ limits: { running: 1.5 } }, workflow);
    await andante.ready();
    expect(await andante.execute(workflow.id, 1)).toMatchObject({ status: "completed" });
    for (const running of [0, Number.NaN]) {
      expect(() => bench.andanteWith({ limits: { running } }, workflow)).toThrow("limits.running");
    }
  });
});
