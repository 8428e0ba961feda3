// A node that is full: sleepers wait for room, timeouts and deadlines do not.
import { expect, test } from "vitest";
import { z } from "zod";
import type { Andante } from "../../src/andante/andante.ts";
import { TestClock } from "../../src/test-kit/test-clock.ts";
import { createWorkflow } from "../../src/workflow/create-workflow.ts";
import type { WorkflowDefinition } from "../../src/workflow/step.ts";
import { flow, onMemory } from "../support/test-andante.ts";

const still = () => new TestClock({ skipSleeps: false });
const sleepers = 205;

onMemory((bench) => {
  const endless = (timeout?: "1h") => {
    const signals: AbortSignal[] = [];
    const started = Promise.withResolvers<void>();
    const id = `endless-${timeout}`;
    const base = createWorkflow({ id, input: z.unknown(), ...(timeout && { timeout }) });
    const workflow = base.andThen({
      id: "endless",
      execute: ({ signal }) => {
        if (signals.push(signal) === 4) started.resolve();
        return new Promise<never>((_, reject) => signal.addEventListener("abort", reject));
      },
    });
    return { workflow, started: started.promise };
  };
  const start = async (andante: Andante, workflow: WorkflowDefinition, count: number) => {
    const handles = [];
    for (let n = 0; n < count; n++) {
      handles.push(await andante.start(workflow.id, {}));
      await andante.settled().catch(() => undefined);
    }
    return handles;
  };

  test("executions that hold every place end with their timeouts, and the sleepers find room", async () => {
    const clock = still();
    const sleeper = flow().andSleep({ id: "nap", duration: "30m" });
    const { workflow, started } = endless("1h");
    const andante = bench.andanteWith({ clock, limits: { running: 4 } }, sleeper, workflow);
    const asleep = await start(andante, sleeper, sleepers);
    const holding = await Promise.all([1, 2, 3, 4].map(() => andante.start(workflow.id, {})));
    await started;
    clock.advance("2h");
    for (const { result } of holding) expect((await result()).status).toBe("error");
    for (const { result } of asleep) expect((await result()).status).toBe("completed");
  });

  test("a deadline and the timeout of a sleeping execution happen on a full node, in their order", async () => {
    const clock = still();
    const sleeper = flow().andSleep({ id: "nap", duration: "30m" });
    const { workflow, started } = endless();
    const gate = flow().andThen({
      id: "gate",
      execute: ({ resumeData, suspend }) =>
        resumeData ?? suspend("", null, { deadline: "1h", onDeadline: { resume: "late" } }),
    });
    const napping = createWorkflow({ id: "napping", input: z.unknown(), timeout: "1h" })
      .andSleep({ id: "nap", duration: "40m" })
      .andThen({ id: "after", execute: () => "slept" });
    const andante = bench.andanteWith({ clock, limits: { running: 4 } }, sleeper, workflow, gate, napping);
    await start(andante, sleeper, sleepers);
    const [waiting] = await start(andante, gate, 1);
    const [nap] = await start(andante, napping, 1);
    await Promise.all([1, 2, 3, 4].map(() => andante.start(workflow.id, {})));
    await started;
    clock.advance("2h");
    expect(await nap?.result()).toMatchObject({ status: "completed", result: "slept" });
    const stateOf = async () => (await andante.state(gate.id, waiting?.executionId ?? "")).status;
    await expect.poll(stateOf).toBe("completed");
  });
});
