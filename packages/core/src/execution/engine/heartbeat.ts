// The heartbeat of this process: keeps its claims alive. It has a timer of its own, so that nothing that takes long delays
// it, and it notices when it came too late: then others may run the executions of this process.
import type { Logger } from "../../observe/log/logger.ts";
import type { Store } from "../../store/store.ts";
import type { Claims } from "./claims.ts";
import type { StorageWatch } from "./storage-watch.ts";

/** The parts of the process that the heartbeat uses. */
export interface HeartbeatOwner {
  readonly store: Store;
  readonly storage: StorageWatch;
  readonly logger: Logger;
  readonly claims: Pick<Claims, "owner" | "announced">;
  readonly describe: () => object;
}

export interface HeartbeatTimes {
  /** Milliseconds that a claim outlives its owner's last heartbeat. */
  readonly lease: number;
  /** Milliseconds between two heartbeats. */
  readonly period: number;
}

const blocked =
  "a body blocked the event loop for longer than the lease, or the process was frozen: other processes take over what it ran, and a body that blocks moves from one to the next";

export class Heartbeat {
  readonly #owner: HeartbeatOwner;
  readonly #times: HeartbeatTimes;
  readonly #leaseEnded: () => void;
  #timer: NodeJS.Timeout | undefined;
  #beating = false;
  /** When the timer fired last. */
  #ticked = performance.now();
  /** When the last successful heartbeat was sent, by the monotonic clock. */
  #repliedAt = performance.now();

  /** `leaseEnded`: executions that run here may be taken over by now. */
  constructor(owner: HeartbeatOwner, times: HeartbeatTimes, leaseEnded: () => void) {
    this.#owner = owner;
    this.#leaseEnded = leaseEnded;
    this.#times = times;
  }

  async beat(): Promise<void> {
    const { store, claims, storage, describe } = this.#owner;
    const { owner } = claims;
    const sent = performance.now();
    await store.heartbeat({ owner, lease: this.#times.lease, about: JSON.stringify(describe()) });
    claims.announced(owner);
    this.#repliedAt = Math.max(this.#repliedAt, sent);
    storage.alive();
  }

  start(): void {
    this.#ticked = performance.now();
    this.#timer ??= setInterval(() => void this.#tick(), this.#times.period).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  async #tick(): Promise<void> {
    const { storage, logger, store } = this.#owner;
    const { lease, period } = this.#times;
    const now = performance.now();
    const blockedFor = Math.round(now - this.#ticked - period);
    this.#ticked = now;
    // A process that has the store to itself is not taken over.
    if (store.clusterChannel !== undefined && now - this.#repliedAt > lease) {
      this.#repliedAt = now;
      // Two heartbeats fit into the rest of the lease: a shorter block did not end the lease alone.
      if (blockedFor > lease - 2 * period) logger.warn({ blockedFor, lease }, blocked);
      this.#leaseEnded();
    }
    if (this.#beating) return;
    this.#beating = true;
    try {
      await this.beat();
    } catch (err) {
      if (!storage.failed(err)) logger.warn({ err }, "the heartbeat of this process failed; trying again");
    } finally {
      this.#beating = false;
    }
  }
}
