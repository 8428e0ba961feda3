// Recovery: loads executions that have work to do and no live owner, at start and on a period.
import { CrashLoopError } from "../../errors/index.ts";
import { numberEvents } from "../../journal/events.ts";
import { toFailure } from "../../journal/failure.ts";
import type { ClaimedExecution } from "../../store/store.ts";
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
/** Executions whose journals are read at the same time: each may be megabytes, and they come from one reader. */
const loadedAtOnce = 8;
/** Milliseconds until one that could not be loaded is tried again, and how many such are remembered. */
const retryAfter = 60_000;
const maxFailed = 1000;

export class Recovery {
  readonly #engine: Engine;
  readonly #options: RecoveryOptions;
  #timer: NodeJS.Timeout | undefined;
  #round: Promise<void> | undefined;
  #polling = true;
  /** A suspect runs here and has not yet ended, gone idle or outlived the lease. */
  #watching = false;
  /** Executions that could not be loaded, with the time when they are tried again: they do not keep out newer ones. */
  readonly #failed = new Map<string, number>();

  constructor(engine: Engine, options: RecoveryOptions) {
    this.#engine = engine;
    this.#options = options;
  }

  /** Announces this process and polls once, then periodically until `stop`. */
  async start(): Promise<void> {
    await this.#beat();
    await this.poll();
    this.#timer = setInterval(() => this.#startRound(), this.#options.period).unref();
  }

  /** Stops polling; heartbeats continue for what still runs here. */
  async stopPolling(): Promise<void> {
    this.#polling = false;
    await this.#round;
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#round;
  }

  /** Loads what is abandoned, as much as there is room for. */
  async poll(): Promise<void> {
    for (let more = true; more; ) {
      const limit = Math.min(claimedAtOnce, this.#engine.room);
      const taken = await this.#claim(limit, false);
      more = taken.length > 0 && taken.length === limit;
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
      if (taken.length === 0) return;
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
    const except = this.#failedLately();
    const claimed = await store.claimAbandoned({ owner, workflowIds, limit, suspects, suspectAfter, except });
    const loaded: boolean[] = [];
    const rest = claimed.values();
    const loadNext = async () => {
      for (const { row, token } of rest) loaded.push(await this.#load(row, token, suspects));
    };
    await Promise.all(Array.from({ length: loadedAtOnce }, loadNext));
    return loaded;
  }

  #failedLately(): readonly string[] {
    const now = performance.now();
    for (const [executionId, until] of this.#failed) if (until <= now) this.#failed.delete(executionId);
    return [...this.#failed.keys()];
  }

  #startRound(): void {
    this.#round ??= this.#beatAndPoll().finally(() => (this.#round = undefined));
  }

  async #beatAndPoll(): Promise<void> {
    try {
      await this.#beat();
      if (this.#polling) await this.poll();
    } catch (err) {
      this.#engine.logger.warn({ err }, "failed to poll for abandoned executions; trying again later");
    }
  }

  #beat(): Promise<void> {
    return this.#engine.store.heartbeat({ owner: this.#engine.owner, lease: this.#options.lease });
  }

  /** False when it could not be loaded. One that cannot does not hold up the others, or the process. */
  async #load(row: ClaimedExecution, token: string, suspect: boolean): Promise<boolean> {
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
      if (this.#failed.size < maxFailed) this.#failed.set(executionId, performance.now() + retryAfter);
      logger.error({ executionId, workflowId, err }, "failed to recover an abandoned execution");
      return false;
    }
  }

  async #giveUp({ executionId, workflowId, stepIndex }: ClaimedExecution, token: string): Promise<void> {
    const engine = this.#engine;
    const state = await engine.store.state(executionId);
    if (state === undefined) return;
    const failure = toFailure(new CrashLoopError({ recoveries: maxRecoveries }));
    const ending = endingOf({ kind: "error", error: failure }, engine.clock.now());
    engine.logger.error(
      { executionId, workflowId },
      "giving up on an execution that keeps crashing its process",
    );
    const { commit } = buildEnding({ executionId, token, stepIndex }, ending);
    const { kind, sequence } = await engine.store.commit(commit);
    if (kind !== "ok") return;
    engine.publish(state.execution, numberEvents([ending.event], sequence));
    engine.waiters.settle(executionId, ending.settlement);
  }
}
