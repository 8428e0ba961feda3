// The database of a campaign: a PostgreSQL server behind a proxy, with the faults of a network and fail-overs that lose
// commits.
import { setTimeout as wait } from "node:timers/promises";
import { freePort } from "../../examples/cluster/src/free-ports.ts";
import type { Random } from "../../packages/core/test/support/random.ts";
import { type PostgresServer, startPostgres } from "../../packages/postgres/test/postgres-server.ts";
import { startStandby } from "../../packages/postgres/test/standby-server.ts";
import { type SwitchingProxy, startProxy } from "../../packages/postgres/test/switching-proxy.ts";
import { type Disturbances, downTime } from "./disturbances.ts";
import { type Loss, lossBetween } from "./loss.ts";
import { type Remains, readRemains } from "./remains.ts";

/** The store of a campaign, as its checks see it. */
export interface CheckedStore {
  /** The commits that each fail-over lost. */
  readonly losses: readonly Loss[];
  remains(): Promise<Map<string, Remains>>;
}

export class CampaignDatabase implements CheckedStore {
  readonly proxy: SwitchingProxy;
  readonly losses: Loss[] = [];
  #server: PostgresServer;
  readonly #removed: PostgresServer[] = [];

  private constructor(server: PostgresServer, proxy: SwitchingProxy) {
    this.#server = server;
    this.proxy = proxy;
  }

  static async start(): Promise<CampaignDatabase> {
    const server = await startPostgres({ max_connections: 100 });
    return new CampaignDatabase(server, await startProxy(server.port));
  }

  remains(): Promise<Map<string, Remains>> {
    return readRemains(this.#server.url);
  }

  disturbances(random: Random, lease: number): Disturbances {
    const startLater = async () => {
      await wait(downTime(random, lease));
      await this.#server.start();
    };
    return {
      restart: async () => {
        await this.#server.stop();
        await startLater();
      },
      crash: async () => {
        await this.#server.crash();
        await startLater();
      },
      // The database keeps its ends for as long as a machine that is gone would hold their locks.
      silence: async () => this.proxy.silence(lease * 3),
      slowCommit: async () => this.proxy.slowCommits(random.integer(1, 10), random.integer(50, lease * 1.2)),
      failOver: () => this.failOver(random.integer(50, 500)),
    };
  }

  /** For the nodes: through the proxy. */
  get place(): { readonly url: string } {
    const { url, port } = this.#server;
    return { url: url.replace(`:${port}/`, `:${this.proxy.port}/`) };
  }

  /**
   * Replaces the primary by an asynchronous replica that lacks the last milliseconds of it, and records the lost
   * commits.
   */
  async failOver(lag: number): Promise<void> {
    const old = this.#server;
    const link = await startProxy(old.port);
    const standby = await startStandby(old, { synchronous: false, port: link.port });
    link.silence();
    await wait(lag);
    // The old primary is unreachable now; its acknowledged commits can be read.
    this.proxy.switchTo(await freePort());
    const before = await readRemains(old.url);
    old.kill();
    this.#removed.push(old);
    await standby.promote();
    await link.close();
    this.losses.push(lossBetween(before, await readRemains(standby.url)));
    this.#server = standby;
    this.proxy.switchTo(standby.port);
  }

  async remove(): Promise<void> {
    await this.proxy.close();
    for (const server of [this.#server, ...this.#removed]) await server.remove();
  }
}
