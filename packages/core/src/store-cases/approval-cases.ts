// The cases that the approvals of every store must pass.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Store } from "../store/store.ts";

export function approvalCases(name: string, makeStore: () => Store): void {
  describe(`${name} as a store of approvals`, () => {
    let store: Store;
    beforeAll(async () => {
      store = makeStore();
      await store.open();
    });
    afterAll(() => store.close());

    const use = (approval: string, at: number, expiresAt = 2_000, key: string = randomUUID()) =>
      store.approvals.use({ key, approval, expiresAt, at });

    test("an approval is used once", async () => {
      const key = randomUUID();
      expect([await use(key, 1_000), await use(key, 1_001), await use(randomUUID(), 1_001)]).toEqual([
        true,
        false,
        true,
      ]);
    });

    test("of many uses at the same time one succeeds", async () => {
      const key = randomUUID();
      const uses = await Promise.all(Array.from({ length: 20 }, () => use(key, 1_000)));
      expect(uses.filter(Boolean)).toHaveLength(1);
    });

    test("a use that is repeated because its result was lost returns the first result", async () => {
      const [approval, first, second] = [randomUUID(), randomUUID(), randomUUID()];
      expect(await use(approval, 1_000, 2_000, first)).toBe(true);
      expect(await use(approval, 1_001, 2_000, first)).toBe(true);
      expect(await use(approval, 1_002, 2_000, second)).toBe(false);
      expect(await use(approval, 1_003, 2_000, second)).toBe(false);
      expect(await use(approval, 1_004, 2_000, first)).toBe(true);
    });

    test("it is remembered until it expires, and forgotten with the next use after that", async () => {
      const key = randomUUID();
      expect(await use(key, 1_000)).toBe(true);
      await use(randomUUID(), 2_000);
      expect(await use(key, 2_000)).toBe(false);
      await use(randomUUID(), 2_001, 3_000);
      expect(await use(key, 2_001)).toBe(true);
    });

    test("the first secret is kept", async () => {
      const first = await store.approvals.secret("one");
      expect(await store.approvals.secret("two")).toBe(first);
    });
  });
}
