// One line on Home: money and tokens of models today.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { todayQuery } from "../../api/queries.ts";
import { amount, count, plural } from "../../format/numbers.ts";

/** Nothing on a day without calls. */
export function CostToday() {
  const { data } = useQuery(todayQuery);
  const { money = null, calls = 0, unpricedCalls = 0, inputTokens = 0, outputTokens = 0 } = data?.total ?? {};
  if (calls === 0) return null;
  return (
    <section className="card whole cost" aria-label="Models today">
      <span className="muted">Models today</span>
      {money !== null && (
        <span>
          cost <b className="num">{amount(money)}</b>
        </span>
      )}
      <span className="num">{count(inputTokens + outputTokens)} tokens</span>
      <span className="num">{plural(calls, "call")}</span>
      {money !== null && unpricedCalls > 0 && (
        <span className="faint num">{plural(unpricedCalls, "call")} without a price</span>
      )}
      <Link className="right quiet" to="/usage">
        All usage →
      </Link>
    </section>
  );
}
