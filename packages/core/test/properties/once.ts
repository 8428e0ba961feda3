// Tools and checkpoints that have done their work: in one life, and unless the execution goes back, none does it again.
export class Once {
  /** How often the execution had gone back when the work began, by its path. */
  readonly #done = new Map<string, number>();

  done(path: string, rewinds: number): void {
    this.#done.set(path, rewinds);
  }

  objection(path: string, rewinds: number): string | undefined {
    return this.#done.get(path) === rewinds ? `${path} does its work again, without a crash` : undefined;
  }
}
