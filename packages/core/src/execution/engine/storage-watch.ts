// Watches the storage: one line when trouble begins and one when it ends, however often something is tried meanwhile.
//
// Trouble is what fails as unavailable, and commits that nobody replies to: a store that waits for room on its disk
// refuses new work and lets what runs wait, so an hour without new work would otherwise pass in silence.
import { StoreUnavailableError } from "../../errors/index.ts";
import type { Logger } from "../../observe/log/logger.ts";
import type { Metrics } from "../../observe/metrics.ts";
import { withTimeout } from "../../values/with-timeout.ts";

/** Milliseconds between two looks at the commits in flight, and those that a store has to reply to a probe. */
const lookPeriod = 1000;
const patience = 2000;
/** Milliseconds without a failure after which a heartbeat that succeeds ends the trouble: no commit may come for long. */
const quietPeriod = 30_000;

interface Trouble {
  readonly since: number;
  latest: number;
  failures: number;
}

export class StorageWatch {
  readonly #logger: Logger;
  readonly #metrics: Metrics;
  #trouble: Trouble | undefined;
  #timer: NodeJS.Timeout | undefined;
  #probing = false;
  #inFlight = 0;
  #replies = 0;
  /** How many replies there had been at the last look. */
  #seen = -1;

  constructor(logger: Logger, metrics: Metrics) {
    this.#logger = logger;
    this.#metrics = metrics;
    metrics.gauge(
      "storage_in_trouble",
      "1 while the storage is in trouble: runs wait, starts are refused",
      () => (this.#trouble === undefined ? 0 : 1),
    );
  }

  /** `probe` is a small write that a store in trouble refuses. */
  start(probe: () => Promise<void>): void {
    this.#timer ??= setInterval(() => this.#look(probe), lookPeriod).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** A commit was sent. */
  sent(): void {
    this.#inFlight++;
  }

  /** The store has replied to it, in whatever way. */
  replied(): void {
    this.#inFlight--;
    this.#replies++;
  }

  /** Something new was written. */
  wrote(): void {
    if (this.#trouble !== undefined) this.#end(this.#trouble);
  }

  /** The storage works, but may refuse what takes more room. */
  alive(): void {
    const trouble = this.#trouble;
    if (trouble !== undefined && Date.now() - trouble.latest >= quietPeriod) this.#end(trouble);
  }

  /** True when the call failed because of the storage: then it is told here, and nowhere else. */
  failed(error: unknown): boolean {
    if (!(error instanceof StoreUnavailableError)) return false;
    this.#metrics.storageFailed();
    this.#begin(error);
    return true;
  }

  #begin(err: unknown): void {
    const now = Date.now();
    if (this.#trouble !== undefined) {
      this.#trouble.failures++;
      this.#trouble.latest = now;
      return;
    }
    this.#trouble = { since: now, latest: now, failures: 1 };
    this.#logger.error(
      { err },
      "the storage is in trouble: runs wait and starts are refused until it is over",
    );
  }

  #end({ since, failures }: Trouble): void {
    this.#trouble = undefined;
    const seconds = Math.round((Date.now() - since) / 100) / 10;
    this.#logger.warn({ seconds, failures }, "the storage works again: runs continue");
  }

  /** Commits are in flight and none was replied to since the last look: asks the store what is the matter. */
  #look(probe: () => Promise<void>): void {
    const stalled = this.#inFlight > 0 && this.#replies === this.#seen;
    this.#seen = this.#inFlight > 0 ? this.#replies : -1;
    if (!stalled || this.#probing || this.#trouble !== undefined) return;
    this.#probing = true;
    withTimeout(probe(), patience, { keepAlive: false })
      .then(({ timedOut }) => {
        if (timedOut && this.#inFlight > 0) this.#begin(new Error("the store does not reply"));
      })
      .catch((error: unknown) => this.failed(error))
      .finally(() => (this.#probing = false));
  }
}
