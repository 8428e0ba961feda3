// Starting: idempotent ids, checked options, clear refusals; lists and lookups.
import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { StartOptions } from "../../src/execution/commands/start.ts";
import { collect, flow, heldBody, onMemory } from "../support/test-andante.ts";
import { wrapStore } from "../support/wrapped-store.ts";

let ids = 0;
const newId = () => `start-${process.pid}-${++ids}`;

onMemory((bench) => {
  describe("with an executionId", () => {
    test("is idempotent while it runs and after: one run, one answer", async () => {
      const held = heldBody("once");
      const workflow = flow(z.object({ a: z.number(), b: z.number() })).andThen({
        id: "held",
        execute: held.execute,
      });
      const andante = bench.andante(workflow);
      const executionId = newId();
      const first = andante.execute(workflow.id, { a: 1, b: 2 }, { executionId });
      // The same moment, and the same input in another order.
      const second = andante.execute(workflow.id, { b: 2, a: 1 }, { executionId });
      await held.started;
      const third = andante.execute(workflow.id, { a: 1, b: 2 }, { executionId });
      held.finish();
      const answers = await Promise.all([first, second, third]);
      expect(answers[0]).toMatchObject({ executionId, status: "completed", result: "once" });
      expect(answers).toEqual([answers[0], answers[0], answers[0]]);
      expect(await andante.execute(workflow.id, { a: 1, b: 2 }, { executionId })).toEqual(answers[0]);
      expect(held.runs).toBe(1);
    });

    test("of a hundred at once runs once", async () => {
      let runs = 0;
      const workflow = flow().andThen({ id: "a", execute: async () => ++runs });
      const andante = bench.andante(workflow);
      const executionId = newId();
      const answers = await Promise.all(
        Array.from({ length: 100 }, () => andante.execute(workflow.id, {}, { executionId })),
      );
      expect(new Set(answers.map(({ result }) => result))).toEqual(new Set([1]));
    });

    test("gives the stream of the execution that is there", async () => {
      const workflow = flow().andThen({ id: "a", execute: () => 1 });
      const andante = bench.andante(workflow);
      const executionId = newId();
      const first = await collect((await andante.stream(workflow.id, {}, { executionId })).events);
      const second = await collect((await andante.stream(workflow.id, {}, { executionId })).events);
      expect(second.slice(0, -1)).toEqual(first.slice(0, -1));
      expect(second.at(-1)).toMatchObject({ type: "workflow-result", status: "completed" });
    });

    test("used for something else is refused without details about it", async () => {
      const [one, other] = [flow(), flow()];
      const andante = bench.andante(one, other);
      const executionId = newId();
      await andante.execute(one.id, { secret: 1 }, { executionId, userId: "ada" });
      const starts: [string, unknown, StartOptions][] = [
        [one.id, { secret: 2 }, { executionId, userId: "ada" }],
        [one.id, { secret: 1 }, { executionId, userId: "eve" }],
        [one.id, { secret: 1 }, { executionId }],
        [other.id, { secret: 1 }, { executionId, userId: "ada" }],
      ];
      const message = `Execution id ${executionId} is already in use`;
      for (const [id, input, options] of starts) {
        await expect(andante.execute(id, input, options)).rejects.toMatchObject({ status: 409, message });
        await expect(andante.stream(id, input, options)).rejects.toMatchObject({ status: 409, message });
      }
    });
  });

  test("who starts it and where is kept in its context, and nothing else that was not given", async () => {
    const workflow = flow().andThen({ id: "a", execute: () => 1 });
    const cleared: (readonly string[])[] = [];
    const commit: typeof bench.store.commit = (argument) => {
      cleared.push(argument.clear);
      return bench.store.commit(argument);
    };
    const andante = bench.andanteWith({ store: wrapStore(bench.store, { commit }) }, workflow);
    const who = { userId: "ada", conversationId: "c" };
    const options = { ...who, context: { a: 1 }, traceparent: "nonsense" };
    const { executionId } = await andante.execute(workflow.id, 1, options);
    const state = await bench.store.state(executionId);
    expect(JSON.parse(state?.execution.context ?? "")).toEqual({ a: 1, ...who });
    const events = await bench.store.events({ executionId, after: 0, limit: 10, length: 1e6 });
    expect(JSON.stringify(events)).not.toContain("nonsense");
    // No timer was set, so none is cleared.
    expect(cleared.flat()).toEqual([]);
    expect(cleared.length).toBeGreaterThan(0);
  });

  describe("options", () => {
    test.each<[string, object]>([
      ["executionId", { executionId: "" }],
      ["executionId", { executionId: "x".repeat(201) }],
      ["executionId", { executionId: "a\u0000b" }],
      ["executionId", { executionId: "\ud800" }],
      ["executionId", { executionId: ".." }],
      ["executionId", { executionId: 5 }],
      ["userId", { userId: {} }],
      ["conversationId", { conversationId: [] }],
      ["context", { context: "text" }],
      ["context", { context: [] }],
      ["context", { context: { a: 1n } }],
    ])("of a wrong kind are refused: %s", async (option, options) => {
      const workflow = flow();
      await expect(bench.andante(workflow).execute(workflow.id, {}, options)).rejects.toMatchObject({
        status: 400,
        message: expect.stringMatching(new RegExp(`^Invalid option ${option}: `)),
      });
    });

    test("with input that JSON cannot hold are refused", async () => {
      const workflow = flow();
      await expect(bench.andante(workflow).execute(workflow.id, { a: new Map() })).rejects.toMatchObject({
        status: 400,
        message: "Input validation failed: input at a cannot be kept as JSON: it is a Map",
      });
    });

    test("keep context across the state", async () => {
      const workflow = flow();
      const andante = bench.andante(workflow);
      const options = { userId: "ada", context: { tier: "gold", ["__proto__"]: { x: 1 } } };
      const { executionId } = await andante.execute(workflow.id, {}, options);
      const { context } = await andante.state(workflow.id, executionId);
      expect(context).toMatchObject({ tier: "gold", userId: "ada" });
    });
  });

  test("beyond the limit of running executions is refused, and there is room again later", async () => {
    const held = heldBody(1);
    const workflow = flow().andThen({ id: "held", execute: held.execute });
    const andante = bench.andanteWith({ limits: { running: 2 } }, workflow);
    const starts = await Promise.allSettled(Array.from({ length: 5 }, () => andante.start(workflow.id, {})));
    expect(starts.filter(({ status }) => status === "fulfilled")).toHaveLength(2);
    for (const start of starts) {
      if (start.status === "rejected")
        expect(start.reason).toMatchObject({ status: 503, code: "capacity", retryAfter: 1 });
    }
    held.finish();
    for (const start of starts) if (start.status === "fulfilled") await start.value.result();
    expect((await andante.execute(workflow.id, {})).status).toBe("completed");
  });

  test("an unknown workflow or execution, and another workflow's execution, are not found", async () => {
    const [one, other] = [flow(), flow()];
    const andante = bench.andante(one, other);
    const message = "Workflow nobody not found";
    await expect(andante.execute("nobody", {})).rejects.toMatchObject({ status: 404, message });
    await expect(andante.state("nobody", "x")).rejects.toMatchObject({ status: 404, message });
    expect(() => andante.workflow("nobody")).toThrow(message);
    const { executionId } = await andante.execute(one.id, {});
    for (const id of [executionId, "nobody"]) {
      const calls = [
        andante.state(other.id, id),
        andante.events(other.id, id),
        andante.attach(other.id, id),
        andante.suspend(other.id, id),
        andante.resume(other.id, id),
        andante.cancel(other.id, id),
      ];
      for (const call of await Promise.allSettled(calls)) {
        expect(call).toMatchObject({
          status: "rejected",
          reason: { status: 404, code: "execution-not-found" },
        });
      }
    }
  });

  test("two workflows of one id are refused where they are registered", () => {
    const workflow = flow();
    expect(() => bench.andanteWith({ workflows: { a: workflow, b: workflow } })).toThrow(
      `Workflow registered as "b": another workflow already has the id "${workflow.id}"`,
    );
  });

  test("status of a workflow is running while one of its bodies runs", async () => {
    const held = heldBody(1);
    const workflow = flow().andThen({ id: "held", execute: held.execute });
    const andante = bench.andante(workflow);
    const { result } = await andante.start(workflow.id, {});
    await held.started;
    expect(andante.workflows()).toMatchObject([{ id: workflow.id, stepsCount: 1, status: "running" }]);
    held.finish();
    await result();
    expect(andante.workflow(workflow.id)).toMatchObject({ status: "idle", steps: [{ id: "held" }] });
  });

  test("also to a body that returns without waiting", async () => {
    const seen: string[] = [];
    const workflow = flow().andThen({
      id: "looks",
      execute: () => void seen.push(...andante.workflows().map(({ status }) => status)),
    });
    const andante = bench.andante(workflow);
    await andante.execute(workflow.id, {});
    expect(seen).toEqual(["running"]);
  });

  test("a start with the id of an existing execution reports whether that has settled", async () => {
    const held = heldBody("done");
    const workflow = flow().andThen({ id: "held", execute: held.execute });
    const andante = bench.andante(workflow);
    const { executionId, settled, result } = await andante.start(workflow.id, {});
    const again = async () => (await andante.start(workflow.id, {}, { executionId })).settled;
    expect([settled, await again()]).toEqual([false, false]);
    held.finish();
    await result();
    expect(await again()).toBe(true);
  });

  describe("list", () => {
    test("pages through executions, newest first", async () => {
      const workflow = flow();
      const andante = bench.andante(workflow);
      const made: string[] = [];
      for (let n = 0; n < 5; n++) made.push((await andante.execute(workflow.id, n)).executionId);
      const seen: string[] = [];
      let cursor: string | null | undefined;
      do {
        const page = await andante.list({ workflowId: workflow.id, limit: 2, cursor: cursor ?? undefined });
        seen.push(...page.executions.map(({ executionId }) => executionId));
        cursor = page.nextCursor;
      } while (cursor !== null && seen.length < made.length);
      expect(seen).toEqual(made.toReversed());
      expect(cursor).toBeNull();
    });

    test("refuses a wrong limit or cursor", async () => {
      const andante = bench.andante();
      for (const options of [
        { limit: 0 },
        { limit: 501 },
        { limit: 1.5 },
        { cursor: "x" },
        { cursor: "W10" },
      ]) {
        await expect(andante.list(options)).rejects.toMatchObject({ status: 400, code: "invalid-option" });
      }
    });
  });
});
