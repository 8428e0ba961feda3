// Watches the storage: one line when trouble begins and one when it ends, however often it is noticed.
//
// Trouble is a problem that the store reports (a full disk, a file that was removed), an operation that fails as
// unavailable, or a commit without a reply: a store that waits for room on its disk refuses new work and lets running
// work wait, so an hour without new work would otherwise pass without a log line.
import { StoreUnavailableError } from "../../errors/index.ts";
import type { Logger } from "../../observe/log/logger.ts";
import type { Metrics } from "../../observe/metrics.ts";
import type { Store, StoreHealth } from "../../store/store.ts";
import type { Clock } from "../../values/clock.ts";
import { withTimeout } from "../../values/with-timeout.ts";

/** Milliseconds between two checks of the commits in flight, and those in which a store must reply to a probe. */
const checkPeriod = 1000;
const patience = 2000;
/** Asks the store for its health at every fifth check. */
const checksPerHealthRead = 5;
/**
 * Milliseconds that a caller waits for the store's health; then it gets the last one, at most a few seconds old. The probe of
 * an orchestrator often waits for one second only, and must not end a process whose store has a full queue.
 */
const healthTime = 250;
/** Milliseconds without a failure after which a heartbeat that succeeds ends the trouble: no commit may come for long. */
const quietPeriod = 30_000;

interface Trouble {
  readonly since: number;
  failures: number;
}

export class StorageWatch {
  readonly #store: Store;
  readonly #logger: Logger;
  readonly #metrics: Metrics;
  readonly #clock: Pick<Clock, "now">;
  #trouble: Trouble | undefined;
  /** When something failed last; undefined when something was written since. */
  #failedAt: number | undefined;
  /** The last health that the store reported. */
  #health: StoreHealth | undefined;
  /** The question that is under way. */
  #asked: Promise<StoreHealth> | undefined;
  #restarts = 0;
  #timer: NodeJS.Timeout | undefined;
  #checks = 0;
  #probing = false;
  #inFlight = 0;
  #replies = 0;
  /** How many replies there had been at the last look. */
  #seen = -1;

  constructor(store: Store, logger: Logger, metrics: Metrics, clock: Pick<Clock, "now">) {
    this.#store = store;
    this.#logger = logger;
    this.#metrics = metrics;
    this.#clock = clock;
    metrics.gauge(
      "storage_in_trouble",
      "1 while the storage is in trouble: runs wait, starts are refused, or what is written may be lost",
      () => (this.#trouble === undefined ? 0 : 1),
    );
  }

  /** `probe` is a small write that a store in trouble refuses. */
  start(probe: () => Promise<void>): void {
    this.#timer ??= setInterval(() => {
      this.#checkCommits(probe);
      if (++this.#checks % checksPerHealthRead === 0) this.#askAgain();
    }, checkPeriod).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** The health of the store. Changes since the last question go to the log. */
  async health(): Promise<StoreHealth> {
    const asked = this.#ask();
    if (this.#health === undefined) return asked;
    const { value = this.#health } = await withTimeout(asked, healthTime, { keepAlive: false });
    return value;
  }

  /** A commit was sent. */
  sent(): void {
    this.#inFlight++;
  }

  /** The store has replied to it. */
  replied(): void {
    this.#inFlight--;
    this.#replies++;
  }

  /** Something new was written. */
  wrote(): void {
    if (this.#failedAt === undefined) return;
    this.#failedAt = undefined;
    // A problem that the store reported may have ended too; its next report decides.
    if ((this.#health?.problem ?? null) === null && this.#asked === undefined) this.#end();
    else this.#askAgain();
  }

  /** The storage works, but may refuse writes that need more space. */
  alive(): void {
    if (this.#failedAt !== undefined && this.#clock.now() - this.#failedAt >= quietPeriod) this.wrote();
  }

  /** True when the call failed because of the storage: then the failure is logged here, and only here. */
  failed(error: unknown): boolean {
    if (!(error instanceof StoreUnavailableError)) return false;
    this.#metrics.storageFailed();
    this.#fail(error);
    return true;
  }

  #fail(err: unknown): void {
    const first = this.#failedAt === undefined;
    this.#failedAt = this.#clock.now();
    this.#begin({ err }, "runs wait and starts are refused until it is over").failures++;
    // A file that is as good as full stays in trouble also when something small finds room.
    if (first) this.#askAgain();
  }

  #report({ problem, restarts }: StoreHealth): void {
    if (restarts.count > this.#restarts) {
      const { reason } = restarts;
      this.#logger.error(
        { store: this.#store.location, reason },
        "a database thread died and was started again",
      );
      this.#restarts = restarts.count;
    }
    if (problem !== null) this.#begin({}, problem);
    else if (this.#failedAt === undefined) this.#end();
  }

  #begin(fields: object, what: string): Trouble {
    if (this.#trouble === undefined) {
      this.#trouble = { since: this.#clock.now(), failures: 0 };
      const store = this.#store.location;
      this.#logger.error({ store, ...fields }, `the storage is in trouble: ${what}`);
    }
    return this.#trouble;
  }

  #end(): void {
    if (this.#trouble === undefined) return;
    const { since, failures } = this.#trouble;
    this.#trouble = undefined;
    const seconds = Math.round((this.#clock.now() - since) / 100) / 10;
    const store = this.#store.location;
    this.#logger.warn({ store, seconds, failures }, "the storage works again: runs continue");
  }

  #askAgain(): void {
    if (this.#timer !== undefined) void this.#ask();
  }

  /** Asks the store, unless a question is under way. */
  #ask(): Promise<StoreHealth> {
    this.#asked ??= this.#readHealth().finally(() => {
      this.#asked = undefined;
    });
    return this.#asked;
  }

  async #readHealth(): Promise<StoreHealth> {
    const health = await this.#store.health();
    // A store that is not yet open or is being closed is not in trouble.
    if (this.#timer === undefined) return health;
    this.#health = health;
    this.#report(health);
    return health;
  }

  /** Commits are in flight and none has a reply since the last check: asks the store for its health. */
  #checkCommits(probe: () => Promise<void>): void {
    const stalled = this.#inFlight > 0 && this.#replies === this.#seen;
    this.#seen = this.#inFlight > 0 ? this.#replies : -1;
    if (!stalled || this.#probing || this.#trouble !== undefined) return;
    this.#probing = true;
    withTimeout(probe(), patience, { keepAlive: false })
      .then(({ timedOut }) => {
        if (timedOut && this.#inFlight > 0) this.#fail(new Error("the store does not reply"));
      })
      .catch((error: unknown) => this.failed(error))
      .finally(() => (this.#probing = false));
  }
}
