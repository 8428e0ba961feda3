// The spans of several processes on one store: a follower at one sees those of all, once and in order.
import { describe, expect, test } from "vitest";
import type { Andante } from "../../src/andante/andante.ts";
import type { SpanEvent } from "../../src/observe/trace/tracing.ts";
import { andThen } from "../../src/workflow/steps/free-steps.ts";
import { sharedStore } from "../support/shared-store.ts";
import { flow, heldBody, onMemory } from "../support/test-andante.ts";

/** The spans of one execution that begin and end at this node from now on. */
function follow(andante: Andante) {
  const events: SpanEvent[] = [];
  const stop = andante.traces.follow((event) => events.push(event));
  const named = (executionId: string) =>
    events
      .filter(({ span }) => span.executionId === executionId)
      .map(({ type, span }) => `${type} ${span.name} ${span.spanId} ${span.endTime === null}`);
  return { events, named, stop };
}

const gate = andThen({ id: "gate", execute: ({ resumeData, suspend }) => resumeData ?? suspend() });

onMemory((bench) => {
  test("a run on one node is seen on the other as it is seen on its own", { timeout: 20_000 }, async () => {
    const inner = [andThen({ id: "one", execute: () => 1 }), andThen({ id: "two", execute: () => 2 })];
    const workflow = flow().andAll({ id: "both", steps: inner });
    const join = sharedStore(bench.store);
    const [a, b] = [0, 1].map(() => bench.andanteWith({ store: join() }, workflow));
    if (a === undefined || b === undefined) throw new Error("there are no nodes");
    await Promise.all([a.ready(), b.ready()]);
    const [own, other] = [follow(a), follow(b)];
    const { executionId } = await a.execute(workflow.id, {}, { userId: "ada" });
    expect(own.named(executionId)).toHaveLength(8);
    await expect.poll(() => other.named(executionId)).toEqual(own.named(executionId));
    expect(new Set(other.events.map(({ userId }) => userId))).toEqual(new Set(["ada"]));
    // Nothing is shown again, and nothing to a follower that has left.
    own.stop();
    other.stop();
    const [before, again] = [other.events.length, follow(b)];
    const next = await a.execute(workflow.id, {});
    await expect.poll(() => again.named(next.executionId)).toHaveLength(8);
    expect(again.named(executionId)).toEqual([]);
    expect(other.events).toHaveLength(before);
    again.stop();
  });

  describe.each([
    ["with hints", true],
    ["without hints, a little later", false],
  ])("%s", (_, hints) => {
    test("a run that moves from node to node is seen once on each", { timeout: 20_000 }, async () => {
      const held = heldBody("held");
      const workflow = flow()
        .andAll({ id: "both", steps: [gate, andThen({ id: "quick", execute: () => 1 })] })
        .andThen({ id: "held", execute: held.execute })
        .andAll({ id: "last", steps: [gate] });
      const join = sharedStore(bench.store, { hints });
      const nodes = [0, 1, 2].map(() => bench.andanteWith({ store: join() }, workflow));
      const [a, b, c] = nodes;
      if (a === undefined || b === undefined || c === undefined) throw new Error("there are no nodes");
      await Promise.all(nodes.map((node) => node.ready()));
      const seen = nodes.map(follow);
      const { executionId } = await a.execute(workflow.id, {});
      const { result } = await b.startResume(workflow.id, executionId, "go on");
      await held.started;
      held.finish();
      await result();
      await c.resume(workflow.id, executionId, "done");
      const spans = ["both", "both/gate", "both/quick", "held", "last", "last/gate"].map(
        (path) => `step ${path}`,
      );
      for (const { named, events } of seen) {
        await expect.poll(() => named(executionId)).toHaveLength(14);
        const ended = events.filter(
          ({ type, span }) => type === "span-end" && span.executionId === executionId,
        );
        expect(ended.map(({ span }) => span.name).toSorted()).toEqual([
          `invoke_workflow ${workflow.id}`,
          ...spans,
        ]);
        const ids = events
          .filter(({ span }) => span.executionId === executionId)
          .map((each) => `${each.type} ${each.span.spanId}`);
        expect(new Set(ids).size).toBe(ids.length);
      }
      for (const { stop } of seen) stop();
    });
  });

  test("spans that ended before a follower came are not shown, and spans open then are shown when they end", async () => {
    const held = heldBody("held");
    const workflow = flow()
      .andThen({ id: "first", execute: () => 1 })
      .andThen({ id: "held", execute: held.execute });
    const join = sharedStore(bench.store);
    const [a, b] = [0, 1].map(() => bench.andanteWith({ store: join() }, workflow));
    if (a === undefined || b === undefined) throw new Error("there are no nodes");
    const { executionId, result } = await a.start(workflow.id, {});
    await held.started;
    await b.ready();
    // The clock has to move: events that were committed in this millisecond may be shown.
    await expect.poll(() => Date.now()).toBeGreaterThan(Date.now());
    const other = follow(b);
    held.finish();
    await result();
    const names = () =>
      other.events
        .filter(({ span }) => span.executionId === executionId)
        .map(({ type, span }) => `${type} ${span.name}`);
    await expect.poll(names).toEqual(["span-end step held", `span-end invoke_workflow ${workflow.id}`]);
    other.stop();
  });

  test("a log line has the time of the clock that the processes share", async () => {
    const workflow = flow().andThen({ id: "say", execute: ({ logger }) => logger.info({}, "said") });
    const hour = 3_600_000;
    const node = bench.andanteWith({ store: sharedStore(bench.store, { clockOffset: hour })() }, workflow);
    const before = Date.now() + hour;
    const times: number[] = [];
    const { stop } = node.logs.follow(({ timestamp, id }) => times.push(timestamp, Math.floor(id / 1000)));
    await node.execute(workflow.id, {});
    stop();
    expect(times.length).toBeGreaterThan(0);
    for (const time of times) expect(time).toBeGreaterThanOrEqual(before);
  });
});
