// Paths by the containers around them: finds the paths inside a container without a search through all of them.
import { containersOf } from "../../values/step-path.ts";

/** A search through all of them made ten thousand sleeps at once take quadratic time: 2.8 of 6.5 s. */
export class PathsBelow {
  /** Made for the first path: in most executions nothing waits. */
  #below: Map<string, Set<string>> | undefined;

  add(path: string): void {
    this.#below ??= new Map();
    for (const container of containersOf(path)) {
      const paths = this.#below.get(container);
      if (paths === undefined) this.#below.set(container, new Set([path]));
      else paths.add(path);
    }
  }

  delete(path: string): void {
    if (this.#below === undefined) return;
    for (const container of containersOf(path)) {
      const paths = this.#below.get(container);
      paths?.delete(path);
      if (paths?.size === 0) this.#below.delete(container);
    }
  }

  /** The paths inside this container, at any depth; a copy. */
  of(container: string): readonly string[] {
    return [...(this.#below?.get(container) ?? [])];
  }
}
