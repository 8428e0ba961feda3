// Replaces the shares of calls on budgets by their use.
import type { BudgetCharge } from "@andante/core/store";
import type { Statement } from "../connection/parameters.ts";

/** Without a NUL, which a column of text cannot hold. */
export function budgetText(text: string): string {
  return text.replaceAll("\0", "\ufffd");
}

/** Accounts are changed in one order on every node: two that change the same ones do not wait in a circle. */
export function chargeStatement(s: string, charges: readonly BudgetCharge[]): Statement {
  return [
    `with given as (
       select * from unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[], $7::text[])
         as given (hold_id, budget, subject, starts_at, ends_at, amount, attempt)),
     gone as (
       delete from ${s}.budget_holds using given
       where budget_holds.hold_id = given.hold_id and budget_holds.budget = given.budget
         and budget_holds.subject = given.subject and budget_holds.attempt = given.attempt
       returning given.budget, given.subject, given.starts_at, given.ends_at,
         coalesce(given.amount, budget_holds.amount) as amount)
     insert into ${s}.budgets as kept (budget, subject, starts_at, ends_at, used, largest, raises)
     select budget, subject, max(starts_at), max(ends_at), sum(amount), max(amount), '{}'
     from (select *, max(starts_at) over (partition by budget, subject) as newest from gone) as gone
     where starts_at = newest group by budget, subject order by budget, subject
     on conflict (budget, subject) do update set
       starts_at = greatest(kept.starts_at, excluded.starts_at),
       ends_at = greatest(kept.ends_at, excluded.ends_at),
       used = case when kept.starts_at < excluded.starts_at then excluded.used
                   when kept.starts_at = excluded.starts_at then kept.used + excluded.used else kept.used end,
       raises = case when kept.starts_at < excluded.starts_at then '{}' else kept.raises end,
       largest = case when kept.starts_at > excluded.starts_at then kept.largest
                      else greatest(kept.largest, excluded.largest) end`,
    [
      charges.map(({ hold }) => budgetText(hold)),
      charges.map(({ budget }) => budgetText(budget)),
      charges.map(({ subject }) => budgetText(subject)),
      charges.map(({ startsAt }) => startsAt),
      charges.map(({ endsAt }) => endsAt),
      charges.map(({ amount }) => amount),
      charges.map(({ attempt }) => attempt),
    ],
  ];
}
