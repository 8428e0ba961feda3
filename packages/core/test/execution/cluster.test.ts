// Several processes on one store: each sees the changes of the others to executions that it runs, waits for or follows.
import { describe, expect, test, vi } from "vitest";
import type { Andante } from "../../src/andante/andante.ts";
import { StoreUnavailableError } from "../../src/errors/index.ts";
import type { Store } from "../../src/store/store.ts";
import type { StoredEvent } from "../../src/store/stored-event.ts";
import type { WorkflowDefinition } from "../../src/workflow/step.ts";
import type { StepContext } from "../../src/workflow/step-context.ts";
import { andThen } from "../../src/workflow/steps/free-steps.ts";
import { abortOf } from "../support/in-time.ts";
import { sharedStore } from "../support/shared-store.ts";
import { attach, type Bench, collect, flow, heldBody, onMemory, until } from "../support/test-andante.ts";
import { heldOperation, mortalStore } from "../support/wrapped-store.ts";

/** A step that waits for a person, and one after it. */
const gated = () => {
  let runs = 0;
  return flow()
    .andThen({
      id: "gate",
      execute: ({ resumeData, suspend }) => resumeData ?? suspend(),
    })
    .andThen({ id: "after", execute: ({ data }) => ({ data, runs: ++runs }) });
};

const heldFlow = () => {
  const held = heldBody("held");
  const workflow = flow()
    .andThen({ id: "held", execute: held.execute })
    .andThen({ id: "after", execute: ({ data }) => `${data} after` });
  return { held, workflow };
};

/** Andantes on one store. */
function nodes(bench: Bench, workflow: WorkflowDefinition, options?: Parameters<typeof sharedStore>[1]) {
  const join = sharedStore(bench.store, options);
  const node = (operations?: Partial<Store>): Andante =>
    bench.andanteWith({ store: join(operations) }, workflow);
  return { node, join };
}

