// A start reads the schedules of its own code, not those of users.
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { createAndante, createWorkflow } from "../../src/index.ts";
import type { Store } from "../../src/store/store.ts";
import { TestClock } from "../../src/test-kit/test-clock.ts";
import { plainStore } from "../store/plain-store.ts";

test("a start with many schedules of users reads none of them", async () => {
  const store = plainStore();
  const read: string[] = [];
  const watched: Store = {
    ...store,
    schedules: {
      ...store.schedules,
      list: async (query) => {
        const rows = await store.schedules.list(query);
        read.push(...rows.map(({ scheduleId }) => scheduleId));
        return rows;
      },
    },
  };
  const open = (on: Store) => {
    const own = { own: { cron: "0 9 * * *", input: {} } };
    const tick = createWorkflow({ id: "tick", input: z.object({}), schedules: own }).andThen({
      id: "run",
      execute: () => 1,
    });
    const andante = createAndante({ workflows: { tick }, store: on, clock: new TestClock() });
    onTestFinished(() => andante.close({ grace: 0 }));
    return andante;
  };
  const first = open(store);
  for (let index = 0; index < 300; index++)
    await first.schedules.set(`user-${index}`, { workflowId: "tick", every: "1h", input: {} });
  await first.close({ grace: 0 });
  const second = open(watched);
  await second.ready();
  expect(read.filter((id) => !/^tick[:!]/.test(id)).length).toBeLessThanOrEqual(200);
  expect(await second.schedules.get("tick:own")).toMatchObject({ revision: 1 });
});
