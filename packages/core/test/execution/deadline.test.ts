// Deadlines of suspensions: their effect without a resume, and that a resume and the deadline never both count.
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { TestClock } from "../../src/test-kit/test-clock.ts";
import type { DeadlineOptions } from "../../src/workflow/step-context.ts";
import { andThen } from "../../src/workflow/steps/free-steps.ts";
import { attach, collect, flow, onMemory, onMemoryAndFile } from "../support/test-andante.ts";
import { wrapStore } from "../support/wrapped-store.ts";

const still = () => new TestClock({ skipSleeps: false });

function gate(options: DeadlineOptions) {
  return {
    id: "gate",
    execute: ({ suspend, resumeData }: { suspend: Suspend; resumeData: unknown }) =>
      resumeData === undefined ? suspend("please", undefined, options) : { answer: resumeData },
  };
}
type Suspend = (reason: string, data: undefined, options: DeadlineOptions) => never;

onMemory((bench) => {
  describe("a deadline", () => {
    test("is shown with the suspension", async () => {
      const clock = still();
      const workflow = flow().andThen(gate({ deadline: "2h" }));
      const { suspension } = await bench.andanteWith({ clock }, workflow).execute(workflow.id, 1);
      expect(suspension?.deadline).toBe(new Date(clock.now() + 7_200_000).toISOString());
    });

    test("answers the step with its value, and the event is marked as byDeadline", async () => {
      const clock = still();
      const workflow = flow().andThen(gate({ deadline: "2h", onDeadline: { resume: "late" } }));
      const andante = bench.andanteWith({ clock }, workflow);
      const { executionId } = await andante.execute(workflow.id, 1);
      const events = await attach(andante, workflow.id, executionId);
      clock.advance("2h");
      const all = await collect(events);
      expect(all.at(-1)).toMatchObject({ status: "completed", result: { answer: "late" } });
      expect(all.find(({ type }) => type === "workflow-resumed")).toMatchObject({
        from: "gate",
        resumeData: "late",
        byDeadline: true,
      });
    });

    test.each<DeadlineOptions>([
      { deadline: "2h", onDeadline: { resume: "late" } },
      { deadline: "2h", onDeadline: "cancel" },
    ])("is processed later when the store cannot be read just then: %j", async (options) => {
      const clock = still();
      const failing = { next: false };
      const store = wrapStore(bench.store, {
        state: async (executionId) => {
          if (!failing.next) return bench.store.state(executionId);
          failing.next = false;
          throw new Error("the disk is slow");
        },
      });
      const workflow = flow().andThen(gate(options));
      const andante = bench.andanteWith({ clock, store }, workflow);
      const { executionId } = await andante.execute(workflow.id, 1);
      failing.next = true;
      clock.advance("2h");
      await andante.settled();
      expect(failing.next).toBe(false);
      const events = await attach(andante, workflow.id, executionId);
      clock.advance("1s");
      await andante.settled();
      const status = options.onDeadline === "cancel" ? "cancelled" : "completed";
      expect((await andante.state(workflow.id, executionId)).status).toBe(status);
      expect((await collect(events)).at(-1)).toMatchObject({ type: "workflow-result", status });
    });

    test("fails the step by default", async () => {
      const clock = still();
      const workflow = flow().andThen(gate({ deadline: new Date(clock.now() + 1000) }));
      const andante = bench.andanteWith({ clock }, workflow);
      const { executionId } = await andante.execute(workflow.id, 1);
      const events = await attach(andante, workflow.id, executionId);
      clock.advance("1s");
      expect((await collect(events)).at(-1)).toMatchObject({ status: "error" });
      const journal = await andante.events(workflow.id, executionId);
      expect(journal.find(({ type }) => type === "step-error")).toMatchObject({
        from: "gate",
        error: { name: "DeadlineError" },
      });
    });

    test("that fails one branch of a race leaves the others in it", async () => {
      const clock = still();
      const workflow = flow().andRace({
        id: "race",
        steps: [
          andThen(gate({ deadline: "1h" })),
          andThen({
            id: "boss",
            execute: ({ suspend, resumeData }) => (resumeData === undefined ? suspend("boss") : resumeData),
          }),
        ],
      });
      const andante = bench.andanteWith({ clock }, workflow);
      const { executionId } = await andante.execute(workflow.id, 1);
      clock.advance("1h");
      const open = async () =>
        (await andante.state(workflow.id, executionId)).suspensions?.map((one) => one.stepId);
      await expect.poll(open).toEqual(["boss"]);
      await expect
        .poll(async () => (await andante.events(workflow.id, executionId)).map(({ type }) => type))
        .toContain("step-error");
      expect(await andante.resume(workflow.id, executionId, "fine")).toMatchObject({ result: "fine" });
    });

    test('cancels the execution with onDeadline "cancel"', async () => {
      const clock = still();
      const workflow = flow().andThen(gate({ deadline: "1h", onDeadline: "cancel" }));
      const andante = bench.andanteWith({ clock }, workflow);
      const { executionId } = await andante.execute(workflow.id, 1);
      const events = await attach(andante, workflow.id, executionId);
      clock.advance("1h");
      const all = await collect(events);
      expect(all.slice(-2)).toMatchObject([{ type: "workflow-cancelled" }, { status: "cancelled" }]);
    });

    test("does nothing once the step was answered", async () => {
      const clock = still();
      const workflow = flow().andThen(gate({ deadline: "1h", onDeadline: "cancel" }));
      const andante = bench.andanteWith({ clock }, workflow);
      const { executionId } = await andante.execute(workflow.id, 1);
      expect(await andante.resume(workflow.id, executionId, "yes")).toMatchObject({
        result: { answer: "yes" },
      });
      clock.advance("2h");
      expect(await bench.store.due({ workflowIds: [workflow.id], limit: 1 })).toEqual([]);
      expect(await andante.state(workflow.id, executionId)).toMatchObject({ status: "completed" });
    });

    test("and a resume at the same moment: exactly one of them counts", async () => {
      for (let round = 0; round < 20; round++) {
        const clock = still();
        const workflow = flow().andThen(gate({ deadline: "1h", onDeadline: { resume: "deadline" } }));
        const andante = bench.andanteWith({ clock }, workflow);
        const { executionId } = await andante.execute(workflow.id, 1);
        const events = await attach(andante, workflow.id, executionId);
        clock.advance("1h");
        const resumed = andante.resume(workflow.id, executionId, "person").catch((error) => error.code);
        const all = await collect(events);
        const answers = all
          .filter(({ type }) => type === "workflow-resumed")
          .map(({ resumeData }) => resumeData);
        expect(answers).toHaveLength(1);
        const won = await resumed;
        if (answers[0] === "deadline") expect(won).toBe("not-suspended");
        else expect(won).toMatchObject({ result: { answer: "person" } });
      }
    });

    test("does not run out while the execution is paused", async () => {
      const clock = still();
      const began = Promise.withResolvers<void>();
      const letGo = Promise.withResolvers<void>();
      const workflow = flow().andThen({
        id: "gate",
        execute: async ({ suspend, resumeData }) => {
          began.resolve();
          await letGo.promise;
          const options = { deadline: "1h", onDeadline: { resume: "late" } } as const;
          return resumeData === undefined ? suspend("please", undefined, options) : resumeData;
        },
      });
      const andante = bench.andanteWith({ clock }, workflow);
      const { executionId } = await andante.start(workflow.id, 1);
      await began.promise;
      await andante.suspend(workflow.id, executionId, { reason: "hold on" });
      letGo.resolve();
      const open = async () => (await bench.store.state(executionId))?.suspensions ?? [];
      await expect.poll(open).toHaveLength(2);
      clock.advance("2h");
      const [waiting] = (await open()).filter(({ path }) => path !== null);
      const answer = await bench.store.resume({
        executionId,
        suspensionIds: [waiting?.suspensionId ?? ""],
        rewind: null,
        events: [],
        claim: { owner: "x", token: "x" },
        byDeadline: true,
      });
      expect(answer.kind).toBe("refused");
      expect(await bench.store.due({ workflowIds: [workflow.id], limit: 9 })).toEqual([]);
      // The pause is lifted, the gate stays; the next look finds its time over.
      const events = await attach(andante, workflow.id, executionId);
      await andante.startResume(workflow.id, executionId);
      expect((await collect(events)).at(-1)).toMatchObject({ status: "completed", result: "late" });
    });

    test.each([
      { name: "an unknown onDeadline", options: { deadline: "1h", onDeadline: "explode" } },
      { name: "an answer that does not fit", options: { deadline: "1h", onDeadline: { resume: 7 } } },
      { name: "a deadline that is none", options: { deadline: "tomorrow" } },
      { name: "a date that is none", options: { deadline: new Date("never") } },
    ])("with $name fails the step when it suspends, at once", async ({ options }) => {
      let attempts = 0;
      const workflow = flow().andThen({
        id: "gate",
        resumeSchema: z.string(),
        retry: { attempts: 3, delay: 1 },
        execute: ({ suspend, attempt }) => {
          attempts = attempt;
          return Reflect.apply(suspend, undefined, ["please", undefined, options]);
        },
      });
      const result = await bench.andante(workflow).execute(workflow.id, 1);
      expect(result.status).toBe("error");
      expect(attempts).toBe(1);
    });
  });
});

// The state that one process leaves for the next goes through the disk: these run on a file, too.
onMemoryAndFile((bench) => {
  describe("a deadline", () => {
    test("holds in another process, and after it has passed while none ran", async () => {
      const clock = still();
      const workflow = flow().andThen(gate({ deadline: "1h", onDeadline: { resume: "late" } }));
      const first = bench.andanteWith({ clock }, workflow);
      const { executionId } = await first.execute(workflow.id, 1);
      await first.close({ grace: 0 });
      clock.advance("5h");
      const second = bench.andanteWith({ clock }, workflow);
      const all = await collect(await attach(second, workflow.id, executionId));
      expect(all.at(-1)).toMatchObject({ result: { answer: "late" } });
    });
  });
});
