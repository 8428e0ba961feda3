// The heartbeat: a body may take longer than the lease of its process, and still runs once.
import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, expect, test, vi } from "vitest";
import { execution } from "../../src/store-cases/store-cases.ts";
import { flow, heldBody, onMemory } from "../support/test-andante.ts";
import { wrapStore } from "../support/wrapped-store.ts";

/** Milliseconds that a claim outlives its last heartbeat here; half a minute in production. */
const lease = 1000;

afterEach(() => {
  vi.useRealTimers();
});

onMemory((bench) => {
  test("continues while a body runs, so that no other process takes its execution over", async () => {
    // Time between two heartbeats passes when the test advances it; the store's own clock is the real one.
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const store = wrapStore(bench.store, {
      heartbeat: ({ owner }) => bench.store.heartbeat({ owner, lease }),
    });
    const held = heldBody("done");
    const workflow = flow().andThen({ id: "long", execute: held.execute });
    const first = bench.andanteWith({ store }, workflow);
    const { result } = await first.start(workflow.id, {});
    await held.started;

    // Someone whose heart stopped when the body began: once its execution can be claimed, that lease is over.
    const silent = { owner: `silent-${workflow.id}`, workflowId: `silent-${workflow.id}` };
    await bench.store.heartbeat({ owner: silent.owner, lease });
    const claim = { owner: silent.owner, token: "t" };
    await bench.store.create(execution({ executionId: silent.owner, workflowId: silent.workflowId, claim }));
    const claimed = () =>
      bench.store.claimAbandoned({
        owner: "other",
        key: randomUUID(),
        workflowIds: [silent.workflowId],
        limit: 1,
        suspects: false,
        suspectAfter: 2,
      });
    while ((await claimed()).length === 0) {
      vi.advanceTimersByTime(10_000);
      await pause(20);
    }

    const second = bench.andanteWith({ store }, workflow);
    await second.ready();
    expect(held.runs).toBe(1);
    held.finish();
    expect(await result()).toMatchObject({ status: "completed", result: "done" });
    expect(held.runs).toBe(1);
  });
});
