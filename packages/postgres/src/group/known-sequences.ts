// The last known sequence of each execution that this process runs, for fast commits.

/** More are forgotten: they are read again when they are written to. */
const maxKnown = 20_000;

export class KnownSequences {
  readonly #sequences = new Map<string, number>();

  of(executionId: string): number | undefined {
    return this.#sequences.get(executionId);
  }

  /** `sequence`: undefined when this process does not run it any more. */
  note(executionId: string, sequence: number | undefined): void {
    if (sequence === undefined) return void this.#sequences.delete(executionId);
    if (this.#sequences.size >= maxKnown) this.#sequences.clear();
    this.#sequences.set(executionId, sequence);
  }
}
