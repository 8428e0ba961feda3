// Notifications between the processes that share a store.

/** Receives notifications of the other processes. Called by the store: it must neither throw nor take long. */
export interface ClusterListener {
  /** They have written to these executions; undefined: notifications of recent writes may be lost. */
  wrote(executionIds: ReadonlySet<string> | undefined): void;
  /** One of them stops and leaves its executions and timers to a process that looks for work. */
  offered(): void;
  /** One of them asks the owner of this turn to stop it. */
  stop(executionId: string): void;
}

/**
 * The channel between the processes that use the same store. Notifications may be lost, so a process that depends on
 * one also reads the store from time to time.
 */
export interface ClusterChannel {
  /** Milliseconds after which a process that has gone silent is taken over. */
  readonly lease: number;
  /** Milliseconds that the store's clock is ahead of `performance.timeOrigin + performance.now()`, as far as is known. */
  readonly clockOffset: number;
  /** Passes notifications to `listener` from now on, until the returned function is called. */
  listen(listener: ClusterListener): () => void;
  /** Asks the owner of this turn to stop it. The request may be lost: check whether the turn ends, and repeat it. */
  askToStop(executionId: string): void;
}
