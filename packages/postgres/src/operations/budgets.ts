// Budgets over windows of time: the shares that calls in flight hold, and the use of each account.
import { toBudgetAccount, toKeptAccount, toOtherShares } from "@andante/core/internal";
import {
  type BudgetHold,
  type BudgetStore,
  type HeldShare,
  type HoldResult,
  holdShare,
} from "@andante/core/store";
import type { Query } from "../connection/client.ts";
import type { Readers } from "../connection/readers.ts";
import { Where } from "../where.ts";
import { budgetText, chargeStatement } from "../write/budgets.ts";

export function budgets(readers: Readers, s: string): BudgetStore {
  return {
    hold: (hold) => readers.write("holdBudgets", (query) => holdShares(query, s, hold)),
    charge: (charges) =>
      readers.write("chargeBudgets", async (query) => {
        const [statement, values] = chargeStatement(s, charges);
        await query(statement, values);
      }),
    renew: ({ attempts, expiresAt }) =>
      readers.write("renewHolds", async (query) => {
        const renew = `update ${s}.budget_holds set expires_at = $1 where attempt = any($2)`;
        await query(renew, [expiresAt, attempts], "planned");
      }),
    accounts: readers.forCallers(async ({ budget, subject, at, limit }) => {
      const where = new Where().add("budget = ?", budget).add("subject = ?", subject).add("ends_at > ?", at);
      const now = where.bind(at);
      const rows = await readers.search(
        `select budgets.*, (select coalesce(sum(amount), 0)::bigint from ${s}.budget_holds
           where budget_holds.budget = budgets.budget and budget_holds.subject = budgets.subject and expires_at > ${now}) as held
         from ${s}.budgets ${where} order by used desc, subject limit ${where.bind(limit)}`,
        where.values,
      );
      return rows.map(toBudgetAccount);
    }),
    trim: ({ before, limit }) =>
      readers.write("trimBudgets", async (query) => {
        const drop = (table: string, time: string, key: string) =>
          query(
            `delete from ${s}.${table} where ctid = any(array(select ctid from ${s}.${table} where ${time} < $1
               order by ${time}, ${key} limit $2 for update skip locked))`,
            [before, limit],
            "planned",
          );
        await drop("budget_holds", "expires_at", "hold_id");
        return (await drop("budgets", "ends_at", "budget")).count;
      }),
  };
}

/** Locks the accounts first: no other call holds a share of them, or is charged to them, before this one has decided. */
async function holdShares(
  query: Query,
  s: string,
  { hold: given, attempt, at, expiresAt, shares }: BudgetHold,
): Promise<HoldResult> {
  const hold = budgetText(given);
  const names = shares.map(({ budget }) => budgetText(budget));
  const subjects = shares.map(({ subject }) => budgetText(subject));
  const locked = await query(
    `insert into ${s}.budgets (budget, subject, starts_at, ends_at, used, largest, raises)
     select *, 0, 0, '{}' from (select * from unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[])
       as given (budget, subject, starts_at, ends_at) order by budget, subject) as given
     on conflict (budget, subject) do update set budget = excluded.budget returning *`,
    [names, subjects, shares.map(({ startsAt }) => startsAt), shares.map(({ endsAt }) => endsAt)],
  );
  const others = await query(
    `select given.number, count(hold_id)::integer as count, coalesce(sum(amount), 0)::bigint as amount,
       coalesce(max(unbounded::integer), 0) as unbounded
     from unnest($1::text[], $2::text[]) with ordinality as given (budget, subject, number)
     left join ${s}.budget_holds on budget_holds.budget = given.budget and budget_holds.subject = given.subject
       and expires_at > $3 and hold_id <> $4
     group by given.number order by given.number`,
    [names, subjects, at, hold],
  );
  const held: HeldShare[] = [];
  for (const [index, share] of shares.entries()) {
    const row = locked.rows.find(
      ({ budget, subject }) => budget === names[index] && subject === subjects[index],
    );
    const beside = toOtherShares(others.rows[index] ?? {});
    const result = holdShare(row && toKeptAccount(row), beside, share);
    if ("account" in result) {
      held.push(result);
      continue;
    }
    if (result.raised !== undefined) {
      const { startsAt, endsAt, used, raises } = result.raised;
      await query(
        `update ${s}.budgets set starts_at = $3, ends_at = $4, used = $5, raises = $6 where budget = $1 and subject = $2`,
        [names[index], subjects[index], startsAt, endsAt, used, JSON.stringify(raises)],
      );
    }
    if (result.kind === "busy") return { kind: "busy" };
    return { kind: "reached", share: index, used: result.used, limit: result.limit };
  }
  await query(
    `with kept as (
       update ${s}.budgets set starts_at = given.starts_at, ends_at = given.ends_at, used = given.used, raises = given.raises
       from unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text[])
         as given (budget, subject, starts_at, ends_at, used, raises)
       where budgets.budget = given.budget and budgets.subject = given.subject
         and (budgets.starts_at, budgets.raises) is distinct from (given.starts_at, given.raises))
     insert into ${s}.budget_holds (hold_id, attempt, budget, subject, amount, unbounded, expires_at)
     select $9, $11, given.budget, given.subject, given.amount, given.unbounded, $10
     from unnest($1::text[], $2::text[], $7::bigint[], $8::boolean[]) as given (budget, subject, amount, unbounded)
     on conflict (hold_id, budget, subject) do update set attempt = excluded.attempt, amount = excluded.amount, unbounded = excluded.unbounded,
       expires_at = excluded.expires_at`,
    [
      ...[names, subjects],
      held.map(({ account }) => account.startsAt),
      held.map(({ account }) => account.endsAt),
      held.map(({ account }) => account.used),
      held.map(({ account }) => JSON.stringify(account.raises)),
      held.map(({ amount }) => amount),
      held.map(({ unbounded }) => unbounded),
      ...[hold, expiresAt, attempt],
    ],
  );
  return { kind: "held", uses: held.map(({ used, limit }) => ({ used, limit })) };
}
