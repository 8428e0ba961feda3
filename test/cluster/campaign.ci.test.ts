// The short version of `npm run chaos:cluster`, and the proof that its checks can fail.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runCampaign } from "./campaign.ts";
import { checkAll } from "./checks.ts";
import { bodiesUntil, endOn, type Named, startOn } from "./client.ts";
import { Cluster } from "./cluster.ts";
import { disturbanceKinds } from "./disturbances.ts";
import { readRemains } from "./remains.ts";
import { readBodies } from "./side-log.ts";

const seed = Number(process.env.ANDANTE_CHAOS_SEED ?? Math.floor(Math.random() * 2 ** 31));

test(`nothing is lost, stuck or written twice (ANDANTE_CHAOS_SEED=${seed})`, {
  timeout: 240_000,
}, async () => {
  const { problems, disturbances } = await runCampaign({
    seed,
    executions: 300,
    clients: 20,
    lease: 2000,
    pause: [100, 600],
    patience: 60_000,
  });
  expect(problems).toEqual([]);
  // Each kind has happened while the nodes were at work.
  for (const kind of disturbanceKinds) expect([kind, disturbances[kind]]).not.toEqual([kind, 0]);
});

describe("a node that is frozen until others have taken over", () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await Cluster.start({ nodes: 2, lease: 1000 });
  }, 120_000);
  afterAll(() => cluster.remove(), 60_000);

  /** Freezes the node that runs some executions until the other one runs them, and returns the faults found at the end. */
  async function freezeAndCheck(prefix: string): Promise<string[]> {
    const all = [1, 2, 3, 4].map((n): Named => ({ workflowId: "long", executionId: `${prefix}-${n}` }));
    const [first, second] = [cluster.node(0), cluster.node(1)];
    const ran = (pid: number, steps: number) => (lines: { executionId: string; pid: number }[]) =>
      all.every(
        ({ executionId }) =>
          lines.filter((line) => line.executionId === executionId && line.pid === pid).length >= steps,
      );
    await Promise.all(all.map((named) => startOn(first, named, 100)));
    await bodiesUntil(cluster, ran(first.pid, 2));
    first.freeze();
    await bodiesUntil(cluster, ran(second.pid, 3));
    first.thaw();
    const ended = await endOn(second, all);
    return checkAll(ended, await readRemains(cluster.postgres.url), readBodies(cluster.log));
  }

  test("writes nothing more", { timeout: 120_000 }, async () => {
    expect(await freezeAndCheck("fenced")).toEqual([]);
  });

  test("is seen to write when the fence is removed", { timeout: 120_000 }, async () => {
    for (const place of [0, 1]) {
      await cluster.node(place).stop();
      await cluster.replace(place, { unfenced: true });
    }
    const problems = (await freezeAndCheck("unfenced")).join("\n");
    expect(problems).toContain("a stale write");
    expect(problems).toContain("has two outcomes");
  });
});
