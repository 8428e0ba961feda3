// Recovery: takes up executions that have work to do and no live owner, at start and on a period.
import { CrashLoopError } from "../errors/index.ts";
import type { ExecutionRow } from "../store/store.ts";
import type { Engine } from "./engine.ts";
import { executionEvent } from "./events.ts";
import { toFailure } from "./failure.ts";

export interface RecoveryOptions {
  /** Milliseconds between two looks. */
  readonly period: number;
  /** Milliseconds that a claim outlives the last sign of life of its owner. */
  readonly lease: number;
}

/** Recoveries without any progress after which an execution is given up. */
const mostRecoveries = 5;
const claimedAtOnce = 100;

export class Recovery {
  readonly #engine: Engine;
  readonly #options: RecoveryOptions;
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> = Promise.resolve();

  constructor(engine: Engine, options: RecoveryOptions) {
    this.#engine = engine;
    this.#options = options;
  }

  /** Announces this process and looks once; then again and again until `stop`. */
  async start(): Promise<void> {
    await this.#beat();
    await this.look();
    this.#timer = setInterval(() => {
      this.#looking = this.#round();
    }, this.#options.period);
    this.#timer.unref();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#looking;
  }

  /** Takes up what is abandoned, as much as there is room for. */
  async look(): Promise<void> {
    const engine = this.#engine;
    const workflowIds = [...engine.workflows.keys()];
    for (;;) {
      const limit = Math.min(claimedAtOnce, engine.room);
      if (limit <= 0 || workflowIds.length === 0) return;
      const claimed = await engine.store.claimAbandoned({ owner: engine.owner, workflowIds, limit });
      await Promise.all(claimed.map(({ row, token }) => this.#takeUp(row, token)));
      if (claimed.length < limit) return;
    }
  }

  async #round(): Promise<void> {
    try {
      await this.#beat();
      await this.look();
    } catch (err) {
      this.#engine.logger.warn({ err }, "looking for abandoned executions failed; trying again later");
    }
  }

  #beat(): Promise<void> {
    return this.#engine.store.heartbeat({ owner: this.#engine.owner, lease: this.#options.lease });
  }

  async #takeUp(row: ExecutionRow, token: string): Promise<void> {
    const { executionId, workflowId, recoveries } = row;
    if (recoveries > mostRecoveries) return this.#giveUp(row, token);
    this.#engine.logger.info(
      { executionId, workflowId, recoveries },
      "taking up an execution where its journal ends",
    );
    await this.#engine.takeUp(executionId, this.#engine.workflow(workflowId), token);
  }

  async #giveUp(row: ExecutionRow, token: string): Promise<void> {
    const { executionId, stepIndex } = row;
    const error = JSON.stringify(toFailure(new CrashLoopError({ recoveries: mostRecoveries })));
    const event = executionEvent("workflow-error", error);
    this.#engine.logger.error(
      { executionId, workflowId: row.workflowId },
      "giving up an execution that ends its process",
    );
    await this.#engine.store.commit({
      executionId,
      token,
      events: [],
      open: [],
      following: [event],
      closeBelow: [],
      stepIndex,
      end: { status: "error", result: null, error },
      rest: null,
    });
  }
}
