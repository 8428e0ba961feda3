// The database's machine is lost and its synchronous replica becomes the primary, under load: no acknowledged write is
// lost, and the nodes heal by themselves.
import { afterAll, beforeAll, expect, test } from "vitest";
import { createRandom } from "../../packages/core/test/support/random.ts";
import { type PostgresServer, startPostgres } from "../../packages/postgres/test/postgres-server.ts";
import { type StandbyServer, startStandby } from "../../packages/postgres/test/standby-server.ts";
import { type SwitchingProxy, startProxy } from "../../packages/postgres/test/switching-proxy.ts";
import { call, errorOf, postOf } from "../support/responses.ts";
import { checkAll } from "./checks.ts";
import { Cluster } from "./cluster.ts";
import { runLoad } from "./load.ts";
import { readRemains } from "./remains.ts";
import { readBodies } from "./side-log.ts";

let primary: PostgresServer;
let standby: StandbyServer;
let proxy: SwitchingProxy;
let cluster: Cluster;
beforeAll(async () => {
  primary = await startPostgres({ max_connections: 100 });
  standby = await startStandby(primary);
  proxy = await startProxy(primary.port);
  const url = primary.url.replace(`:${primary.port}/`, `:${proxy.port}/`);
  cluster = await Cluster.start({ nodes: 2, lease: 2000, url });
});
afterAll(async () => {
  await cluster.remove();
  await proxy.close();
  await standby.remove();
  await primary.remove();
});

test("a fail-over under load loses nothing that was acknowledged; meanwhile callers get 503, and the nodes heal", {
  timeout: 300_000,
}, async () => {
  let isOver = false;
  let ended = 0;
  const before = Promise.withResolvers<void>();
  const loaded = runLoad({
    cluster,
    random: createRandom(1),
    executions: 60,
    more: () => !isOver,
    clients: 20,
    patience: 120_000,
    onEnd: () => {
      if (++ended === 30) before.resolve();
    },
  });
  await before.promise;
  primary.kill();
  const [node] = cluster.nodes;
  const health = async () => (await call(`${node?.url}/health`)).status;
  await expect.poll(health, { timeout: 60_000 }).toBe(503);
  const refused = await call(
    `${node?.url}/workflows/chain/execute`,
    postOf({ input: { n: 1, work: 0 } }, {}),
  );
  errorOf(refused, 503);
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  await standby.promote();
  proxy.switchTo(standby.port);
  for (const each of cluster.nodes) {
    const healthOf = async () => (await call(`${each.url}/health`)).status;
    await expect.poll(healthOf, { timeout: 60_000 }).toBe(200);
  }
  const then = ended;
  await expect.poll(() => ended, { timeout: 60_000 }).toBeGreaterThan(then + 20);
  isOver = true;
  const started = await loaded;
  expect(checkAll(started, await readRemains(standby.url), readBodies(cluster.log))).toEqual([]);
});
