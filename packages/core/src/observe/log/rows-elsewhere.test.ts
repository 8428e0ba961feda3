// Rows that other processes write: each is shown once to followers here, from the moment the first follower came.
import { expect, test } from "vitest";
import { RowsElsewhere } from "./rows-elsewhere.ts";

function reading(limit = 10) {
  const rows: { readonly id: string; readonly timestamp: number }[] = [];
  const shown: string[] = [];
  let fails = false;
  const elsewhere = new RowsElsewhere<(typeof rows)[number]>({
    now: () => 10_000,
    limit,
    read: async ({ from, limit: most }) => {
      if (fails) throw new Error("no storage");
      return rows.filter(({ timestamp }) => timestamp >= from).slice(-most);
    },
    keyOf: ({ id }) => id,
    show: ({ id }) => shown.push(id),
  });
  const fail = (value: boolean) => {
    fails = value;
  };
  return { rows, shown, elsewhere, fail };
}

test("a row is shown once; rows from before the first follower are not, and late rows are", async () => {
  const { rows, shown, elsewhere, fail } = reading();
  rows.push({ id: "before", timestamp: 9000 }, { id: "now", timestamp: 10_000 });
  const leave = elsewhere.follow();
  await elsewhere.read();
  expect(shown).toEqual(["now"]);
  rows.push({ id: "late", timestamp: 9500 });
  fail(true);
  await elsewhere.read();
  fail(false);
  const known = await elsewhere.read();
  await elsewhere.read();
  expect(shown).toEqual(["now", "late"]);
  expect(known).toEqual({ from: 5000, keys: new Set(["before", "now", "late"]) });
  leave();
  leave();
  rows.push({ id: "unseen", timestamp: 10_001 });
  await elsewhere.read();
  expect(shown).toEqual(["now", "late"]);
});

test("of more rows than one read returns, the oldest count as known", async () => {
  const { rows, elsewhere } = reading(2);
  for (const id of ["one", "two", "three"]) rows.push({ id, timestamp: 9000 + id.length });
  const leave = elsewhere.follow();
  expect(await elsewhere.read()).toEqual({ from: 9004, keys: new Set(["two", "three"]) });
  leave();
});
