// How many items of a list, or rounds of a loop, are under way at once.
import { type Steps, treeAt } from "./tree.ts";

export class Concurrency {
  readonly #steps: Steps;
  /** How many functions run inside each item, by the path of the list and the item's number. */
  readonly #running = new Map<string, Map<number, number>>();

  constructor(steps: Steps) {
    this.#steps = steps;
  }

  /** A function starts; the result reports when that makes too many. */
  enter(path: string): string | undefined {
    let problem: string | undefined;
    for (const [container, index] of iterations(path)) {
      const items = this.#running.get(container) ?? new Map<number, number>();
      this.#running.set(container, items.set(index, (items.get(index) ?? 0) + 1));
      const tree = treeAt(this.#steps, container);
      const limit = tree?.kind === "forEach" ? tree.concurrency : 1;
      if (items.size > limit)
        problem = `${items.size} items of ${container} run at once, its limit is ${limit}`;
    }
    return problem;
  }

  leave(path: string): void {
    for (const [container, index] of iterations(path)) {
      const items = this.#running.get(container);
      const left = (items?.get(index) ?? 0) - 1;
      if (left > 0) items?.set(index, left);
      else items?.delete(index);
    }
  }
}

/** The lists and loops around a path, each with the number of the item. */
function* iterations(path: string): Generator<readonly [container: string, index: number]> {
  // The calls of an agent are numbered after the mark.
  const [place = ""] = path.split("#");
  for (const { index, 1: number } of place.matchAll(/\[(\d+)\]/g))
    yield [place.slice(0, index), Number(number)];
}
