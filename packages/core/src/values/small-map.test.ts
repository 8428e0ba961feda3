import { expect, test } from "vitest";
import { createRandom } from "../../test/support/random.ts";
import { SmallMap } from "./small-map.ts";

/** The same operations on a Map must come to the same. */
test("it is a map, whatever is set and removed in whatever order", () => {
  const random = createRandom(7);
  for (let round = 0; round < 200; round++) {
    const small = new SmallMap<string, number>();
    const map = new Map<string, number>();
    for (let step = 0; step < 50; step++) {
      const key = `k${random.integer(0, 3)}`;
      if (random.chance(0.5)) {
        small.set(key, step);
        map.set(key, step);
      } else {
        small.delete(key);
        map.delete(key);
      }
      expect(small.size).toBe(map.size);
      expect(small.values()).toEqual([...map.values()]);
      for (const each of ["k0", "k1", "k2", "k3"]) expect(small.get(each)).toBe(map.get(each));
    }
  }
});
