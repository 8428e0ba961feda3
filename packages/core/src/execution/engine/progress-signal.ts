// Notifies waiting code of progress.

export class ProgressSignal {
  #next: PromiseWithResolvers<void> | undefined;

  /** Resolves with the next progress. */
  next(): Promise<void> {
    this.#next ??= Promise.withResolvers<void>();
    return this.#next.promise;
  }

  notify(): void {
    this.#next?.resolve();
    this.#next = undefined;
  }
}
