// Events: their order and content, for fast readers and slow ones, at the start and long after the end.
import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { ExecutionEvent } from "../../src/execution/stream/views.ts";
import { andThen } from "../../src/workflow/steps/free-steps.ts";
import { attach, collect, flow, heldBody, onMemory, until } from "../support/test-andante.ts";

const brief = ({ type, from }: ExecutionEvent) => (from === undefined ? type : `${type} ${from}`);
const sequences = (events: readonly ExecutionEvent[]) => events.flatMap(({ sequence }) => sequence ?? []);
const upTo = (n: number) => Array.from({ length: n }, (_, index) => index + 1);

onMemory((bench) => {
  describe("the stream of a start", () => {
    test("has the contract's events of a run, workflow-result last", async () => {
      const workflow = flow(z.number())
        .andThen({ id: "a", execute: ({ data }) => data + 1 })
        .andAll({ id: "all", steps: [andThen({ id: "inner", execute: () => "in" })] });
      const { executionId, events } = await bench.andante(workflow).stream(workflow.id, 1);
      const all = await collect(events);
      expect(all.map(brief)).toEqual([
        "workflow-start",
        "step-start a",
        "step-complete a",
        "step-start all",
        "step-start inner",
        "step-complete inner",
        "step-complete all",
        "workflow-complete",
        "workflow-result",
      ]);
      expect(sequences(all)).toEqual(upTo(8));
      for (const event of all) {
        expect(event.executionId).toBe(executionId);
        expect(new Date(event.timestamp).toISOString()).toBe(event.timestamp);
      }
      expect(all[1]).toMatchObject({ stepPath: "a", stepIndex: 0, stepType: "andThen", input: 1 });
      expect(all[2]).toMatchObject({ stepPath: "a", stepIndex: 0, output: 2 });
      expect(all[5]).toMatchObject({ from: "inner", stepPath: "all/inner", stepIndex: 1, output: "in" });
      expect(all[7]).toMatchObject({ result: ["in"] });
      expect(all[8]).toMatchObject({ status: "completed", result: ["in"] });
      expect(all[8]).toHaveProperty("startAt");
      expect(all[8]).toHaveProperty("endAt");
      expect(all[8]).not.toHaveProperty("sequence");
      expect(all[8]?.timestamp, "a later reader reads the same").toBe(all[8]?.endAt);
    });

    test("ends with the suspension that closed it, also when that is resumed before the end is read", async () => {
      const { execute, finish } = heldBody(1);
      const workflow = flow()
        .andThen({ id: "gate", execute: ({ resumeData, suspend }) => resumeData ?? suspend("why") })
        .andThen({ id: "next", execute });
      const andante = bench.andante(workflow);
      const { executionId, events } = await andante.stream(workflow.id, {});
      await until(events, "workflow-suspended");
      await andante.startResume(workflow.id, executionId, true);
      const { value } = await events.next();
      expect(value).toMatchObject({
        type: "workflow-result",
        status: "suspended",
        suspension: { stepId: "gate" },
      });
      finish();
    });

    test("has a suspension and closes; the next resume has a stream of its own", async () => {
      const workflow = flow().andThen({
        id: "gate",
        execute: ({ resumeData, suspend }) => resumeData ?? suspend("why"),
      });
      const andante = bench.andante(workflow);
      const { executionId, events } = await andante.stream(workflow.id, {});
      const all = await collect(events);
      expect(all.map(brief)).toEqual([
        "workflow-start",
        "step-start gate",
        "step-suspended gate",
        "workflow-suspended",
        "workflow-result",
      ]);
      expect(all[3]).toMatchObject({ suspension: { reason: "why", stepPath: "gate", stepIndex: 0 } });
      expect(all[4]).toMatchObject({
        status: "suspended",
        result: null,
        endAt: null,
        suspension: { reason: "why" },
      });
      const rest = await attach(andante, workflow.id, executionId, 4);
      await andante.resume(workflow.id, executionId, "yes", { userId: "ada" });
      const more = await collect(rest);
      expect(more.map(brief)).toEqual([
        "workflow-resumed gate",
        "step-complete gate",
        "workflow-complete",
        "workflow-result",
      ]);
      expect(more[0]).toMatchObject({ resumeData: "yes", userId: "ada" });
    });

    test("has a general message for an error", async () => {
      const workflow = flow().andThen({ id: "a", execute: () => Promise.reject(new Error("secret")) });
      const all = await collect((await bench.andante(workflow).stream(workflow.id, {})).events);
      expect(all.map(brief)).toEqual([
        "workflow-start",
        "step-start a",
        "step-error a",
        "workflow-error",
        "workflow-result",
      ]);
      const error = "Failed to execute workflow";
      expect(all.slice(2)).toMatchObject([{ error }, { error }, { error, status: "error", result: null }]);
    });

    test("that is refused leaves no follower behind and throws at once", async () => {
      const workflow = flow(z.number());
      await expect(bench.andante(workflow).stream(workflow.id, "x")).rejects.toMatchObject({ status: 400 });
    });
  });

  test("has a skipped step and a condition too", async () => {
    const workflow = flow().andWhen({
      id: "when",
      condition: () => false,
      step: andThen({ id: "inner", execute: () => 1 }),
    });
    const all = await collect((await bench.andante(workflow).stream(workflow.id, {})).events);
    expect(all.map(brief)).toEqual([
      "workflow-start",
      "step-start when",
      "step-evaluated when",
      "step-skipped when",
      "workflow-complete",
      "workflow-result",
    ]);
    expect(all[2]).toMatchObject({ stepPath: "when#condition", output: false });
  });

  describe("a slow reader", () => {
    const long = () => {
      let workflow = flow(z.number());
      for (let n = 0; n < 600; n++)
        workflow = workflow.andThen({ id: `s${n}`, execute: ({ data }) => data + 1 });
      return workflow;
    };

    test("gets more than a buffer holds, in order, from the journal", async () => {
      const workflow = long();
      const andante = bench.andante(workflow);
      const { executionId, events } = await andante.stream(workflow.id, 0);
      // Nothing is read before the run is over.
      const follower = await attach(andante, workflow.id, executionId);
      expect((await collect(follower)).at(-1)).toMatchObject({ status: "completed", result: 600 });
      const all = await collect(events);
      expect(sequences(all)).toEqual(upTo(1202));
      expect(all.at(-1)?.type).toBe("workflow-result");
    });

    test("that reads now and then misses nothing", async () => {
      const workflow = long();
      const andante = bench.andante(workflow);
      const { executionId, events } = await andante.stream(workflow.id, 0);
      const first = await events.next();
      const other = await attach(andante, workflow.id, executionId);
      await until(other, "workflow-complete");
      const rest = await collect(events);
      expect(sequences([...(first.done ? [] : [first.value]), ...rest])).toEqual(upTo(1202));
    });
  });

  describe("attach", () => {
    test("mid-run gets the earlier and the later events", async () => {
      const held = heldBody("x");
      const workflow = flow()
        .andThen({ id: "a", execute: () => 1 })
        .andThen({ id: "held", execute: held.execute });
      const andante = bench.andante(workflow);
      const { executionId } = await andante.start(workflow.id, {});
      await held.started;
      const events = await attach(andante, workflow.id, executionId);
      await until(events, "step-complete");
      held.finish();
      const rest = await collect(events);
      expect(rest.map(brief)).toEqual([
        "step-start held",
        "step-complete held",
        "workflow-complete",
        "workflow-result",
      ]);
    });

    test("after the end replays all, from a number, or nothing", async () => {
      const workflow = flow().andThen({ id: "a", execute: () => 1 });
      const andante = bench.andante(workflow);
      const { executionId } = await andante.execute(workflow.id, {});
      const all = await collect(await attach(andante, workflow.id, executionId));
      expect(sequences(all)).toEqual([1, 2, 3, 4]);
      const some = await collect(await attach(andante, workflow.id, executionId, 2));
      expect(some.map(brief)).toEqual(["step-complete a", "workflow-complete", "workflow-result"]);
      expect(await andante.attach(workflow.id, executionId, 4)).toBeUndefined();
    });

    test("goes through suspensions to the end", async () => {
      const workflow = flow().andThen({
        id: "gate",
        execute: ({ resumeData, suspend }) => resumeData ?? suspend(),
      });
      const andante = bench.andante(workflow);
      const { executionId } = await andante.execute(workflow.id, {});
      const events = await attach(andante, workflow.id, executionId);
      await until(events, "workflow-suspended");
      await andante.resume(workflow.id, executionId, 1);
      expect((await collect(events)).map(({ type }) => type)).toEqual([
        "workflow-resumed",
        "step-complete",
        "workflow-complete",
        "workflow-result",
      ]);
    });

    test("that stops reading early leaves the run alone", async () => {
      const held = heldBody("x");
      const workflow = flow().andThen({ id: "held", execute: held.execute });
      const andante = bench.andante(workflow);
      const { events, executionId } = await andante.stream(workflow.id, {});
      for await (const event of events) if (event.type === "step-start") break;
      held.finish();
      const all = await collect(await attach(andante, workflow.id, executionId));
      expect(all.at(-1)).toMatchObject({ status: "completed" });
    });
  });

  test("closing ends streams without a result", async () => {
    const held = heldBody("x");
    const workflow = flow().andThen({ id: "held", execute: held.execute });
    const andante = bench.andante(workflow);
    const { events } = await andante.stream(workflow.id, {});
    await held.started;
    const all = collect(events);
    await andante.close({ grace: 0 });
    expect((await all).map(brief)).toEqual(["workflow-start", "step-start held"]);
    held.finish();
  });

  test("events come a page at a time, errors in full", async () => {
    const workflow = flow().andThen({ id: "a", execute: () => Promise.reject(new TypeError("why")) });
    const andante = bench.andante(workflow);
    const { executionId } = await andante.execute(workflow.id, {});
    const page = await andante.events(workflow.id, executionId, { after: 1, limit: 2 });
    expect(page.map(brief)).toEqual(["step-start a", "step-error a"]);
    expect(page[1]).toMatchObject({ error: { name: "TypeError", message: "why", step: "a" } });
  });
});
