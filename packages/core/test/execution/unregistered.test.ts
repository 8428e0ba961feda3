// Executions whose workflow is not registered any more: named at start, listed, read and cancelled.
import { expect, test } from "vitest";
import { RecordingLogger } from "../../src/test-kit/recording-logger.ts";
import { flow, onMemoryAndFile } from "../support/test-andante.ts";
import { wrapStore } from "../support/wrapped-store.ts";

// Every case meets another process's executions, so each runs on a file, too.
onMemoryAndFile((bench) => {
  const gated = () =>
    flow().andThen({ id: "gate", execute: ({ suspend, resumeData }) => resumeData ?? suspend("why") });
  /** Two executions that wait and one that has ended, of a workflow that is then gone. */
  const orphans = async () => {
    const workflow = gated();
    const before = bench.andante(workflow);
    const waiting = [await before.execute(workflow.id, 1), await before.execute(workflow.id, 2)];
    const done = await before.execute(workflow.id, 3);
    await before.resume(workflow.id, done.executionId, "yes");
    await before.close();
    return { workflowId: workflow.id, executionId: waiting[0]?.executionId ?? "", doneId: done.executionId };
  };

  test("are named at start in one warning, with how many wait", async () => {
    const [one, two] = [await orphans(), await orphans()];
    const logger = new RecordingLogger();
    await bench.andanteWith({ logger }, gated()).ready();
    const lines = logger.of("warn", "error").filter(({ workflows }) => workflows !== undefined);
    const message =
      "executions of workflows that are not registered do not continue: register the workflows again, or cancel them";
    expect(lines).toMatchObject([{ level: "warn", msg: message }]);
    const expected = [one, two].map(({ workflowId }) => ({ workflowId, executions: 2 }));
    expect(lines[0]?.workflows).toEqual(expect.arrayContaining(expected));
    expect(JSON.stringify(lines[0])).not.toContain(gated().id);
  });

  test("are not named when there are none", async () => {
    const workflow = gated();
    const store = wrapStore(bench.store, {
      countUnfinished: async () => [{ workflowId: workflow.id, count: 1 }],
    });
    const logger = new RecordingLogger();
    await bench.andanteWith({ logger, store }, workflow).ready();
    expect(logger.of("warn", "error")).toEqual([]);
  });

  test("are listed, read and cancelled by the workflow's id, and found without it", async () => {
    const { workflowId, executionId, doneId } = await orphans();
    const andante = bench.andante(gated());
    const { executions } = await andante.list({ workflowId });
    expect(executions.map(({ status }) => status).sort()).toEqual(["completed", "suspended", "suspended"]);
    const waits = {
      workflowId,
      executionId,
      status: "suspended",
      suspension: { reason: "why", stepId: "gate" },
    };
    expect(await andante.state(workflowId, executionId)).toMatchObject(waits);
    expect(await andante.find(executionId)).toMatchObject(waits);
    const types = (await andante.events(workflowId, executionId)).map(({ type }) => type);
    expect(types).toEqual(["workflow-start", "step-start", "step-suspended", "workflow-suspended"]);
    expect(await andante.cancel(workflowId, executionId)).toMatchObject({ status: "cancelled" });
    expect(await andante.find(executionId)).toMatchObject({ status: "cancelled" });
    expect(await andante.find(doneId)).toMatchObject({ status: "completed", result: "yes" });
  });

  test("cannot be run: a resume, a start and a replay do not find the workflow", async () => {
    const { workflowId, executionId, doneId } = await orphans();
    const andante = bench.andante(gated());
    const unknown = { code: "workflow-not-found", status: 404 };
    await expect(andante.resume(workflowId, executionId, 1)).rejects.toMatchObject(unknown);
    await expect(andante.execute(workflowId, 1)).rejects.toMatchObject(unknown);
    await expect(andante.replay(workflowId, doneId, { stepId: "gate" })).rejects.toMatchObject(unknown);
    await expect(andante.state(workflowId, "no-such-execution")).rejects.toMatchObject(unknown);
    await expect(andante.state("no-such-workflow", executionId)).rejects.toMatchObject(unknown);
    await expect(andante.find("no-such-execution")).rejects.toMatchObject({ code: "execution-not-found" });
  });
});
