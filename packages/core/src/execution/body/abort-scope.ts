// A tree of abort signals: bodies inside a branch are aborted with it. A signal is made when a body reads it.

export class AbortScope {
  /** Made for the first one: most scopes have none. */
  #children: Set<AbortScope> | undefined;
  readonly #parent: AbortScope | undefined;
  #controller: AbortController | undefined;
  #reason: unknown;
  /** Nothing that happens inside counts any more. Set before the signal is aborted. */
  closed = false;

  constructor(parent?: AbortScope) {
    this.#parent = parent;
    if (parent === undefined) return;
    parent.#children ??= new Set();
    parent.#children.add(this);
    this.closed = parent.closed;
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#reason !== undefined) this.#controller.abort(this.#reason);
    return this.#controller.signal;
  }

  /** From now on nothing inside counts. */
  close(): void {
    this.closed = true;
    for (const child of this.#children ?? []) child.close();
  }

  /** Aborts the signals inside; a body that ignores them keeps running, but its result is discarded. */
  abort(reason: Error): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    this.#controller?.abort(reason);
    for (const child of this.#children ?? []) child.abort(reason);
    this.leave();
  }

  /** The branch has ended by itself. */
  leave(): void {
    if (this.#parent !== undefined) this.#parent.#children?.delete(this);
  }
}
