import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { TurnoverMap } from "./turnover-map.ts";

describe("a map whose entries come and go", () => {
  it("holds the entries set and not deleted, in the order in which they came, across many renewals", () => {
    const map = new TurnoverMap<number, string>();
    const plain = new Map<number, string>();
    for (let key = 0; key < 5000; key++) {
      map.set(key, `value ${key}`);
      plain.set(key, `value ${key}`);
      // Fifty at a time, and every seventh stays.
      const old = key - 50;
      if (old % 7 !== 0) expect(map.delete(old)).toBe(plain.delete(old));
    }
    expect(map.size).toBe(plain.size);
    expect(map.keys()).toEqual([...plain.keys()]);
    expect(map.oldest()).toBe(0);
    expect(map.values()).toEqual([...plain.values()]);
    expect(map.get(7)).toBe("value 7");
    expect(map.has(8)).toBe(false);
    expect(map.delete(8)).toBe(false);
  });

  it("replaces the value of a key", () => {
    const map = new TurnoverMap<string, number>();
    for (let value = 0; value < 100; value++) map.set("same", value);
    expect(map.values()).toEqual([99]);
  });

  it("is empty after it was cleared", () => {
    const map = new TurnoverMap<string, number>();
    map.set("one", 1);
    map.clear();
    expect([map.size, map.get("one"), map.keys()]).toEqual([0, undefined, []]);
  });

  it("lets collections of the young generation take removed entries", () => {
    setFlagsFromString("--expose-gc");
    const collect: (options?: { type: "minor" }) => void = runInNewContext("gc");
    const map = new TurnoverMap<number, readonly number[]>();
    let next = 0;
    const turnOver = (count: number) => {
      for (const end = next + count; next < end; next++) {
        map.set(next, new Array(128).fill(next));
        map.delete(next - 50);
      }
    };
    turnOver(100);
    // The entries of the map are old from here on.
    collect();
    const before = getHeapStatistics().used_heap_size;
    // Twenty megabytes, of which fifty kilobytes are in the map at a time. A plain Map keeps more than half of it.
    for (let round = 0; round < 20; round++) {
      turnOver(1000);
      collect({ type: "minor" });
    }
    expect(getHeapStatistics().used_heap_size - before).toBeLessThan(4_000_000);
  });
});
