// The cases that the budgets of every store must pass.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { BudgetCharge, BudgetHold, BudgetShare } from "../store/budget-store.ts";
import type { Store } from "../store/store.ts";
import { commitOf, event, execution } from "./store-cases.ts";

const day = 86_400_000;
const window = { startsAt: 10 * day, endsAt: 11 * day };
const next = { startsAt: 11 * day, endsAt: 12 * day };
const now = 10 * day + 5_000;

export function budgetCases(name: string, makeStore: () => Store): void {
  describe(`${name} as a store of budgets`, () => {
    let store: Store;
    beforeAll(async () => {
      store = makeStore();
      await store.open();
    });
    afterAll(() => store.close());

    const shareOf = (subject: string, fields: Partial<BudgetShare> = {}): BudgetShare => ({
      ...{ budget: "user/1d/tokens", subject, ...window },
      ...{ limit: 100, amount: 10, unbounded: false },
      ...fields,
    });
    const hold = (id: string, shares: readonly BudgetShare[], fields: Partial<BudgetHold> = {}) =>
      store.budgets.hold({
        hold: id,
        attempt: `of ${id}`,
        at: now,
        expiresAt: now + 60_000,
        shares,
        ...fields,
      });
    const chargeOf = (id: string, subject: string, amount: number | null, fields = {}): BudgetCharge => ({
      ...{ hold: id, attempt: `of ${id}`, budget: "user/1d/tokens", subject, ...window, amount },
      ...fields,
    });
    const accountOf = async (subject: string, at = now) => {
      const [account] = await store.budgets.accounts({ budget: "user/1d/tokens", subject, at, limit: 10 });
      return account;
    };
    /** Uses up so much of an account. */
    const use = async (subject: string, amount: number) => {
      const id = randomUUID();
      await hold(id, [shareOf(subject, { limit: 1e9 })]);
      await store.budgets.charge([chargeOf(id, subject, amount)]);
    };

    test("calls hold their shares until they do not fit, and are charged their use", async () => {
      const subject = randomUUID();
      const [one, two] = [randomUUID(), randomUUID()];
      expect(await hold(one, [shareOf(subject, { amount: 60 })])).toEqual({
        ...{ kind: "held", uses: [{ used: 0, limit: 100 }] },
      });
      expect(await hold(two, [shareOf(subject, { amount: 50 })])).toEqual({ kind: "busy" });
      expect(await accountOf(subject)).toMatchObject({ used: 0, held: 60, raised: 0, ...window });
      await store.budgets.charge([chargeOf(one, subject, 20)]);
      expect(await hold(two, [shareOf(subject, { amount: 50 })])).toMatchObject({ kind: "held" });
      expect(await accountOf(subject)).toMatchObject({ used: 20, held: 50 });
      await store.budgets.charge([chargeOf(two, subject, 80)]);
      const reached = { kind: "reached", share: 0, used: 100, limit: 100 };
      expect(await hold(randomUUID(), [shareOf(subject, { amount: 1 })])).toEqual(reached);
    });

    test("a charge counts once, and not without a share", async () => {
      const subject = randomUUID();
      const id = randomUUID();
      await hold(id, [shareOf(subject)]);
      await store.budgets.charge([chargeOf(id, subject, 5)]);
      await store.budgets.charge([chargeOf(id, subject, 5)]);
      await store.budgets.charge([chargeOf(randomUUID(), subject, 5)]);
      expect(await accountOf(subject)).toMatchObject({ used: 5, held: 0 });
    });

    test("a call whose use is not known is charged its share", async () => {
      const subject = randomUUID();
      const id = randomUUID();
      await hold(id, [shareOf(subject, { amount: 40 })]);
      await store.budgets.charge([chargeOf(id, subject, null)]);
      expect(await accountOf(subject)).toMatchObject({ used: 40, held: 0 });
    });

    test("the last call runs also where its share does not fit, but alone", async () => {
      const subject = randomUUID();
      await use(subject, 90);
      expect(await hold(randomUUID(), [shareOf(subject, { amount: 500 })])).toMatchObject({ kind: "held" });
      expect(await hold(randomUUID(), [shareOf(subject, { amount: 1 })])).toEqual({ kind: "busy" });
    });

    test("a call without a bound runs alone until an account has counted a call; then it holds as much as the largest", async () => {
      const subject = randomUUID();
      const first = randomUUID();
      const unbounded = shareOf(subject, { limit: 1000, amount: 1, unbounded: true });
      expect(await hold(first, [unbounded])).toMatchObject({ kind: "held" });
      expect(await hold(randomUUID(), [unbounded])).toEqual({ kind: "busy" });
      await store.budgets.charge([chargeOf(first, subject, 30)]);
      await hold(randomUUID(), [unbounded]);
      await hold(randomUUID(), [unbounded]);
      expect(await accountOf(subject)).toMatchObject({ used: 30, held: 60 });
    });

    test("shares are held on all accounts or on none", async () => {
      const [user, full] = [randomUUID(), randomUUID()];
      await use(full, 100);
      const id = randomUUID();
      expect(await hold(id, [shareOf(user), shareOf(full)])).toMatchObject({ kind: "reached", share: 1 });
      expect((await accountOf(user))?.held ?? 0).toBe(0);
    });

    test("a call that is made again after a crash replaces its share; others wait until it expires", async () => {
      const subject = randomUUID();
      const id = randomUUID();
      await hold(id, [shareOf(subject, { amount: 90 })]);
      expect(await hold(id, [shareOf(subject, { amount: 90 })])).toMatchObject({ kind: "held" });
      const other = [shareOf(subject, { amount: 90 })];
      expect(await hold(randomUUID(), other)).toEqual({ kind: "busy" });
      expect(await hold(randomUUID(), other, { at: now + 60_001, expiresAt: now + 120_000 })).toMatchObject({
        kind: "held",
      });
    });

    test("an attempt that was replaced takes no share away", async () => {
      const subject = randomUUID();
      const id = randomUUID();
      await hold(id, [shareOf(subject, { amount: 20 })], { attempt: "frozen" });
      await hold(id, [shareOf(subject, { amount: 30 })]);
      await store.budgets.charge([chargeOf(id, subject, 0, { attempt: "frozen" })]);
      expect(await accountOf(subject)).toMatchObject({ used: 0, held: 30 });
      await store.budgets.charge([chargeOf(id, subject, 25)]);
      expect(await accountOf(subject)).toMatchObject({ used: 25, held: 0 });
    });

    test("a share that is renewed counts longer; one that was taken away stays so", async () => {
      const subject = randomUUID();
      const [id, gone] = [randomUUID(), randomUUID()];
      await hold(id, [shareOf(subject, { amount: 10 })]);
      await hold(gone, [shareOf(subject, { amount: 10 })]);
      await store.budgets.charge([chargeOf(gone, subject, 0)]);
      const accounts = [{ budget: "user/1d/tokens", subject }];
      await store.budgets.renew({ attempts: [`of ${id}`, `of ${gone}`], accounts, expiresAt: now + 200_000 });
      expect(await accountOf(subject, now + 100_000)).toMatchObject({ used: 0, held: 10 });
      expect(await accountOf(subject, now + 200_001)).toMatchObject({ used: 0, held: 0 });
    });

    test("a new window begins with nothing used; a call of the window before is not counted in it", async () => {
      const subject = randomUUID();
      await use(subject, 30);
      const [late, id] = [randomUUID(), randomUUID()];
      const at = { at: next.startsAt + 1, expiresAt: next.startsAt + 60_000 };
      expect(await hold(late, [shareOf(subject, next)], at)).toMatchObject({ kind: "held" });
      expect(await hold(id, [shareOf(subject, next)], at)).toMatchObject({ uses: [{ used: 0, limit: 100 }] });
      await store.budgets.charge([chargeOf(late, subject, 7), chargeOf(id, subject, 9, next)]);
      expect(await accountOf(subject, next.startsAt + 2)).toMatchObject({ used: 9, ...next });
      // A node whose clock is behind counts in the newer window.
      expect(await hold(randomUUID(), [shareOf(subject)])).toMatchObject({ uses: [{ used: 9, limit: 100 }] });
    });

    test("a raise counts once, until its window ends", async () => {
      const subject = randomUUID();
      await use(subject, 100);
      const raise = { id: "one", amount: 50 };
      const limitFor = async (fields: Partial<BudgetShare>, at: Partial<BudgetHold> = {}) => {
        const id = randomUUID();
        const result = await hold(id, [shareOf(subject, fields)], at);
        await store.budgets.charge([chargeOf(id, subject, 0)]);
        return result.kind === "held" ? result.uses[0]?.limit : result.kind;
      };
      expect(await limitFor({})).toBe("reached");
      expect(await limitFor({ raise })).toBe(150);
      expect(await limitFor({ raise })).toBe(150);
      expect(await limitFor({})).toBe(150);
      expect(await accountOf(subject)).toMatchObject({ raised: 50 });
      const at = { at: next.startsAt, expiresAt: next.startsAt + 60_000 };
      expect(await limitFor(next, at)).toBe(100);
    });

    test("a raise counts also where it is not enough, or its call does not fit yet: the next one is added to it", async () => {
      const subject = randomUUID();
      await use(subject, 120);
      const asked = (id: string, amount: number) =>
        hold("raised", [shareOf(subject, { raise: { id, amount } })]);
      const reached = (limit: number) => ({ kind: "reached", share: 0, used: 120, limit });
      expect(await asked("one", 5)).toEqual(reached(105));
      expect(await asked("one", 5)).toEqual(reached(105));
      expect(await accountOf(subject)).toMatchObject({ used: 120, held: 0, raised: 5 });
      expect(await asked("two", 10)).toEqual(reached(115));
      expect(await asked("three", 30)).toMatchObject({ kind: "held", uses: [{ used: 120, limit: 145 }] });
      const other = shareOf(subject, { raise: { id: "four", amount: 7 }, amount: 100 });
      expect(await hold(randomUUID(), [other])).toEqual({ kind: "busy" });
      expect(await accountOf(subject)).toMatchObject({ used: 120, raised: 52 });
    });

    test("a commit charges its calls once, a refused one none", async () => {
      const subject = randomUUID();
      const made = execution({});
      await store.create(made);
      const [id, stale] = [randomUUID(), randomUUID()];
      await hold(id, [shareOf(subject)]);
      await hold(stale, [shareOf(subject)]);
      const fenced = commitOf(made.executionId, { token: "stale", charges: [chargeOf(stale, subject, 50)] });
      expect((await store.commit({ ...fenced, number: 1 })).kind).toBe("fenced");
      const events = [event("a")];
      const commit = commitOf(made.executionId, { charges: [chargeOf(id, subject, 8)], events });
      expect((await store.commit(commit)).kind).toBe("ok");
      await store.commit(commit);
      // Restate keeps the accounts in another object than the execution.
      await expect.poll(() => accountOf(subject)).toMatchObject({ used: 8, held: 10 });
    });

    test("of many calls at the edge of a budget one is made", async () => {
      const subject = randomUUID();
      await use(subject, 95);
      const results = await Promise.all(
        Array.from({ length: 20 }, () => hold(randomUUID(), [shareOf(subject), shareOf("everyone")])),
      );
      expect(results.filter(({ kind }) => kind === "held")).toHaveLength(1);
    });

    test("accounts are listed by their use, of windows that have not ended, and removed when they are old", async () => {
      const budget = randomUUID();
      const subjects = ["a'b", 'c"d', "", "ü\u001f"];
      for (const [index, subject] of subjects.entries()) {
        const id = randomUUID();
        await hold(id, [shareOf(subject, { budget })]);
        await store.budgets.charge([chargeOf(id, subject, 10 - index, { budget })]);
      }
      const list = async (at: number, limit: number) =>
        (await store.budgets.accounts({ budget, at, limit })).map(({ subject }) => subject);
      expect(await list(now, 10)).toEqual(subjects);
      expect(await list(now, 2)).toEqual(subjects.slice(0, 2));
      expect(await list(window.endsAt, 10)).toEqual([]);
      const old = shareOf("old", { budget, startsAt: -3, endsAt: -2 });
      await hold(randomUUID(), [old], { at: -3, expiresAt: -2 });
      const trim = () => store.budgets.trim({ before: 0, limit: 500 });
      expect([await trim(), await trim()]).toEqual([1, 0]);
      expect(await list(-3, 10)).not.toContain("old");
    });
  });
}
