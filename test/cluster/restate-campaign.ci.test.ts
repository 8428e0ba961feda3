// The short version of `npm run chaos:cluster -- --restate`, and the proof that its checks can fail.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runCampaign } from "./campaign.ts";
import { Cluster } from "./cluster.ts";
import { freezeAndCheck } from "./freeze-and-check.ts";
import { CampaignServers } from "./restate-servers.ts";

const seed = Number(process.env.ANDANTE_CHAOS_SEED ?? Math.floor(Math.random() * 2 ** 31));

test(`nothing is lost, stuck or written twice on three Restate servers (ANDANTE_CHAOS_SEED=${seed})`, {
  timeout: 600_000,
}, async () => {
  const { problems, disturbances } = await runCampaign({
    store: "restate",
    seed,
    executions: 40,
    clients: 10,
    lease: 5000,
    pause: [100, 600],
    patience: 60_000,
  });
  expect(problems).toEqual([]);
  // Each kind has happened while the nodes were at work.
  const kinds = ["kill", "stop", "freeze", "killServer", "freezeServer", "killBoth"];
  expect(Object.keys(disturbances)).toEqual(kinds);
  expect(Object.values(disturbances)).not.toContain(0);
});

describe("a node that is frozen until others have taken over", () => {
  let servers: CampaignServers;
  let cluster: Cluster;
  beforeAll(async () => {
    servers = await CampaignServers.start();
    cluster = await Cluster.start({ nodes: 2, lease: 5000, ...servers.place });
  });
  afterAll(async () => {
    await cluster?.remove();
    await servers?.remove();
  });

  test("writes nothing more", async () => {
    expect(await freezeAndCheck(cluster, "fenced", () => servers.remains())).toEqual([]);
  });

  test("is seen to write when the fence is removed", async () => {
    for (const place of [0, 1]) {
      await cluster.node(place).stop();
      await cluster.replace(place, { unfenced: true });
    }
    const problems = (await freezeAndCheck(cluster, "unfenced", () => servers.remains())).join("\n");
    expect(problems).toContain("a stale write");
    expect(problems).toContain("has two outcomes");
  });
});
