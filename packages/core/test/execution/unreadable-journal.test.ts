// A journal with events that this release does not know: a later one wrote them. Nothing is used up by trying.
import { expect, test } from "vitest";
import type { StoredEvent } from "../../src/store/stored-event.ts";
import { flow, onMemory } from "../support/test-andante.ts";
import { wrapStore } from "../support/wrapped-store.ts";

onMemory((bench) => {
  test("a resume is refused before it is written, and works with a release that can read the journal", async () => {
    const workflow = flow().andThen({
      id: "gate",
      execute: ({ suspend, resumeData }) => resumeData ?? suspend("why"),
    });
    const first = bench.andante(workflow);
    const { executionId } = await first.execute(workflow.id, {});
    await first.close();

    const later = (event: StoredEvent) =>
      event.sequence === 2 ? { ...event, type: "step-foreseen" } : event;
    const store = wrapStore(bench.store, {
      events: async (query) => (await bench.store.events(query)).map(later),
    });
    const older = bench.andanteWith({ store }, workflow);
    for (let time = 1; time <= 2; time++) {
      await expect(older.resume(workflow.id, executionId, "yes")).rejects.toMatchObject({
        code: "unknown-event",
      });
    }
    expect(await older.state(workflow.id, executionId)).toMatchObject({
      status: "suspended",
      suspension: { reason: "why" },
    });
    await older.close();

    expect(await bench.andante(workflow).resume(workflow.id, executionId, "yes")).toMatchObject({
      status: "completed",
      result: "yes",
    });
  });
});
