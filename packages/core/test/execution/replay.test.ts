// Replay: a new execution from a top-level step of one that rests, with a journal of its own.
import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { Store } from "../../src/store/store.ts";
import { createWorkflow } from "../../src/workflow/create-workflow.ts";
import { andThen } from "../../src/workflow/steps/free-steps.ts";
import { attach, collect, flow, heldBody, onMemory, onMemoryAndFile } from "../support/test-andante.ts";
import { wrapStore } from "../support/wrapped-store.ts";

const gate = (id: string) => ({
  id,
  execute: ({ suspend, resumeData }: { suspend(reason?: string): never; resumeData: unknown }) =>
    resumeData ?? suspend(id),
});

onMemory((bench) => {
  test("earlier bodies do not run again; the step and later ones do, with the same data", async () => {
    const runs: string[] = [];
    const workflow = flow(z.object({ n: z.number().default(1) }))
      .andThen({ id: "a", execute: ({ data }) => runs.push("a") + data.n })
      .andThen({ id: "b", execute: ({ data }) => runs.push("b") && data * 10 })
      .andThen({ id: "c", execute: ({ data, input, getStepData }) => [data, input, getStepData("a")] });
    const andante = bench.andante(workflow);
    const source = await andante.execute(workflow.id, {});
    const replayed = await andante.replay(workflow.id, source.executionId, { stepId: "b" });
    expect(replayed).toMatchObject({ status: "completed", result: source.result });
    expect(runs).toEqual(["a", "b", "b"]);
    const state = await andante.state(workflow.id, replayed.executionId);
    expect(state).toMatchObject({ input: {}, replayOf: { executionId: source.executionId, stepId: "b" } });
  });

  test("a follower sees the events it took over and its own, numbered as in the journal", async () => {
    const held = heldBody("late");
    let life = 1;
    const workflow = flow()
      .andThen({ id: "a", execute: () => 1 })
      .andThen({ id: "b", execute: (context) => (life === 1 ? "early" : held.execute(context)) });
    const andante = bench.andante(workflow);
    const source = await andante.execute(workflow.id, {});
    life++;
    const replayed = await andante.startReplay(workflow.id, source.executionId, { stepId: "b" });
    const events = await attach(andante, workflow.id, replayed.executionId);
    await held.started;
    held.finish();
    const seen = (await collect(events)).slice(0, -1).map(({ type, sequence }) => [sequence, type]);
    const journal = await andante.events(workflow.id, replayed.executionId);
    expect(seen).toEqual(journal.map(({ type, sequence }) => [sequence, type]));
    expect(seen.map(([sequence]) => sequence)).toEqual(seen.map((_, index) => index + 1));
  });

  test("a failed execution continues from the step that failed, once its cause is gone", async () => {
    let broken = true;
    const workflow = flow()
      .andThen({ id: "costly", execute: () => "paid" })
      .andThen({
        id: "send",
        execute: ({ data }) => {
          if (broken) throw new Error("no route to host");
          return `${data} and sent`;
        },
      });
    const andante = bench.andante(workflow);
    const source = await andante.execute(workflow.id, {});
    expect(source.status).toBe("error");
    broken = false;
    const replayed = await andante.replay(workflow.id, source.executionId, { stepId: "send" });
    expect(replayed).toMatchObject({ status: "completed", result: "paid and sent" });
    expect((await andante.state(workflow.id, source.executionId)).status).toBe("error");
  });

  test("takes over containers, their inner steps, skipped steps and answers", async () => {
    const workflow = flow()
      .andAll({
        id: "all",
        steps: [(chain) => chain.andThen(gate("ask")), andThen({ id: "other", execute: () => 2 })],
      })
      .andWhen({ id: "never", condition: () => false, step: andThen({ id: "inside", execute: () => 0 }) })
      .andThen({
        id: "show",
        execute: ({ data, getStepData }) => ({ data, asked: getStepData("ask")?.output }),
      })
      .andThen(gate("last"));
    const andante = bench.andante(workflow);
    const { executionId } = await andante.execute(workflow.id, {});
    await andante.resume(workflow.id, executionId, "yes", { userId: "ada" });
    const first = await andante.replay(workflow.id, executionId, { stepId: "show" });
    // It comes to rest although its journal holds an answer that was given to another execution.
    expect(first).toMatchObject({ status: "suspended", suspension: { stepId: "last" } });
    const events = await andante.events(workflow.id, first.executionId);
    const types = events.map(({ type, from }) => `${type} ${from ?? ""}`);
    expect(types).toContain("workflow-resumed ask");
    expect(types).toContain("step-skipped never");
    expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 1));
    const done = await andante.resume(workflow.id, first.executionId, "end");
    expect(done).toMatchObject({ status: "completed", result: "end" });
    const shown = (await andante.events(workflow.id, first.executionId)).find(
      ({ type, from }) => type === "step-complete" && from === "show",
    );
    expect(shown?.output).toEqual({ data: ["yes", 2], asked: "yes" });
  });

  test("outcomes that a rewind left behind are not taken over", async () => {
    const workflow = flow()
      .andThen(gate("first"))
      .andThen({ id: "double", execute: ({ data }) => Number(data) * 2 })
      .andThen({
        id: "wait",
        execute: ({ data, suspend, resumeData }) => resumeData ?? suspend(String(data)),
      });
    const andante = bench.andante(workflow);
    const { executionId } = await andante.execute(workflow.id, {});
    await andante.resume(workflow.id, executionId, 1);
    await andante.resume(workflow.id, executionId, 5, { stepId: "first" });
    const replayed = await andante.replay(workflow.id, executionId, { stepId: "wait" });
    expect(replayed.suspension?.reason).toBe("10");
    // Back at the first step the later ones have not been reached any more.
    const back = await andante.resume(workflow.id, replayed.executionId, null, { stepId: "first" });
    expect(back.suspension?.stepId).toBe("first");
    await expect(
      andante.replay(workflow.id, replayed.executionId, { stepId: "double" }),
    ).rejects.toMatchObject({ code: "replay-target", status: 400 });
  });

  test("a replay of a replay is self-contained: the first source is not needed", async () => {
    const workflow = flow()
      .andThen({ id: "a", execute: () => "a" })
      .andThen({ id: "b", execute: ({ data }) => `${data}b` })
      .andThen({ id: "c", execute: ({ data }) => `${data}c` });
    const andante = bench.andante(workflow);
    const one = await andante.execute(workflow.id, {});
    const two = await andante.replay(workflow.id, one.executionId, { stepId: "c" });
    const upTo = { endAt: Date.parse(one.endAt ?? ""), executionId: one.executionId };
    await bench.store.deleteFinished({ upTo, limit: 1000, events: 100_000 });
    await expect(andante.state(workflow.id, one.executionId)).rejects.toMatchObject({ status: 404 });
    const three = await andante.replay(workflow.id, two.executionId, { stepId: "b" });
    expect(three).toMatchObject({ status: "completed", result: "abc" });
  });

  test("a replay that would take over more than 64 MiB of values is refused, and a shorter one is made", async () => {
    const workflow = flow()
      .andThen({ id: "a", execute: () => "a" })
      .andThen({ id: "b", execute: () => "b" })
      .andThen({ id: "end", execute: () => "end" });
    // Outputs are as long as this when they are read.
    let long = (letter: string) => JSON.stringify(letter.repeat(33 * 1024 * 1024));
    const events: Store["events"] = async (query) =>
      (await bench.store.events(query)).map((event) =>
        event.type === "step-complete" ? { ...event, value: long(event.path ?? "") } : event,
      );
    const andante = bench.andanteWith({ store: wrapStore(bench.store, { events }) }, workflow);
    const { executionId } = await andante.execute(workflow.id, {});
    await expect(andante.replay(workflow.id, executionId, { stepId: "end" })).rejects.toMatchObject({
      code: "replay-target",
      message: expect.stringContaining('more than 67108864 characters come before the step "end"'),
    });
    long = (letter) => JSON.stringify(letter);
    expect(await andante.replay(workflow.id, executionId, { stepId: "end" })).toMatchObject({
      result: "end",
    });
  });

  test("an execution that is being deleted is not replayed from the rest of its journal", async () => {
    const workflow = flow()
      .andThen({ id: "a", execute: () => "a" })
      .andThen({ id: "b", execute: () => "b" });
    const andante = bench.andante(workflow);
    const { executionId, endAt } = await andante.execute(workflow.id, {});
    const upTo = { endAt: Date.parse(endAt ?? "") - 1, executionId: "\u{10ffff}" };
    await bench.store.deleteFinished({ upTo, limit: 1000, events: 100_000 });
    await bench.store.deleteFinished({ upTo: { ...upTo, endAt: upTo.endAt + 1 }, limit: 1, events: 2 });
    expect(await bench.store.state(executionId)).toBeDefined();
    await expect(andante.replay(workflow.id, executionId, { stepId: "b" })).rejects.toMatchObject({
      status: 404,
    });
  });

  test("keeps context, conversation and tags, and takes the caller's user instead of the old one's", async () => {
    const workflow = flow().andThen({
      id: "look",
      execute: ({ context, userId, conversationId }) => ({
        ...Object.fromEntries(context),
        who: userId,
        conversationId,
      }),
    });
    const andante = bench.andante(workflow);
    const options = {
      userId: "ada",
      conversationId: "c",
      context: { tier: "gold", user: { id: "ada" } },
      tags: ["x"],
    };
    const { executionId } = await andante.execute(workflow.id, {}, options);
    const context = { user: { id: "bob" } };
    const replayed = await andante.replay(workflow.id, executionId, {
      stepId: "look",
      userId: "bob",
      context,
    });
    expect(replayed.result).toEqual({
      tier: "gold",
      user: { id: "bob" },
      userId: "bob",
      who: "bob",
      conversationId: "c",
    });
    expect((await andante.state(workflow.id, replayed.executionId)).tags).toEqual(["x"]);
    const nobody = await andante.replay(workflow.id, executionId, { stepId: "look" });
    expect(nobody.result).toEqual({ tier: "gold", conversationId: "c" });
  });

  describe("a workflow that has changed", () => {
    const begin = (id: string) => createWorkflow({ id, input: z.unknown() });
    const give = (id: string) => ({ id, execute: () => id });
    let ids = 0;

    test("may have changed from the step on, and not before it", async () => {
      const id = `replay-changed-${process.pid}-${++ids}`;
      const old = bench.andante(begin(id).andThen(give("a")).andThen(give("b")).andThen(give("c")));
      const { executionId } = await old.execute(id, {});
      const later = bench.andante(begin(id).andThen(give("a")).andThen(give("b")).andThen(give("x")));
      await expect(later.replay(id, executionId, { stepId: "b" })).resolves.toMatchObject({ result: "x" });
      const earlier = bench.andante(begin(id).andThen(give("a")).andThen(give("x")).andThen(give("c")));
      await expect(earlier.replay(id, executionId, { stepId: "c" })).rejects.toMatchObject({
        code: "definition-changed",
        status: 409,
      });
    });

    test("a parked execution can be replayed from a step before the change", async () => {
      const id = `replay-changed-${process.pid}-${++ids}`;
      const held = heldBody("late");
      const old = bench.andante(begin(id).andThen(give("a")).andThen({ id: "b", execute: held.execute }));
      const { executionId } = await old.start(id, {});
      await held.started;
      await old.close({ grace: 0 });
      const changed = bench.andante(begin(id).andThen(give("a")).andThen(give("other")));
      await changed.ready();
      expect(await changed.state(id, executionId)).toHaveProperty("parked");
      await expect(changed.replay(id, executionId, { stepId: "a" })).resolves.toMatchObject({
        result: "other",
      });
    });
  });
});

// The state that one process leaves for the next goes through the disk: these run on a file, too.
onMemoryAndFile((bench) => {
  test("a replay is recovered like any other execution", async () => {
    const runs: string[] = [];
    let held = heldBody("done");
    held.finish();
    const workflow = flow()
      .andThen({ id: "a", execute: () => runs.push("a") })
      .andThen({ id: "held", execute: (context) => held.execute(context) });
    const first = bench.andante(workflow);
    const source = await first.execute(workflow.id, {});
    held = heldBody("first life");
    const { executionId } = await first.startReplay(workflow.id, source.executionId, { stepId: "held" });
    await held.started;
    await first.close({ grace: 0 });
    held = heldBody("second life");
    held.finish();
    const second = bench.andante(workflow);
    const last = (await collect(await attach(second, workflow.id, executionId))).at(-1);
    expect(last).toMatchObject({ status: "completed", result: "second life" });
    expect(runs).toEqual(["a"]);
  });
});
