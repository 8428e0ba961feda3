// Notifications between the processes that share a store.

/** Hears of the other processes. Called from within the store: it must neither throw nor take long. */
export interface NeighbourListener {
  /** They have written to these executions; undefined: notifications of recent writes may be lost. */
  wrote(executionIds: ReadonlySet<string> | undefined): void;
  /** One of them stops and leaves its executions and timers to a process that looks for work. */
  offered(): void;
  /** One of them asks the owner of this turn to stop it. */
  stop(executionId: string): void;
}

/**
 * The other processes that use the same store. All of it is hints: some may be lost, so a process that needs to know reads the
 * store from time to time as well.
 */
export interface Neighbours {
  /** Milliseconds after which a process that has gone silent is taken over. */
  readonly lease: number;
  /** Milliseconds that the store's clock is ahead of `performance.timeOrigin + performance.now()`, as far as is known. */
  readonly clockOffset: number;
  /** Passes notifications to `listener` from now on, until the returned function is called. */
  listen(listener: NeighbourListener): () => void;
  /** Asks whichever process runs this turn to stop it. It may be lost: look whether the turn ends, and ask again. */
  askToStop(executionId: string): void;
}
