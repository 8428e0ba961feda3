// What the processes that share a store tell each other.

/** Hears of the other processes. Called from within the store: it must neither throw nor take long. */
export interface NeighbourListener {
  /** They have written to these executions; undefined: what they wrote lately may not have been heard. */
  wrote(executionIds: ReadonlySet<string> | undefined): void;
  /** One of them stops and leaves what it ran, or what would have fallen due there, to whoever looks for work. */
  offered(): void;
  /** One of them asks whoever runs this turn to stop it. */
  stop(executionId: string): void;
}

/**
 * The other processes that use the same store. All of it is hints: some may be lost, so whoever needs to know reads the
 * store from time to time as well.
 */
export interface Neighbours {
  /** Milliseconds after which a process that has gone silent is taken over. */
  readonly lease: number;
  /** Milliseconds that the store's clock is ahead of `performance.timeOrigin + performance.now()`, as far as is known. */
  readonly clockOffset: number;
  /** Tells `listener` what is heard from now on, until the function that it returns is called. */
  listen(listener: NeighbourListener): () => void;
  /** Asks whichever process runs this turn to stop it. It may be lost: look whether the turn ends, and ask again. */
  askToStop(executionId: string): void;
}
