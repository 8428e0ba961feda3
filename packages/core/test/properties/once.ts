// Tools and checkpoints that have done their work: in one life, and unless the execution goes back, none does it again.
export class Once {
  /** How often the work of each path was done, and how often the execution had gone back when it began. */
  readonly #done = new Map<string, { readonly rewinds: number; readonly times: number }>();

  done(path: string, rewinds: number): void {
    const known = this.#done.get(path);
    this.#done.set(path, { rewinds, times: known?.rewinds === rewinds ? known.times + 1 : 1 });
  }

  /** Why it must not be done now; undefined when it may. `runs`: how often it may be done. */
  objection(path: string, rewinds: number, runs: number): string | undefined {
    const known = this.#done.get(path);
    if (known?.rewinds !== rewinds || known.times < runs) return undefined;
    return `${path} does its work again, without a crash`;
  }
}
