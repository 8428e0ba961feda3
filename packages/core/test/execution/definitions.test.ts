// Changing a workflow: executions go on where the definition fits, and are refused, parked and kept where it does not.
import { expect, test } from "vitest";
import { z } from "zod";
import type { Andante } from "../../src/andante/andante.ts";
import { createWorkflow } from "../../src/workflow/create-workflow.ts";
import { andThen } from "../../src/workflow/steps/free-steps.ts";
import { attach, collect, heldBody, onMemoryAndFile } from "../support/test-andante.ts";
import { wrapStore } from "../support/wrapped-store.ts";

let ids = 0;
const idOf = () => `changing-${process.pid}-${++ids}`;
const begin = (id: string) => createWorkflow({ id, input: z.unknown() });
const gate = {
  id: "gate",
  execute: ({ suspend, resumeData }: { suspend(): never; resumeData: unknown }) => resumeData ?? suspend(),
};
const runs = (id: string, log: string[] = []) => ({ id, execute: () => log.push(id) });

// Every case meets another process's executions, so each runs on a file, too.
onMemoryAndFile((bench) => {
  const result = async (andante: Andante, id: string, executionId: string) =>
    (await collect(await attach(andante, id, executionId))).at(-1);

  test("steps added after the last reached step run, also inside a container", async () => {
    const id = idOf();
    const log: string[] = [];
    const old = begin(id)
      .andAll({ id: "all", steps: [(chain) => chain.andThen(gate), andThen(runs("other"))] })
      .andThen(runs("last", log));
    const { executionId } = await bench.andante(old).execute(id, {});
    const changed = begin(id)
      .andAll({
        id: "all",
        steps: [(chain) => chain.andThen(gate).andThen(runs("added-inside", log)), andThen(runs("other"))],
      })
      .andThen(runs("added", log))
      .andThen(runs("last", log));
    const resumed = await bench.andante(changed).resume(id, executionId, "go");
    expect(resumed.status).toBe("completed");
    expect(log).toEqual(["added-inside", "added", "last"]);
  });

  test("an execution whose old outline is no longer stored is taken to fit", async () => {
    const id = idOf();
    const { executionId } = await bench.andante(begin(id).andThen(gate)).execute(id, {});
    const store = wrapStore(bench.store, { outline: async () => undefined });
    const changed = begin(id).andThen(gate).andThen(runs("added"));
    const resumed = await bench.andanteWith({ store }, changed).resume(id, executionId, "go");
    expect(resumed.status).toBe("completed");
  });

  test("a resume is refused when a step that was reached has changed, and works once it fits again", async () => {
    const id = idOf();
    const old = begin(id).andThen(runs("draft")).andThen(gate);
    const { executionId } = await bench.andante(old).execute(id, {});
    const changed = bench.andante(begin(id).andThen(runs("sketch")).andThen(gate));
    await expect(changed.resume(id, executionId, 1)).rejects.toMatchObject({
      code: "definition-changed",
      status: 409,
      message: `The workflow "${id}" has changed since this execution began: step 1 was "draft" (andThen), now "sketch" (andThen)`,
    });
    expect((await changed.state(id, executionId)).status).toBe("suspended");
    await expect(bench.andante(old).resume(id, executionId, 1)).resolves.toMatchObject({ result: 1 });
  });

  test("one that another process has begun to continue is noted as continued here", async () => {
    const id = idOf();
    const log: string[] = [];
    const version = (middle: string) =>
      begin(id)
        .andRace({
          id: "first",
          steps: [andThen(gate), (chain) => chain.andSleep({ id: "nap", duration: "1h" })],
        })
        .andThen(runs(middle, log))
        .andThen({ ...gate, id: "last" });
    const old = bench.andante(version("draft"));
    const { executionId } = await old.execute(id, {});
    const changed = bench.andante(version("sketch"));
    const sample = await changed.execute(id, {});
    const definition = (await bench.store.state(sample.executionId))?.execution.definition ?? "";
    // It loads the execution when its time has come, and stops before there is anything to record.
    const claim = { owner: "elsewhere", token: `${executionId}-elsewhere` };
    expect(await bench.store.wake({ executionId, now: Date.now() + 4_000_000, claim })).toBe(true);
    await bench.store.adopt({ executionId, token: claim.token, definition });
    await bench.store.release({ executionId, token: claim.token });
    expect((await old.resume(id, executionId, 1)).status).toBe("suspended");
    await expect(changed.resume(id, executionId, 2)).rejects.toMatchObject({ code: "definition-changed" });
    expect(log).toEqual(["draft"]);
  });

  test("a step appended inside a loop is a misfit once a round has ended, and not before", async () => {
    const loopOf = (id: string, rounds: number, log: string[], appended: boolean) =>
      begin(id).andDoUntil({
        id: "loop",
        step: (chain) => {
          const inside = chain.andThen({
            id: "gate",
            execute: ({ suspend, resumeData, stepPath }) => {
              if (resumeData === undefined) return suspend();
              log.push(stepPath);
              return log.length;
            },
          });
          return appended ? inside.andThen(runs("added", log)) : inside;
        },
        condition: ({ data }) => Number(data) >= rounds,
      });
    const first = idOf();
    const early = await bench.andante(loopOf(first, 1, [], false)).execute(first, {});
    const log: string[] = [];
    const fits = bench.andante(loopOf(first, 1, log, true));
    expect(await fits.resume(first, early.executionId, 1)).toMatchObject({ status: "completed" });
    expect(log).toEqual(["loop[0]/gate", "added"]);

    const second = idOf();
    const old = bench.andante(loopOf(second, 2, [], false));
    const late = await old.execute(second, {});
    expect(await old.resume(second, late.executionId, 1)).toMatchObject({ status: "suspended" });
    const changed = bench.andante(loopOf(second, 2, [], true));
    await expect(changed.resume(second, late.executionId, 1)).rejects.toMatchObject({
      status: 409,
      message: expect.stringContaining('the steps inside "loop" have changed, and rounds of it are over'),
    });
    expect(await changed.state(second, late.executionId)).toMatchObject({ status: "suspended" });
    await expect(old.resume(second, late.executionId, 1)).resolves.toMatchObject({ status: "completed" });
  });

  test("one that does not fit can be cancelled", async () => {
    const id = idOf();
    const { executionId } = await bench.andante(begin(id).andThen(gate)).execute(id, {});
    const changed = bench.andante(begin(id).andThen(runs("other")));
    await expect(changed.cancel(id, executionId)).resolves.toMatchObject({ status: "cancelled" });
  });

  test("recovery parks an execution that does not fit, once and visibly; a later process with a fitting definition resumes it", async () => {
    const id = idOf();
    let held = heldBody("first life");
    const old = begin(id)
      .andThen(runs("a"))
      .andThen({ id: "held", execute: (context) => held.execute(context) });
    const first = bench.andante(old);
    const { executionId } = await first.start(id, {});
    await held.started;
    await first.close({ grace: 0 });

    const misfit = begin(id).andThen(runs("b")).andThen(runs("held"));
    const second = bench.andante(misfit);
    await second.ready();
    const reason = `The workflow "${id}" has changed since this execution began: step 1 was "a" (andThen), now "b" (andThen)`;
    expect(await second.state(id, executionId)).toMatchObject({ status: "running", parked: { reason } });
    const { executions } = await second.list({ workflowId: id });
    expect(executions).toMatchObject([{ executionId, parked: { reason } }]);
    const told = () => bench.logger.messages.filter((each) => each.startsWith("execution parked")).length;
    expect(told()).toBe(1);
    // A caller that waits for it under its id learns why it does not continue.
    const parked = { code: "execution-parked", status: 409 };
    await expect(second.execute(id, {}, { executionId })).rejects.toMatchObject(parked);
    await expect(second.start(id, {}, { executionId })).rejects.toMatchObject(parked);
    await second.close();

    // The same definition again has nothing new to say.
    const third = bench.andante(misfit);
    await third.ready();
    expect(told()).toBe(1);
    await third.close();

    held = heldBody("second life");
    held.finish();
    const fitting = bench.andante(old);
    expect(await result(fitting, id, executionId)).toMatchObject({
      status: "completed",
      result: "second life",
    });
    expect(await fitting.state(id, executionId)).not.toHaveProperty("parked");
  });

  test("a parked one can be cancelled", async () => {
    const id = idOf();
    const held = heldBody(null);
    const first = bench.andante(begin(id).andThen({ id: "held", execute: held.execute }));
    const { executionId } = await first.start(id, {});
    await held.started;
    await first.close({ grace: 0 });
    const second = bench.andante(begin(id).andThen(runs("other")));
    await expect(second.cancel(id, executionId)).resolves.toMatchObject({ status: "cancelled" });
    expect(await second.state(id, executionId)).not.toHaveProperty("parked");
  });

  test("the definition with which it last continued counts", async () => {
    const id = idOf();
    const second = { ...gate, id: "second" };
    const one = begin(id).andThen(gate);
    const two = begin(id).andThen(gate).andThen(second);
    const { executionId } = await bench.andante(one).execute(id, {});
    expect(await bench.andante(two).resume(id, executionId, 1)).toMatchObject({ status: "suspended" });
    // Under the first definition `second` was never there; under the one it went on with it was reached.
    await expect(bench.andante(one).resume(id, executionId, 2)).rejects.toThrow(
      'step 2 was "second" (andThen), now missing',
    );
    await expect(bench.andante(two).resume(id, executionId, 2)).resolves.toMatchObject({ result: 2 });
  });

  test("steps that a rewind left behind no longer count", async () => {
    const id = idOf();
    const again = {
      id: "again",
      execute: ({ suspend, resumeData }: { suspend(): never; resumeData: unknown }) =>
        resumeData ?? suspend(),
    };
    const old = begin(id).andThen(again).andThen(runs("old")).andThen(gate);
    const andante = bench.andante(old);
    const { executionId } = await andante.execute(id, {});
    await andante.resume(id, executionId, 1);
    // Back to the first step, which answers and then waits again at the gate: now under another second step.
    await andante.resume(id, executionId, null, { stepId: "again" });
    expect(await andante.state(id, executionId)).toMatchObject({ suspension: { stepId: "again" } });
    const changed = begin(id).andThen(again).andThen(runs("new")).andThen(gate);
    await expect(bench.andante(changed).resume(id, executionId, 1)).resolves.toMatchObject({
      status: "suspended",
      suspension: { stepId: "gate" },
    });
  });
});
