// The short version of `npm run chaos:cluster`, and the proof that its checks can fail.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runCampaign } from "./campaign.ts";
import { Cluster } from "./cluster.ts";
import { freezeAndCheck } from "./freeze-and-check.ts";
import { readRemains } from "./remains.ts";

const seed = Number(process.env.ANDANTE_CHAOS_SEED ?? Math.floor(Math.random() * 2 ** 31));

test(`nothing is lost, stuck or written twice (ANDANTE_CHAOS_SEED=${seed})`, {
  timeout: 600_000,
}, async () => {
  const { problems, disturbances } = await runCampaign({
    store: "postgres",
    seed,
    executions: 300,
    clients: 20,
    lease: 2000,
    pause: [100, 600],
    patience: 60_000,
  });
  expect(problems).toEqual([]);
  // Each kind has happened while the nodes were at work.
  expect(Object.keys(disturbances)).toHaveLength(8);
  expect(Object.values(disturbances)).not.toContain(0);
});

describe("a node that is frozen until others have taken over", () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await Cluster.start({ nodes: 2, lease: 1000 });
  });
  afterAll(() => cluster.remove());

  const remains = () => readRemains(cluster.postgres.url);

  test("writes nothing more", async () => {
    expect(await freezeAndCheck(cluster, "fenced", remains)).toEqual([]);
  });

  test("is seen to write when the fence is removed", async () => {
    for (const place of [0, 1]) {
      await cluster.node(place).stop();
      await cluster.replace(place, { unfenced: true });
    }
    const problems = (await freezeAndCheck(cluster, "unfenced", remains)).join("\n");
    expect(problems).toContain("a stale write");
    expect(problems).toContain("has two outcomes");
  });
});
