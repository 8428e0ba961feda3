// An index of paths by container, for containers that can end before the execution: rounds, items, and functions beside
// a body.
import { parentPath } from "../values/step-path.ts";

const none: readonly string[] = [];

export class PathsInside {
  /** Made for the first of them: many executions have none. */
  #inside: Map<string, string[]> | undefined;

  constructor(paths: Iterable<string>, further: Iterable<string> = none) {
    for (const path of paths) this.add(path);
    for (const path of further) this.add(path);
  }

  add(path: string): void {
    if (!isNumbered(path)) return;
    this.#inside ??= new Map();
    let child = path;
    for (let parent = parentPath(path); parent !== null; parent = parentPath(parent)) {
      const children = this.#inside.get(parent);
      if (children !== undefined) {
        children.push(child);
        return;
      }
      this.#inside.set(parent, [child]);
      child = parent;
    }
  }

  /** All paths inside this step, at any depth; some of them twice. */
  *of(path: string): Iterable<string> {
    for (const child of this.#inside?.get(path) ?? none) {
      yield child;
      yield* this.of(child);
    }
  }

  /** Takes out all paths inside this step, at any depth. */
  takeStep(path: string): readonly string[] {
    if (this.#inside?.has(path) !== true) return none;
    const taken: string[] = [];
    this.#take(path, taken);
    return taken;
  }

  /** The same for a round of a loop, which is not a step. */
  takeRound(loop: string, round: string): readonly string[] {
    const rounds = this.#inside?.get(loop);
    const place = rounds?.indexOf(round) ?? -1;
    if (place !== -1) rounds?.splice(place, 1);
    return this.takeStep(round);
  }

  #take(path: string, taken: string[]): void {
    const children = this.#inside?.get(path);
    if (children === undefined) return;
    this.#inside?.delete(path);
    for (const child of children) {
      taken.push(child);
      this.#take(child, taken);
    }
  }
}

/**
 * True for a path in a round or an item, and for a function beside a body. Of others there are only as many as the
 * workflow has steps.
 */
export function isNumbered(path: string): boolean {
  return path.includes("[") || path.includes("#");
}
