// Limits: what is too large is refused or ends in an error that names what, how large, and the limit.
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { andThen } from "../../src/workflow/steps/free-steps.ts";
import { flow, heldBody, onMemory, onMemoryAndFile } from "../support/test-andante.ts";

/** A JSON text of exactly this many bytes. */
const text = (bytes: number) => "x".repeat(bytes - 2);

onMemory((bench) => {
  describe("the input", () => {
    const workflow = flow().andThen({ id: "length", execute: ({ data }) => JSON.stringify(data).length });

    test("may be as large as the limit, to the byte", async () => {
      const andante = bench.andanteWith({ limits: { input: 1000 } }, workflow);
      await expect(andante.execute(workflow.id, text(1000))).resolves.toMatchObject({ result: 1000 });
      await expect(andante.execute(workflow.id, text(1001))).rejects.toMatchObject({
        code: "too-large",
        status: 413,
        message: "Input is 1001 bytes; the limit is 1000 (limits.input)",
      });
      // Three bytes each, though one character.
      await expect(andante.execute(workflow.id, "€".repeat(400))).rejects.toMatchObject({
        code: "too-large",
      });
      expect((await andante.list({ workflowId: workflow.id })).executions).toHaveLength(1);
    });

    test("is 4 MiB unless told otherwise", async () => {
      const andante = bench.andante(workflow);
      await expect(andante.execute(workflow.id, text(4 * 2 ** 20 + 1))).rejects.toMatchObject({
        status: 413,
      });
    });

    test("counts as the schema returns it too", async () => {
      const growing = flow(z.string().transform((given) => given.repeat(100))).andThen({
        id: "never",
        execute: () => 1,
      });
      const andante = bench.andanteWith({ limits: { input: 1000 } }, growing);
      await expect(andante.execute(growing.id, text(50))).rejects.toMatchObject({ code: "too-large" });
    });
  });

  describe("the answer to a suspension", () => {
    const workflow = flow().andThen({
      id: "ask",
      execute: ({ suspend, resumeData }) => (resumeData === undefined ? suspend() : "thanks"),
    });

    test("that is too large is refused, and the execution waits on", async () => {
      const andante = bench.andanteWith({ limits: { resumeData: 1000 } }, workflow);
      const { executionId } = await andante.execute(workflow.id, {});
      await expect(andante.resume(workflow.id, executionId, text(1001))).rejects.toMatchObject({
        status: 413,
        message: "Resume data is 1001 bytes; the limit is 1000 (limits.resumeData)",
      });
      await expect(andante.resume(workflow.id, executionId, text(1000))).resolves.toMatchObject({
        status: "completed",
      });
    });
  });

  describe("what a step gives", () => {
    test("fails the step when it is too large, and says which and how", async () => {
      const workflow = flow()
        .andThen({ id: "small", execute: () => text(1000) })
        .andThen({ id: "big", execute: async () => text(1001) });
      const andante = bench.andanteWith({ limits: { output: 1000 } }, workflow);
      const { executionId, status } = await andante.execute(workflow.id, {});
      expect(status).toBe("error");
      const events = await andante.events(workflow.id, executionId);
      expect(events.find(({ type }) => type === "step-error")).toMatchObject({
        from: "big",
        error: {
          name: "OutputLimitError",
          step: "big",
          message: expect.stringMatching(
            /^Output of step big is 1001 bytes; the limit is 1000 \(limits\.output\)/,
          ),
        },
      });
    });

    test("counts for what it gives to suspend as well", async () => {
      const workflow = flow().andThen({ id: "ask", execute: ({ suspend }) => suspend("why", text(1001)) });
      const andante = bench.andanteWith({ limits: { output: 1000 } }, workflow);
      const { executionId, status } = await andante.execute(workflow.id, {});
      expect(status).toBe("error");
      const { executions } = await andante.list({ workflowId: workflow.id });
      expect(executions).toMatchObject([
        {
          executionId,
          error: { message: expect.stringContaining("Suspend data of step ask is 1001 bytes") },
        },
      ]);
    });
  });

  test("a result that is too large ends the execution in error", async () => {
    const half = (id: string) => andThen({ id, execute: () => text(600) });
    const workflow = flow().andAll({ id: "both", steps: [half("left"), half("right")] });
    const andante = bench.andanteWith({ limits: { result: 1000 } }, workflow);
    await expect(andante.execute(workflow.id, {})).resolves.toMatchObject({ status: "error", result: null });
    const { executions } = await andante.list({ workflowId: workflow.id });
    expect(executions[0]?.error?.message).toMatch(/^Result of the workflow is 1203 bytes; the limit is 1000/);
  });

  describe("the journal", () => {
    test("that holds too many events ends the execution, and its bodies are aborted", async () => {
      const held = heldBody("never");
      const steps = Array.from({ length: 10 }, (_, index) => index);
      const workflow = flow().andAll({
        id: "all",
        steps: [
          andThen({ id: "held", execute: held.execute }),
          (chain) =>
            steps.reduce(
              (so, index) => so.andThen({ id: `step-${index}`, execute: () => index }),
              chain.andThen({
                id: "first",
                execute: async () => {
                  await held.started;
                  return 0;
                },
              }),
            ),
        ],
      });
      const andante = bench.andanteWith({ limits: { journal: { events: 12 } } }, workflow);
      const { executionId, status } = await andante.execute(workflow.id, {});
      expect(status).toBe("error");
      const { executions } = await andante.list({ workflowId: workflow.id });
      expect(executions).toMatchObject([
        {
          executionId,
          error: {
            name: "JournalLimitError",
            message: expect.stringMatching(
              /^The journal of the execution holds 1\d events; the limit is 12 \(limits\.journal\.events\)/,
            ),
          },
        },
      ]);
      expect((await held.started).aborted).toBe(true);
      expect((await andante.events(workflow.id, executionId)).length).toBeLessThan(20);
    });

    test("a pause comes first: the execution ends once it is lifted", async () => {
      const held = heldBody(text(900));
      const workflow = flow()
        .andThen({ id: "held", execute: held.execute })
        .andThen({ id: "b", execute: ({ data }) => data })
        .andThen({ id: "c", execute: ({ data }) => data });
      const andante = bench.andanteWith({ limits: { journal: { bytes: 1500 } } }, workflow);
      const { executionId } = await andante.start(workflow.id, {});
      await held.started;
      await andante.suspend(workflow.id, executionId);
      held.finish();
      await expect(andante.resume(workflow.id, executionId)).resolves.toMatchObject({ status: "error" });
    });
  });

  test.each([
    [{ input: 0 }, "limits.input"],
    [{ output: Number.NaN }, "limits.output"],
    [{ journal: { events: -1 } }, "limits.journal.events"],
  ])("a limit that makes no sense is refused at once: %j", (limits, option) => {
    expect(() => bench.andanteWith({ limits })).toThrow(`Option ${option}: expected a number of 1 or more`);
  });
});

// What one process leaves and the next one finds goes through the disk: these run on a file, too.
onMemoryAndFile((bench) => {
  describe("the journal", () => {
    test("that holds too many bytes ends the execution, also when it grew in two lives", async () => {
      const give = (id: string) => ({ id, execute: () => text(400) });
      const workflow = flow()
        .andThen(give("a"))
        .andThen({
          id: "ask",
          execute: ({ data, suspend, resumeData }) => (resumeData === undefined ? suspend() : data),
        })
        .andThen(give("b"))
        .andThen(give("c"))
        .andThen(give("d"));
      const first = bench.andanteWith({ limits: { journal: { bytes: 2000 } } }, workflow);
      const { executionId, status } = await first.execute(workflow.id, {});
      expect(status).toBe("suspended");
      await first.close();
      const second = bench.andanteWith({ limits: { journal: { bytes: 2000 } } }, workflow);
      await expect(second.resume(workflow.id, executionId, 1)).resolves.toMatchObject({ status: "error" });
      const { executions } = await second.list({ workflowId: workflow.id });
      expect(executions[0]?.error?.message).toMatch(/bytes; the limit is 2000 \(limits\.journal\.bytes\)/);
    });
  });
});
