// Tells whoever waits that something has got on.

export class ProgressSignal {
  #next: PromiseWithResolvers<void> | undefined;

  /** Resolves the next time that something gets on. */
  next(): Promise<void> {
    this.#next ??= Promise.withResolvers<void>();
    return this.#next.promise;
  }

  gotOn(): void {
    this.#next?.resolve();
    this.#next = undefined;
  }
}
