// The listeners to other processes, also before the store is open.
import type { ClusterListener } from "@andante/core/store";

export class Listeners implements ClusterListener {
  readonly #listeners = new Set<ClusterListener>();

  /** Returns a function that ends it. */
  add(listener: ClusterListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  wrote(executionIds: ReadonlySet<string> | undefined): void {
    for (const listener of this.#listeners) listener.wrote(executionIds);
  }

  offered(): void {
    for (const listener of this.#listeners) listener.offered();
  }

  stop(executionId: string): void {
    for (const listener of this.#listeners) listener.stop(executionId);
  }
}
