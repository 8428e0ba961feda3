// Recovery: loads executions that have work to do and no live owner, at start and on a period.
import { CrashLoopError } from "../../errors/index.ts";
import { numberEvents } from "../../journal/events.ts";
import { toFailure } from "../../journal/failure.ts";
import type { ExecutionRow } from "../../store/store.ts";
import { withTimeout } from "../../values/with-timeout.ts";
import { buildEnding } from "../run/build-commit.ts";
import { endingOf } from "../run/settlement.ts";
import type { Engine } from "./engine.ts";

export interface RecoveryOptions {
  /** Milliseconds between two polls. */
  readonly period: number;
  /** Milliseconds that a claim outlives its owner's last heartbeat. */
  readonly lease: number;
}

/** Recoveries without any progress after which an execution is given up. */
const maxRecoveries = 5;
/** Recoveries without any progress after which an execution may be what crashes the process: it is run alone. */
const suspectAfter = 2;
const claimedAtOnce = 100;

export class Recovery {
  readonly #engine: Engine;
  readonly #options: RecoveryOptions;
  #timer: NodeJS.Timeout | undefined;
  #round: Promise<void> | undefined;
  #polling = true;
  /** A suspect runs here and has not yet ended, gone idle or outlived the lease. */
  #watching = false;

  constructor(engine: Engine, options: RecoveryOptions) {
    this.#engine = engine;
    this.#options = options;
  }

  /** Announces this process and polls once, then periodically until `stop`. */
  async start(): Promise<void> {
    await this.#beat();
    await this.poll();
    if (!this.#polling) return;
    this.#engine.storage.start(() => this.#beat());
    this.#timer = setInterval(() => this.#startRound(), this.#options.period).unref();
  }

  /** Stops polling; heartbeats continue for what still runs here. */
  async stopPolling(): Promise<void> {
    this.#polling = false;
    await this.#round;
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#engine.storage.stop();
    await this.#round;
  }

  /** Loads what is abandoned, as much as there is room for. */
  async poll(): Promise<void> {
    for (let more = true; more; ) {
      const limit = Math.min(claimedAtOnce, this.#engine.room);
      const taken = await this.#claim(limit, false);
      // What could not be loaded was released: it waits for the next round.
      more = taken.length > 0 && taken.length === limit && !taken.includes(false);
    }
    await this.#loadSuspects();
  }

  /**
   * Suspects are loaded one at a time, so that an execution that crashes its process does not put the blame on those
   * that run beside it: they would be given up with it.
   */
  async #loadSuspects(): Promise<void> {
    while (!this.#watching && this.#polling) {
      const taken = await this.#claim(Math.min(1, this.#engine.room), true);
      if (taken.length === 0 || taken.includes(false)) return;
    }
  }

  /** Waits until the suspect has ended, gone idle or outlived the lease, then polls for the next. */
  #watch(executionId: string): { cancel(): void } {
    this.#watching = true;
    const wait = this.#engine.waiters.wait(executionId);
    let cancelled = false;
    const stopWatching = () => {
      wait.cancel();
      this.#watching = false;
    };
    withTimeout(wait.settled, this.#options.lease, { keepAlive: false }).then(() => {
      if (cancelled) return;
      stopWatching();
      if (this.#polling) this.#startRound();
    });
    return {
      // The next round looks again, not this one: it would find the same execution at once.
      cancel: () => {
        cancelled = true;
        stopWatching();
      },
    };
  }

  /** Claims and loads; returns for each whether that worked. */
  async #claim(limit: number, suspects: boolean): Promise<boolean[]> {
    const { owner, workflows, store } = this.#engine;
    const workflowIds = [...workflows.keys()];
    if (limit <= 0 || workflowIds.length === 0) return [];
    const claimed = await store.claimAbandoned({ owner, workflowIds, limit, suspects, suspectAfter });
    return Promise.all(claimed.map(({ row, token }) => this.#load(row, token, suspects)));
  }

  #startRound(): void {
    this.#round ??= this.#beatAndPoll().finally(() => (this.#round = undefined));
  }

  async #beatAndPoll(): Promise<void> {
    try {
      await this.#beat();
      if (this.#polling) await this.poll();
    } catch (err) {
      const { storage, logger } = this.#engine;
      if (!storage.failed(err))
        logger.warn({ err }, "failed to poll for abandoned executions; trying again later");
    }
  }

  async #beat(): Promise<void> {
    const { store, owner, storage } = this.#engine;
    await store.heartbeat({ owner, lease: this.#options.lease });
    storage.alive();
  }

  /** False when it could not be loaded. One that cannot does not hold up the others, or the process. */
  async #load(row: ExecutionRow, token: string, suspect: boolean): Promise<boolean> {
    const { executionId, workflowId, recoveries } = row;
    const { logger } = this.#engine;
    let watch: { cancel(): void } | undefined;
    try {
      // A paused one starts nothing, so it crashes no process: it is loaded to go idle, and judged when it runs again.
      if (recoveries > maxRecoveries && !row.paused) await this.#giveUp(row, token);
      else {
        if (suspect) watch = this.#watch(executionId);
        logger.info({ executionId, workflowId, recoveries }, "recovering an abandoned execution");
        await this.#engine.load(executionId, this.#engine.workflow(workflowId), token);
        this.#engine.observation.recovered(workflowId);
      }
      return true;
    } catch (err) {
      // It does not run here, so the next suspect need not wait for it.
      watch?.cancel();
      if (!this.#engine.storage.failed(err))
        logger.error({ executionId, workflowId, err }, "failed to recover an abandoned execution");
      return false;
    }
  }

  async #giveUp(row: ExecutionRow, token: string): Promise<void> {
    const { executionId, stepIndex } = row;
    const engine = this.#engine;
    const failure = toFailure(new CrashLoopError({ recoveries: maxRecoveries }));
    const ending = endingOf({ kind: "error", error: failure }, engine.clock.now());
    const timers = (await engine.store.state(executionId))?.timers ?? [];
    const clear = timers.map(({ path }) => path);
    const { commit } = buildEnding({ executionId, token, stepIndex }, ending, clear);
    const { kind, sequence } = await engine.store.commit(commit);
    if (kind !== "ok") return;
    engine.publish(row, numberEvents([ending.event], sequence), stepIndex);
    engine.waiters.settle(executionId, ending.settlement);
  }
}
