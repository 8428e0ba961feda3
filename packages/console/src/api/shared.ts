// A value outside of the components: components that use it are rendered again when it changes.
import { useSyncExternalStore } from "react";

export class Shared<T> {
  #value: T;
  readonly #listeners = new Set<() => void>();

  constructor(value: T) {
    this.#value = value;
  }

  readonly get = (): T => this.#value;

  set(value: T): void {
    this.#value = value;
    for (const listener of this.#listeners) listener();
  }

  /** Calls the listener each time the value is set, until the returned function is called. */
  readonly follow = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };
}

export function useShared<T>({ follow, get }: Shared<T>): T {
  return useSyncExternalStore(follow, get);
}
