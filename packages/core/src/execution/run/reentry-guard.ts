// Detects an execution that runs a body again and again without a new event: it would occupy the process for ever.
import type { AbortScope } from "../body/abort-scope.ts";

/**
 * So many runs in a row without a new event are the most. A run that ends without an outcome normally leaves an event: the
 * suspension, the failed attempt of a checkpoint, or the pause that interrupted it. Only two resumes that come at once, or
 * a clock that is set back, lead to one or two runs without.
 */
export const maxRunsWithoutEvent = 20;

export class ReentryGuard {
  /** Runs since the event of this number, by path. */
  readonly #runs = new Map<string, number>();
  #sequence = 0;
  #last: { readonly path: string; readonly scope: AbortScope } | undefined;

  /** The path whose last run has ended, unless its branch has lost since. */
  get stuckAt(): string | undefined {
    return this.#last?.scope.closed === false ? this.#last.path : undefined;
  }

  /** A run of this path has ended without an outcome; `sequence` is the execution's last event. True: it was the last. */
  isLast(path: string, sequence: number, scope: AbortScope): boolean {
    if (sequence !== this.#sequence) this.#runs.clear();
    this.#sequence = sequence;
    const runs = (this.#runs.get(path) ?? 0) + 1;
    this.#runs.set(path, runs);
    if (runs < maxRunsWithoutEvent) return false;
    this.#last = { path, scope };
    return true;
  }
}
