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
  /** Milliseconds between two looks. */
  readonly period: number;
  /** Milliseconds that a claim outlives the last sign of life of its owner. */
  readonly lease: number;
}

/** Recoveries without any progress after which an execution is given up. */
const mostRecoveries = 5;
/** Recoveries without any progress after which an execution may be what ends the process: it is run apart from others. */
const suspectAfter = 2;
const claimedAtOnce = 100;

export class Recovery {
  readonly #engine: Engine;
  readonly #options: RecoveryOptions;
  #timer: NodeJS.Timeout | undefined;
  #round: Promise<void> | undefined;
  #looks = true;
  /** A suspect runs here and has not yet ended, gone idle or outlived the lease. */
  #watching = false;

  constructor(engine: Engine, options: RecoveryOptions) {
    this.#engine = engine;
    this.#options = options;
  }

  /** Announces this process and looks once; then again and again until `stop`. */
  async start(): Promise<void> {
    await this.#beat();
    await this.look();
    this.#timer = setInterval(() => this.#startRound(), this.#options.period).unref();
  }

  /** Looks no more; what runs here still needs the signs of life. */
  async stopLooking(): Promise<void> {
    this.#looks = false;
    await this.#round;
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#round;
  }

  /** Loads what is abandoned, as much as there is room for. */
  async look(): Promise<void> {
    for (let more = true; more; ) {
      const limit = Math.min(claimedAtOnce, this.#engine.room);
      const taken = await this.#claim(limit, false);
      // What could not be loaded was released: it waits for the next round.
      more = taken.length > 0 && taken.length === limit && !taken.includes(false);
    }
    await this.#lookForSuspect();
  }

  /**
   * Suspects are loaded one at a time, so that an execution that ends its process does not make the others that run
   * beside it look as if they did: they would be given up with it.
   */
  async #lookForSuspect(): Promise<void> {
    while (!this.#watching && this.#looks) {
      const taken = await this.#claim(Math.min(1, this.#engine.room), true);
      if (taken.length === 0 || taken.includes(false)) return;
    }
  }

  /** Waits until the suspect has ended, gone idle or outlived the lease, then looks for the next. */
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
      if (this.#looks) this.#startRound();
    });
    return {
      // The next round looks again, not this one: it would find the same execution at once.
      cancel: () => {
        cancelled = true;
        stopWatching();
      },
    };
  }

  /** Claims and loads; tells for each whether that worked. */
  async #claim(limit: number, suspects: boolean): Promise<boolean[]> {
    const { owner, workflows, store } = this.#engine;
    const workflowIds = [...workflows.keys()];
    if (limit <= 0 || workflowIds.length === 0) return [];
    const claimed = await store.claimAbandoned({ owner, workflowIds, limit, suspects, suspectAfter });
    return Promise.all(claimed.map(({ row, token }) => this.#load(row, token, suspects)));
  }

  #startRound(): void {
    this.#round ??= this.#beatAndLook().finally(() => (this.#round = undefined));
  }

  async #beatAndLook(): Promise<void> {
    try {
      await this.#beat();
      if (this.#looks) await this.look();
    } catch (err) {
      this.#engine.logger.warn({ err }, "failed to look for abandoned executions; trying again later");
    }
  }

  #beat(): Promise<void> {
    return this.#engine.store.heartbeat({ owner: this.#engine.owner, lease: this.#options.lease });
  }

  /** False when it could not be loaded. One that cannot does not hold up the others, or the process. */
  async #load(row: ExecutionRow, token: string, suspect: boolean): Promise<boolean> {
    const { executionId, workflowId, recoveries } = row;
    const { logger } = this.#engine;
    let watch: { cancel(): void } | undefined;
    try {
      // A paused one starts nothing, so it ends no process: it is loaded to go idle, and judged when it runs again.
      if (recoveries > mostRecoveries && !row.paused) await this.#giveUp(row, token);
      else {
        if (suspect) watch = this.#watch(executionId);
        logger.info(
          { executionId, workflowId, recoveries },
          "recovering an execution where its journal ends",
        );
        await this.#engine.load(executionId, this.#engine.workflow(workflowId), token);
        this.#engine.observation.recovered(workflowId);
      }
      return true;
    } catch (err) {
      // It does not run here, so the next suspect need not wait for it.
      watch?.cancel();
      logger.error({ executionId, workflowId, err }, "failed to recover an abandoned execution");
      return false;
    }
  }

  async #giveUp(row: ExecutionRow, token: string): Promise<void> {
    const { executionId, workflowId, stepIndex } = row;
    const engine = this.#engine;
    const failure = toFailure(new CrashLoopError({ recoveries: mostRecoveries }));
    const ending = endingOf({ kind: "error", error: failure }, engine.clock.now());
    engine.logger.error({ executionId, workflowId }, "giving up an execution that ends its process");
    const { commit } = buildEnding({ executionId, token, stepIndex }, ending);
    const { kind, sequence } = await engine.store.commit(commit);
    if (kind !== "ok") return;
    engine.publish(row, numberEvents([ending.event], sequence));
    engine.waiters.settle(executionId, ending.settlement);
  }
}
