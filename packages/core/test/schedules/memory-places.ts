// Databases in memory that outlive the processes which open them one after the other, as a file does.
import { afterEach } from "vitest";
import { memoryStore } from "../../src/index.ts";
import type { Store } from "../../src/store/store.ts";
import { wrapStore } from "../support/wrapped-store.ts";

/** Makes such databases; they are closed after the test. */
export function memoryPlaces(): () => () => Store {
  const made: Store[] = [];
  afterEach(async () => {
    for (const store of made.splice(0)) await store.close();
  });
  return () => {
    const store = memoryStore();
    let opening: Promise<void> | undefined;
    made.push(store);
    return () => wrapStore(store, { open: () => (opening ??= store.open()) });
  };
}