onMemory((bench) => {
  describe.each([
    ["with hints", true],
    ["without hints, a little later", false],
  ])("%s", (_, hints) => {
    test("a stream on one node shows every event of a run on another, once and in order", async () => {
      const { held, workflow } = heldFlow();
      const { node } = nodes(bench, workflow, { hints });
      const [a, b] = [node(), node()];
      const { executionId, result } = await a.start(workflow.id, {});
      await held.started;
      const followed = collect(await attach(b, workflow.id, executionId));
      held.finish();
      await result();
      const events = await followed;
      expect(events.slice(0, -1)).toEqual(await a.events(workflow.id, executionId));
      expect(events.at(-1)).toMatchObject({ type: "workflow-result", result: "held after" });
    });

    test("a start with the id of a run on another node waits for it", async () => {
      const { held, workflow } = heldFlow();
      const { node } = nodes(bench, workflow, { hints });
      const [a, b] = [node(), node()];
      const { executionId } = await a.start(workflow.id, { same: 1 });
      await held.started;
      const second = b.execute(workflow.id, { same: 1 }, { executionId });
      held.finish();
      expect(await second).toMatchObject({ executionId, status: "completed", result: "held after" });
      expect(held.runs).toBe(1);
    });

    test("a pause on one node stops a run on another after its body, a resume lets it continue there", async () => {
      const { held, workflow } = heldFlow();
      const { node } = nodes(bench, workflow, { hints });
      const [a, b] = [node(), node()];
      const { executionId, result } = await a.start(workflow.id, {});
      await held.started;
      await b.suspend(workflow.id, executionId);
      expect(await result()).toMatchObject({ status: "suspended" });
      const resumed = await b.startResume(workflow.id, executionId);
      held.finish();
      expect(await resumed.result()).toMatchObject({ status: "completed", result: "held after" });
      expect(held.runs).toBe(1);
    });

    test("a cancel on one node aborts the body on another", async () => {
      const { held, workflow } = heldFlow();
      const { node } = nodes(bench, workflow, { hints });
      const [a, b] = [node(), node()];
      const { executionId, result } = await a.start(workflow.id, {});
      const signal = await held.started;
      const aborted = abortOf(signal);
      expect(await b.cancel(workflow.id, executionId)).toMatchObject({ status: "cancelled" });
      await aborted;
      expect(await result()).toMatchObject({ status: "cancelled" });
    });
  });

  test("a node releases a run when a later release writes an event unknown to it into the journal", async () => {
    const { held, workflow } = heldFlow();
    const { node } = nodes(bench, workflow);
    const later = (event: StoredEvent) =>
      event.type === "workflow-suspended" ? { ...event, type: "workflow-foreseen" } : event;
    const older = node({ events: async (query) => (await bench.store.events(query)).map(later) });
    const newer = node();
    const { executionId } = await older.start(workflow.id, {});
    const signal = await held.started;
    const aborted = abortOf(signal);
    await newer.suspend(workflow.id, executionId);
    await aborted;
    expect(bench.logger.messages).toContain("released execution: journal was written by a newer version");
    const resumed = await newer.startResume(workflow.id, executionId);
    held.finish();
    expect(await resumed.result()).toMatchObject({ status: "completed", result: "held after" });
  });

  test("executions that a stopping node releases continue elsewhere at once, not at the next poll", async () => {
    // No poll comes, so every change follows from the messages between the nodes.
    vi.useFakeTimers({ toFake: ["setInterval"] });
    try {
      const { held, workflow } = heldFlow();
      const { node } = nodes(bench, workflow);
      const [a, b] = [node(), node()];
      await b.list();
      const { executionId } = await a.start(workflow.id, {});
      await held.started;
      const followed = collect(await attach(b, workflow.id, executionId));
      const closed = a.close({ grace: 10_000 });
      held.finish();
      await closed;
      expect((await followed).at(-1)).toMatchObject({ type: "workflow-result", result: "held after" });
      expect(held.runs).toBe(1);
    } finally {
      vi.useRealTimers();
    }
  });

  test("of a hundred resumes on three nodes one wins", async () => {
    const workflow = gated();
    const { node } = nodes(bench, workflow);
    const three = [node(), node(), node()];
    const [a] = three;
    const { executionId } = (await a?.execute(workflow.id, {})) ?? {};
    if (executionId === undefined) throw new Error("it did not start");
    const tries = Array.from({ length: 100 }, (_, index) =>
      three[index % 3]?.resume(workflow.id, executionId, index),
    );
    const results = await Promise.allSettled(tries);
    const won = results.filter(({ status }) => status === "fulfilled");
    expect(won).toHaveLength(1);
    expect(won[0]).toMatchObject({ value: { status: "completed", result: { runs: 1 } } });
  });

  test("a resume on one node of a branch that waits, while another runs elsewhere, reaches it there", async () => {
    const held = heldBody("held");
    const gate = andThen({ id: "gate", execute: ({ resumeData, suspend }) => resumeData ?? suspend() });
    const steps = [andThen({ id: "held", execute: held.execute }), gate];
    const workflow = flow().andAll({ id: "both", steps });
    const { node } = nodes(bench, workflow);
    const [a, b] = [node(), node()];
    const { executionId, result } = await a.start(workflow.id, {});
    await until(await attach(a, workflow.id, executionId), "step-suspended");
    const resumed = await b.startResume(workflow.id, executionId, "go on");
    await until(await attach(a, workflow.id, executionId), "workflow-resumed");
    held.finish();
    const completed = { status: "completed", result: ["held", "go on"] };
    expect(await Promise.all([result(), resumed.result()])).toMatchObject([completed, completed]);
    expect(held.runs).toBe(1);
  });

  test("a node that is overtaken stops the body that it runs", async () => {
    const { held, workflow } = heldFlow();
    const { join } = nodes(bench, workflow, { lease: 1000 });
    const frozen = mortalStore(bench.store);
    const a = bench.andanteWith({ store: join(frozen.store) }, workflow);
    const { executionId, result } = await a.start(workflow.id, {});
    const signal = await held.started;
    const aborted = abortOf(signal);
    const stream = await attach(a, workflow.id, executionId);
    await frozen.expire();
    const b = bench.andanteWith({ store: join() }, workflow);
    await b.ready();
    await aborted;
    held.finish();
    // The caller on the first node gets the result of the second.
    expect(await result()).toMatchObject({ status: "completed", result: "held after" });
    await until(stream, "workflow-result");
    expect(held.runs).toBe(2);
  });

  test("a node whose clock is wrong goes by that of the store", async () => {
    const workflow = flow().andSleep({ id: "nap", duration: 20 });
    const hour = 3_600_000;
    const join = sharedStore(bench.store, { clockOffset: hour });
    const node = bench.andanteWith({ store: join() }, workflow);
    const before = Date.now() + hour;
    const { startAt, endAt } = await node.execute(workflow.id, {});
    expect(Date.parse(startAt)).toBeGreaterThanOrEqual(before);
    expect(Date.parse(endAt ?? "") - Date.parse(startAt)).toBeGreaterThanOrEqual(20);
    expect(Date.parse(endAt ?? "")).toBeLessThanOrEqual(Date.now() + hour);
  });

  test("a journal's time does not run backwards on a node whose clock is behind", async () => {
    const gate = { execute: ({ resumeData, suspend }: StepContext) => resumeData ?? suspend() };
    const held = heldBody("held");
    const workflow = flow()
      .andThen({ id: "gate", ...gate })
      .andThen({ id: "held", execute: held.execute })
      .andThen({ id: "last", ...gate });
    const join = sharedStore(bench.store);
    const nodeAt = (offset: number) => bench.andanteWith({ store: join({}, offset) }, workflow);
    const [ahead, behind] = [nodeAt(60_000), nodeAt(0)];
    const timesOf = async (executionId: string) =>
      (await behind.events(workflow.id, executionId)).map(({ timestamp }) => Date.parse(timestamp));
    const ids: string[] = [];
    for (let count = 0; count < 2; count++) {
      const { executionId } = await ahead.execute(workflow.id, {});
      ids.push(executionId);
    }
    const [finished = "", cancelled = ""] = ids;
    // The first is continued there, paused, resumed and ended; the second is cancelled while it is suspended.
    const { result } = await behind.startResume(workflow.id, finished, "go on");
    await held.started;
    await behind.suspend(workflow.id, finished);
    held.finish();
    await behind.resume(workflow.id, finished);
    await result();
    const { endAt } = await behind.resume(workflow.id, finished, "done");
    await behind.cancel(workflow.id, cancelled);
    for (const executionId of ids) {
      const times = await timesOf(executionId);
      expect(times).toEqual(times.toSorted((one, other) => one - other));
    }
    expect(Date.parse(endAt ?? "")).toBe((await timesOf(finished)).at(-1));
    const { endAt: cancelledAt } = await behind.state(workflow.id, cancelled);
    expect(Date.parse(cancelledAt ?? "")).toBe((await timesOf(cancelled)).at(-1));
  });

  test("a resume on another node is noticed by an owner that commits all the time", async () => {
    let opened = false;
    const gate = andThen({
      id: "gate",
      execute: ({ resumeData, suspend }) => {
        if (resumeData === undefined) suspend();
        opened = true;
      },
    });
    const busy = andThen({
      id: "busy",
      execute: async ({ emit }) => {
        for (let count = 0; !opened; count++) {
          emit("count", count);
          await new Promise((resolve) => setTimeout(resolve, 5));
        }
      },
    });
    const workflow = flow().andAll({ id: "both", steps: [gate, busy] });
    const { node } = nodes(bench, workflow, { hints: false });
    const [a, b] = [node(), node()];
    const { executionId, result } = await a.start(workflow.id, {});
    await until(await attach(a, workflow.id, executionId), "step-suspended");
    await b.startResume(workflow.id, executionId, "open");
    expect(await result()).toMatchObject({ status: "completed" });
  });

  test("a journal that cannot be read when a resume has come is read again", async () => {
    const held = heldBody("held");
    const gate = andThen({ id: "gate", execute: ({ resumeData, suspend }) => resumeData ?? suspend() });
    const later = andThen({
      id: "later",
      execute: async (context) => {
        if (context.resumeData !== undefined) return context.resumeData;
        await held.execute(context);
        return context.suspend();
      },
    });
    const workflow = flow().andAll({ id: "both", steps: [gate, later] });
    const { join } = nodes(bench, workflow, { hints: false });
    const commit = heldOperation(bench.store.commit);
    let failures = 0;
    const events: Store["events"] = (query) => {
      if (failures > 0 && failures-- > 0)
        return Promise.reject(new StoreUnavailableError({ cause: new Error("the database is away") }));
      return bench.store.events(query);
    };
    const a = bench.andanteWith({ store: join({ commit: commit.run, events }) }, workflow);
    const b = bench.andanteWith({ store: join() }, workflow);
    const { executionId } = await a.start(workflow.id, {});
    await until(await attach(b, workflow.id, executionId), "step-suspended");
    commit.hold();
    held.finish();
    await commit.asked;
    const resumed = await b.startResume(workflow.id, executionId, 1, { stepId: "gate" });
    failures = 2;
    commit.release();
    expect(await resumed.result()).toMatchObject({ status: "suspended", suspension: { stepId: "later" } });
    const done = await b.resume(workflow.id, executionId, 2);
    expect(done).toMatchObject({ status: "completed", result: [1, 2] });
  });

  test("a node that is cut off from the store stops its executions when its lease has ended", async () => {
    const { held, workflow } = heldFlow();
    const { join } = nodes(bench, workflow, { lease: 1000 });
    let cut = false;
    const away = () =>
      Promise.reject(new StoreUnavailableError({ cause: new Error("the database is away") }));
    const a = bench.andanteWith(
      {
        store: join({
          heartbeat: (beat) => (cut ? away() : bench.store.heartbeat(beat)),
          heads: (ids) => (cut ? away() : bench.store.heads(ids)),
          claimAbandoned: (query) => (cut ? away() : bench.store.claimAbandoned(query)),
        }),
      },
      workflow,
    );
    const { executionId } = await a.start(workflow.id, {});
    const signal = await held.started;
    cut = true;
    await abortOf(signal);
    cut = false;
    held.finish();
    // There is no other node: this one continues it itself, under another name.
    const events = await collect(await attach(a, workflow.id, executionId));
    expect(events.at(-1)).toMatchObject({ type: "workflow-result", result: "held after" });
    expect(held.runs).toBe(2);
  });
});
