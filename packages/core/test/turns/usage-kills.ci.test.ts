// Rows of usage equal the log of the provider after hundreds of crashes at random writes.
import { expect, test } from "vitest";
import { openStore } from "./processes.ts";
import { budgetOf, chat, crashing, rowsOf, whole, wholeBudget, workflow } from "./usage-processes.ts";

test("200 crashes at random writes leave rows and a budget that equal the log of the provider", {
  timeout: 240_000,
}, async () => {
  const store = await openStore();
  let seed = 7;
  const random = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor(seed / 65_536) % below;
  };
  let kills = 0;
  for (let run = 0; kills < 200; run++) {
    const id = `run-${run}`;
    const next = () => {
      const write = 1 + random(4);
      // Each process makes some progress: an execution that makes none is ended after five of them.
      const isLost = write > 1 && random(2) === 0;
      return { write, variant: isLost ? ("lost" as const) : ("unacknowledged" as const) };
    };
    const { log, lost, kills: more } = await crashing(store, run % 2 === 0 ? chat : workflow, id, next);
    kills += more;
    expect(await rowsOf(store, id), id).toEqual(whole);
    expect(await budgetOf(store, id), id).toEqual({ used: wholeBudget, held: 0 });
    expect(new Set(log.map(({ agent, step }) => `${agent} ${step}`)).size, id).toBe(4);
    expect(log.length - 4, id).toBeLessThanOrEqual(lost);
  }
});
