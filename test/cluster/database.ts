// The database of a campaign: a PostgreSQL server behind a proxy, with the faults of a network and fail-overs that lose
// commits.
import { setTimeout as wait } from "node:timers/promises";
import {
  freePort,
  type PostgresServer,
  startPostgres,
} from "../../packages/postgres/test/postgres-server.ts";
import { startStandby } from "../../packages/postgres/test/standby-server.ts";
import { type SwitchingProxy, startProxy } from "../../packages/postgres/test/switching-proxy.ts";
import { type Loss, lossBetween } from "./loss.ts";
import { readRemains } from "./remains.ts";

export class CampaignDatabase {
  readonly proxy: SwitchingProxy;
  /** The commits that each fail-over lost. */
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

  /** The primary. */
  get server(): PostgresServer {
    return this.#server;
  }

  /** For the nodes: through the proxy. */
  get url(): string {
    const { url, port } = this.#server;
    return url.replace(`:${port}/`, `:${this.proxy.port}/`);
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
