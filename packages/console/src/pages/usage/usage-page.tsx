// Tokens and money of models by day, user, agent, workflow or model, and how much of each budget is used.
import type { BudgetState, UsageReport } from "@andante/client";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { budgetsQuery, usageQuery } from "../../api/queries.ts";
import { Problem } from "../../components/problem.tsx";
import { ShowMore } from "../../components/show-more.tsx";
import { Clock } from "../../components/time.tsx";
import { amount, count, period, plural } from "../../format/numbers.ts";
import { Page, Skeleton } from "../../layout/page.tsx";
import "../executions/executions.css";
import "./usage.css";

const groups = ["day", "user", "agent", "workflow", "model"] as const;
type Group = (typeof groups)[number];
const spans = ["7d", "30d", "90d"] as const;
const usual = "30d";

export function UsagePage() {
  const search = useSearch({ strict: false });
  const by = groups.find((group) => group === search.by) ?? "day";
  const since = spans.find((span) => span === search.since) ?? usual;
  const list = useInfiniteQuery(usageQuery(by, Number.parseInt(since, 10)));
  const { data, error, isPending, hasNextPage } = list;
  const rows = data?.pages.flatMap((page) => page.rows) ?? [];
  const total = data?.pages[0]?.total;
  const isPriced = typeof total?.money === "number";
  const chip = (key: string, label: string, isOn: boolean, next: { by: Group; since: string }) => (
    <Link
      key={key}
      to="/usage"
      search={{
        ...(next.by !== "day" && { by: next.by }),
        ...(next.since !== usual && { since: next.since }),
      }}
      className={isOn ? "chip on" : "chip"}
    >
      {label}
    </Link>
  );
  return (
    <Page title="Usage" note={total && summary(total)}>
      <div className="filters">
        {groups.map((group) => chip(group, `by ${group}`, group === by, { by: group, since }))}
        {spans.map((span) =>
          chip(span, `last ${Number.parseInt(span, 10)} days`, span === since, { by, since: span }),
        )}
      </div>
      <div className="content usage">
        <Budgets />
        <Problem padded error={error} what="The usage cannot be read" />
        {isPending && <Skeleton />}
        {total !== undefined && rows.length === 0 && (
          <div className="empty">
            <h2>No model was called</h2>
            <p>Tokens of models are counted here, and money where the server has prices.</p>
          </div>
        )}
        {rows.length > 0 && <Rows by={by} rows={rows} isPriced={isPriced} />}
        {hasNextPage && (
          <p className="padded">
            <ShowMore pages={list} />
          </p>
        )}
        <p className="padded muted">
          Days are those of UTC.
          {isPriced && " Calls of models without a price are counted beside the money, not in it."}
        </p>
      </div>
    </Page>
  );
}

function summary({ money, inputTokens, outputTokens, calls }: UsageReport["total"]): string {
  const tokens = `${count(inputTokens + outputTokens)} tokens in ${plural(calls, "call")}`;
  return money === null ? tokens : `${amount(money)} · ${tokens}`;
}

const absent: Readonly<Record<Group, string>> = {
  day: "",
  user: "without a user",
  agent: "of no agent",
  workflow: "chats and calls outside of workflows",
  model: "hidden models",
};

function Rows({
  by,
  rows,
  isPriced,
}: {
  readonly by: Group;
  readonly rows: UsageReport["rows"];
  /** The price of at least one call is known. */
  readonly isPriced: boolean;
}) {
  const sizeOf = (row: UsageReport["rows"][number]) =>
    isPriced ? (row.money ?? 0) : row.inputTokens + row.outputTokens;
  const largest = Math.max(...rows.map(sizeOf));
  return (
    <table className="plain">
      <thead>
        <tr>
          <th>{by.charAt(0).toUpperCase() + by.slice(1)}</th>
          <th className="minor" style={{ minWidth: 140 }}>
            Share
          </th>
          {isPriced && <th className="right">Money</th>}
          <th className="right">Calls</th>
          <th className="right">Tokens in</th>
          <th className="right minor">from cache</th>
          <th className="right">Tokens out</th>
          {isPriced && <th className="right">Unpriced calls</th>}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.key ?? ""}>
            <td className="cut" title={row.key ?? ""}>
              {row.key ?? <span className="muted">{absent[by]}</span>}
            </td>
            <td>
              <Bar part={sizeOf(row)} of={largest} />
            </td>
            {isPriced && <td className="right num">{row.money !== null && amount(row.money)}</td>}
            <td className="right num">{count(row.calls)}</td>
            <td className="right num">{count(row.inputTokens)}</td>
            <td className="right num faint">{count(row.cachedInputTokens)}</td>
            <td className="right num">{count(row.outputTokens)}</td>
            {isPriced && (
              <td className="right num faint">{row.unpricedCalls > 0 && count(row.unpricedCalls)}</td>
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Bar({
  part,
  of,
  tone = "run",
}: {
  readonly part: number;
  readonly of: number;
  readonly tone?: string;
}) {
  const width = `${Math.min(100, (100 * part) / Math.max(of, Number.MIN_VALUE))}%`;
  return (
    <span className="share" aria-hidden="true">
      <i style={{ width, background: `var(--${tone})` }} />
    </span>
  );
}

/** Nothing where the server has no budgets. */
function Budgets() {
  const { data, error } = useQuery(budgetsQuery);
  if (error !== null) return <Problem padded error={error} what="The budgets cannot be read" />;
  if (data === undefined || data.budgets.length === 0) return null;
  return (
    <table className="plain budgets" aria-label="Budgets">
      <thead>
        <tr>
          <th>Budget</th>
          <th style={{ minWidth: 140 }}>Used</th>
          <th className="right">of</th>
          <th className="right">in flight</th>
          <th className="right">Ends</th>
          <th>When used up</th>
        </tr>
      </thead>
      <tbody>
        {data.budgets.map((budget) => (
          <Budget
            key={JSON.stringify([budget.per, budget.subject, budget.window, budget.unit])}
            of={budget}
          />
        ))}
      </tbody>
    </table>
  );
}

function Budget({ of }: { readonly of: BudgetState }) {
  const { per, subject, unit, window, used, limit, held, warnAt, onReached, endsAt } = of;
  const shown = (value: number) => (unit === "money" ? amount(value) : `${count(value)} tokens`);
  const [tone, word] =
    used >= limit
      ? ["bad", "used up"]
      : used >= limit * warnAt
        ? ["wait-mark", "nearly used up"]
        : ["run", ""];
  return (
    <tr>
      <td>
        {per === "all" ? "All calls" : `${per} ${subject ?? "without an id"}`}{" "}
        <small className="faint">each {period(window)}</small>
      </td>
      <td className="num">
        <Bar part={used} of={limit} tone={tone} /> {shown(used)} {word !== "" && <small>{word}</small>}
      </td>
      <td className="right num">{shown(limit)}</td>
      <td className="right num faint">{held > 0 && shown(held)}</td>
      <td className="right faint">
        <Clock time={endsAt} />
      </td>
      <td>{onReached === "refuse" ? "calls are refused" : "runs wait in the inbox"}</td>
    </tr>
  );
}
