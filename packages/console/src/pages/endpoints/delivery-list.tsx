// Deliveries, those of the newest executions first: of one endpoint, or of all.
import type { Delivery } from "@andante/client";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { deliveriesQuery } from "../../api/queries.ts";
import { NamedExecution } from "../../components/execution-link.tsx";
import { Problem } from "../../components/problem.tsx";
import { ShowMore } from "../../components/show-more.tsx";
import { Ago, useNow } from "../../components/time.tsx";
import { count } from "../../format/numbers.ts";
import { Skeleton } from "../../layout/page.tsx";
import { answerOf, DeliveryState, nextAttempt } from "./endpoint-facts.tsx";

const states = ["scheduled", "pending", "delivered", "failed"] as const satisfies Delivery["state"][];

export function DeliveryList({ endpointId }: { readonly endpointId?: string }) {
  const search = useSearch({ strict: false });
  const state = states.find((each) => each === search.status);
  const list = useInfiniteQuery(deliveriesQuery({ endpointId, state }));
  const { data, error, isPending, hasNextPage } = list;
  const deliveries = data?.pages.flatMap((page) => page.deliveries) ?? [];
  return (
    <section aria-label="Deliveries">
      <div className="filters">
        {[undefined, ...states].map((each) => (
          <Link
            key={each ?? "all"}
            to="."
            search={{ ...search, status: each }}
            className={state === each ? "chip on" : "chip"}
          >
            {each ?? "All deliveries"}
          </Link>
        ))}
      </div>
      <Problem padded error={error} what="The deliveries cannot be read" />
      {isPending && <Skeleton />}
      {data !== undefined && deliveries.length === 0 && (
        <NoDeliveries isFirst={state === undefined && !hasNextPage} isPart={hasNextPage} />
      )}
      {deliveries.length > 0 && (
        <div style={{ overflowX: "auto" }}>
          <table className="plain">
            <thead>
              <tr>
                <th>Event</th>
                <th>State</th>
                {endpointId === undefined && <th className="minor">Endpoint</th>}
                <th className="minor">Execution</th>
                <th className="right minor">Attempts</th>
                <th className="minor">Last answer</th>
                <th>Next attempt</th>
                <th className="right">Made</th>
              </tr>
            </thead>
            <tbody>
              {deliveries.map((delivery) => (
                <Row key={delivery.deliveryId} delivery={delivery} withEndpoint={endpointId === undefined} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {hasNextPage && (
        <p className="padded">
          <ShowMore pages={list} />
        </p>
      )}
    </section>
  );
}

function NoDeliveries({ isFirst, isPart }: { readonly isFirst: boolean; readonly isPart: boolean }) {
  if (!isFirst)
    return <p className="padded muted">{isPart ? "None among those read so far." : "There are none."}</p>;
  return (
    <div className="empty">
      <h2>No deliveries yet</h2>
      <p>
        A delivery is a request to an endpoint about the end, a wait or a reminder of an execution. It is kept
        here with its attempts.
      </p>
    </div>
  );
}

function Row({ delivery, withEndpoint }: { readonly delivery: Delivery; readonly withEndpoint: boolean }) {
  const { deliveryId, endpointId, executionId, type, state, attempts, lastStatus, lastError } = delivery;
  const answer = answerOf({ status: lastStatus, error: lastError });
  const now = useNow();
  return (
    <tr>
      <td>
        <Link className="cut" to="/deliveries" search={{ item: deliveryId }}>
          {type}
        </Link>
      </td>
      <td>
        <DeliveryState state={state} />
      </td>
      {withEndpoint && (
        <td>
          <Link className="cut" to="/endpoints/$endpointId" params={{ endpointId }}>
            {endpointId}
          </Link>
        </td>
      )}
      <td>{executionId !== null && <NamedExecution id={executionId} />}</td>
      <td className="right num">{count(attempts)}</td>
      <td>
        <span className="cut" title={answer} dir="auto">
          {answer === "" ? <span className="faint">–</span> : answer}
        </span>
      </td>
      <td className="num">{nextAttempt(delivery, now)}</td>
      <td className="right faint">
        <Ago time={delivery.createdAt} suffix=" ago" />
      </td>
    </tr>
  );
}
