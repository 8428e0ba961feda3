// Rows of budgets, in any SQL database.
import { isRecord } from "../../values/fields.ts";
import { type BudgetAccount, type KeptAccount, type OtherShares, sumOf } from "../budget-store.ts";
import { integer, type Row, text } from "./columns.ts";

export function toKeptAccount(row: Row): KeptAccount {
  return {
    startsAt: integer(row, "starts_at"),
    endsAt: integer(row, "ends_at"),
    used: integer(row, "used"),
    largest: integer(row, "largest"),
    raises: raisesIn(text(row, "raises")),
  };
}

export function toBudgetAccount(row: Row): BudgetAccount {
  const { startsAt, endsAt, used, raises } = toKeptAccount(row);
  const key = { budget: text(row, "budget"), subject: text(row, "subject") };
  return { ...key, startsAt, endsAt, used, held: integer(row, "held"), raised: sumOf(raises) };
}

export function toOtherShares(row: Row): OtherShares {
  return {
    count: integer(row, "count"),
    amount: integer(row, "amount"),
    unbounded: integer(row, "unbounded") > 0,
  };
}

function raisesIn(stored: string): KeptAccount["raises"] {
  const raises: unknown = JSON.parse(stored);
  const isRaise = (entry: [string, unknown]): entry is [string, number] => typeof entry[1] === "number";
  return Object.fromEntries(Object.entries(isRecord(raises) ? raises : {}).filter(isRaise));
}
