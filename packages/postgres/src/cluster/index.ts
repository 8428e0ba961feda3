// The other processes on the same schema: notifies them of the writes of this one, and listens to theirs.
import { createHash } from "node:crypto";
import type { ClusterListener } from "@andante/core/store";
import type { ConnectSettings } from "../connection/client.ts";
import { Connection } from "../connection/connection.ts";
import type { Servers } from "../connection/servers.ts";
import { HintListener } from "./listener.ts";
import { HintSender } from "./sender.ts";

export interface HintsOptions {
  /** With a timeout that a connection which was cut in silence may take to be found. */
  readonly connect: ConnectSettings;
  /** Where to listen; undefined: nowhere. */
  readonly listenServers: Servers | undefined;
  /** The name of the schema. */
  readonly schema: string;
  /** Names this process. */
  readonly node: string;
  /** Listens to the others. */
  readonly listener: ClusterListener;
}

export class Hints {
  readonly #sender: HintSender;
  readonly #listener: HintListener;

  constructor({ connect, listenServers, schema, node, listener }: HintsOptions) {
    // A name of PostgreSQL has 63 bytes at most, and so may the schema's have.
    const channel = `andante_${createHash("sha256").update(schema).digest("hex").slice(0, 32)}`;
    this.#sender = new HintSender({ connection: new Connection(connect), channel, sender: node });
    this.#listener = new HintListener({
      connect: listenServers && { ...connect, servers: listenServers },
      channel,
      sender: node,
      listener,
      ready: () => this.#sender.joined(),
      sawOthers: () => this.#sender.sawOthers(),
    });
  }

  /** Listens from now on. */
  start = (): void => this.#listener.start();
  askToStop = (executionId: string): void => this.#sender.askToStop(executionId);
  wrote = (executionIds: readonly string[]): void => this.#sender.wrote(executionIds);
  offered = (): void => this.#sender.offered();
  sawOthers = (): void => this.#sender.sawOthers();

  async close(): Promise<void> {
    await Promise.all([this.#sender.close(), this.#listener.close()]);
  }
}
