// Watches the store: one line in the log when trouble begins, one when it ends, one when a part of it was replaced.
import type { Logger } from "../observe/log/logger.ts";
import type { Store, StoreHealth } from "../store/store.ts";

/** Milliseconds between two looks. */
const period = 5000;

export class StoreWatch {
  readonly #store: Store;
  readonly #logger: Logger;
  #timer: NodeJS.Timeout | undefined;
  #looking = false;
  #problem: string | null = null;
  #restarts = 0;

  constructor(store: Store, logger: Logger) {
    this.#store = store;
    this.#logger = logger;
  }

  start(): void {
    this.#timer = setInterval(() => {
      if (this.#looking) return;
      this.#looking = true;
      this.look().finally(() => {
        this.#looking = false;
      });
    }, period).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** How the store is; what has changed since the last look goes to the log. */
  async look(): Promise<StoreHealth> {
    const health = await this.#store.health();
    if (this.#timer !== undefined) this.#report(health);
    return health;
  }

  #report({ problem, restarts }: StoreHealth): void {
    const store = this.#store.location;
    if (restarts.count > this.#restarts) {
      this.#logger.error({ store, reason: restarts.reason }, "a database thread died and was started again");
      this.#restarts = restarts.count;
    }
    if (problem === this.#problem) return;
    if (problem !== null) this.#logger.error({ store, problem }, "the store is in trouble");
    else this.#logger.info({ store }, "the store is well again");
    this.#problem = problem;
  }
}
