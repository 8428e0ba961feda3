// Executions that could not be loaded lately: they are left out for a while, so that they do not keep out newer ones.

/** Milliseconds until one is tried again, and how many are remembered. */
const retryAfter = 60_000;
const maxFailed = 1000;

export class FailedLoads {
  /** With the time when they are tried again. */
  readonly #failed = new Map<string, number>();

  /** False when there is no room to remember it. */
  add(executionId: string): boolean {
    if (this.#failed.size >= maxFailed) return false;
    this.#failed.set(executionId, performance.now() + retryAfter);
    return true;
  }

  lately(): readonly string[] {
    const now = performance.now();
    for (const [executionId, until] of this.#failed) if (until <= now) this.#failed.delete(executionId);
    return [...this.#failed.keys()];
  }
}
