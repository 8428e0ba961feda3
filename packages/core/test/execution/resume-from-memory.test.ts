// A resume of an execution that went idle in the same process: its journal is in memory, and its state too where no other
// process can write to the store. Events that others have written meanwhile count all the same.
import { expect, test } from "vitest";
import { z } from "zod";
import { AndanteService } from "../../src/andante/andante-service.ts";
import { encodeEvent } from "../../src/journal/codec.ts";
import type { WorkflowDefinition } from "../../src/workflow/step.ts";
import { andThen } from "../../src/workflow/steps/free-steps.ts";
import { inTime } from "../support/in-time.ts";
import { sharedStore } from "../support/shared-store.ts";
import { flow, onMemory } from "../support/test-andante.ts";
import { wrapStore } from "../support/wrapped-store.ts";

onMemory((bench) => {
  /** Two questions, one after the other. */
  const asking = () =>
    flow(z.object({ n: z.number() }))
      .andThen({
        id: "first",
        resumeSchema: z.number(),
        execute: ({ data, suspend, resumeData }) => resumeData ?? suspend("first", { n: data.n }),
      })
      .andThen({
        id: "second",
        execute: ({ data, suspend, resumeData }) =>
          resumeData === undefined ? suspend("second") : { data, resumeData },
      });

  /** With a record of its reads and resumes; on a store that others use too unless it is alone. */
  const watched = (workflow: WorkflowDefinition, use: "alone" | "shared" = "shared") => {
    const calls: string[] = [];
    const base = use === "alone" ? bench.store : sharedStore(bench.store, { hints: false })();
    const store = wrapStore(base, {
      state: (executionId) => {
        calls.push("state");
        return base.state(executionId);
      },
      events: (query) => {
        calls.push("events");
        return base.events(query);
      },
      resume: (resume) => {
        calls.push("resume");
        return base.resume(resume);
      },
    });
    const andante = new AndanteService({ store, logger: bench.logger, workflows: { workflow } });
    return { andante, calls };
  };

  test.each([
    ["alone", ["resume", "resume"]],
    ["shared", ["state", "events", "resume", "state", "events", "resume"]],
  ] as const)(
    "a process that uses the store %s reads before the write and not after it, round after round",
    async (use, reads) => {
      const workflow = asking();
      const { andante, calls } = watched(workflow, use);
      const { executionId } = await andante.execute(workflow.id, { n: 1 });
      expect(await andante.resume(workflow.id, executionId, 2)).toMatchObject({ status: "suspended" });
      const result = await andante.resume(workflow.id, executionId, "end");
      expect(result).toMatchObject({ status: "completed", result: { data: 2, resumeData: "end" } });
      expect(calls).toEqual(reads);
      await andante.close();
    },
  );

  test("a resume or a cancel that ends a wait leaves no state behind", async () => {
    const workflow = flow().andThen({
      id: "ask",
      execute: ({ suspend, resumeData }) => (resumeData === undefined ? suspend("ask") : resumeData),
    });
    const { andante } = watched(workflow, "alone");
    const { executionId } = await andante.execute(workflow.id, {});
    const answers = [1, 2, 3].map((answer) => andante.resume(workflow.id, executionId, answer));
    const settled = await Promise.allSettled(answers);
    expect(settled.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    const late = andante.resume(workflow.id, executionId, 4);
    await expect(late).rejects.toMatchObject({ code: "not-suspended" });
    const second = await andante.execute(workflow.id, {});
    await andante.cancel(workflow.id, second.executionId);
    const cancelled = andante.resume(workflow.id, second.executionId, 5);
    await expect(cancelled).rejects.toMatchObject({ code: "not-suspended" });
    await andante.close();
  });

  test("a pause that follows the resume and is reported before it holds the execution", async () => {
    let nexts = 0;
    const workflow = flow()
      .andThen({ id: "ask", execute: ({ suspend, resumeData }) => resumeData ?? suspend("ask") })
      .andThen({
        id: "next",
        execute: ({ data }) => {
          nexts++;
          return data;
        },
      });
    const written = Promise.withResolvers<void>();
    const paused = Promise.withResolvers<void>();
    const store = wrapStore(bench.store, {
      resume: async (resume) => {
        const result = await bench.store.resume(resume);
        written.resolve();
        await inTime(paused.promise, "the pause");
        return result;
      },
      pause: async (pause) => {
        const result = await bench.store.pause(pause);
        paused.resolve();
        return result;
      },
    });
    const andante = new AndanteService({ store, logger: bench.logger, workflows: { workflow } });
    const { executionId } = await andante.execute(workflow.id, {});
    const resumed = andante.resume(workflow.id, executionId, "go");
    await inTime(written.promise, "the resume");
    const { suspension } = await andante.suspend(workflow.id, executionId);
    expect(await resumed).toMatchObject({ status: "suspended", suspension });
    await andante.settled();
    expect(nexts).toBe(0);
    const lifted = await andante.resume(workflow.id, executionId);
    expect(lifted).toMatchObject({ status: "completed", result: "go" });
    expect(nexts).toBe(1);
    await andante.close();
  });

  test("of two that wait, another process has resumed one: the other need not be named", async () => {
    const gate = (id: string) =>
      andThen({
        id,
        execute: ({ suspend, resumeData }) => (resumeData === undefined ? suspend(id) : resumeData),
      });
    const workflow = flow().andAll({ id: "both", steps: [gate("left"), gate("right")] });
    const { andante } = watched(workflow);
    const { executionId } = await andante.execute(workflow.id, {});
    await expect(andante.resume(workflow.id, executionId, 1)).rejects.toMatchObject({ status: 400 });
    const other = watched(workflow);
    await other.andante.resume(workflow.id, executionId, 1, { stepId: "left" });
    await other.andante.close();
    const result = await andante.resume(workflow.id, executionId, 2);
    expect(result).toMatchObject({ status: "completed", result: [1, 2] });
    await andante.close();
  });

  test("a resume pinned to a suspension that another process has answered is refused", async () => {
    const workflow = asking();
    const { andante } = watched(workflow);
    const { executionId, suspension } = await andante.execute(workflow.id, { n: 1 });
    const other = watched(workflow);
    await other.andante.resume(workflow.id, executionId, 5);
    await other.andante.close();
    const pinned = { suspensionId: suspension?.suspensionId };
    const refused = andante.resume(workflow.id, executionId, 2, pinned);
    await expect(refused).rejects.toMatchObject({ code: "not-suspended" });
    const result = await andante.resume(workflow.id, executionId, "end");
    expect(result).toMatchObject({ status: "completed", result: { data: 5, resumeData: "end" } });
    await andante.close();
  });

  test("an execution cancelled elsewhere is not resumed, and data that does not fit is refused as ever", async () => {
    const workflow = asking();
    const { andante } = watched(workflow);
    const { executionId } = await andante.execute(workflow.id, { n: 1 });
    await expect(andante.resume(workflow.id, executionId, "two")).rejects.toMatchObject({ status: 400 });
    const timestamp = Date.now();
    const nothing = { reason: undefined, userId: undefined, suspensionId: undefined };
    await bench.store.cancel({
      executionId,
      key: "key",
      event: encodeEvent({ type: "workflow-cancelled", timestamp, ...nothing }),
      status: "cancelled",
      error: null,
      due: null,
    });
    const refused = andante.resume(workflow.id, executionId, 2);
    await expect(refused).rejects.toMatchObject({ code: "not-suspended" });
    await andante.close();
  });

  test("an id that was deleted and used again elsewhere means the new execution", async () => {
    const workflow = asking();
    const { andante } = watched(workflow);
    const { executionId } = await andante.execute(workflow.id, { n: 1 });
    const other = watched(workflow);
    await other.andante.cancel(workflow.id, executionId);
    const upTo = { endAt: Number.MAX_SAFE_INTEGER, executionId };
    await bench.store.deleteFinished({ upTo, limit: 1000, events: 10_000 });
    const gone = andante.resume(workflow.id, executionId, 2);
    await expect(gone).rejects.toMatchObject({ code: "execution-not-found" });
    await other.andante.execute(workflow.id, { n: 3 }, { executionId });
    await other.andante.close();
    expect(await andante.resume(workflow.id, executionId, 4)).toMatchObject({ status: "suspended" });
    const result = await andante.resume(workflow.id, executionId, "end");
    expect(result).toMatchObject({ status: "completed", result: { data: 4, resumeData: "end" } });
    await andante.close();
  });

  test("a schema sees the data once, whether it is refused or the execution has changed elsewhere", async () => {
    const codes = new Set(["one", "two"]);
    const seen: string[] = [];
    const redeemed = z.string().refine((code) => {
      seen.push(code);
      return codes.delete(code);
    }, "unknown code");
    const gate = (id: string) =>
      andThen({
        id,
        resumeSchema: redeemed,
        execute: ({ suspend, resumeData }) => resumeData ?? suspend(id),
      });
    const workflow = flow().andAll({ id: "both", steps: [gate("left"), gate("right")] });
    const { andante } = watched(workflow);
    const { executionId } = await andante.execute(workflow.id, {});
    const refused = andante.resume(workflow.id, executionId, "none", { stepId: "left" });
    await expect(refused).rejects.toMatchObject({ status: 400 });
    const other = watched(workflow);
    await other.andante.resume(workflow.id, executionId, "one", { stepId: "left" });
    await other.andante.close();
    const result = await andante.resume(workflow.id, executionId, "two", { stepId: "right" });
    expect(result).toMatchObject({ status: "completed", result: ["one", "two"] });
    expect(seen).toEqual(["none", "one", "two"]);
    await andante.close();
  });
});
