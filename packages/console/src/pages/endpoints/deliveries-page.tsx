// The deliveries to all endpoints, or the one of the address with its body and its attempts.
import type { DeliveryDetail } from "@andante/client";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { andante } from "../../api/andante.ts";
import { deliveryQuery } from "../../api/queries.ts";
import { ExecutionLink } from "../../components/execution-link.tsx";
import { Fact } from "../../components/fact.tsx";
import { JsonView } from "../../components/json-view.tsx";
import { Problem } from "../../components/problem.tsx";
import { Clock, useNow } from "../../components/time.tsx";
import { count, duration } from "../../format/numbers.ts";
import { Page, Skeleton } from "../../layout/page.tsx";
import { DeliveryList } from "./delivery-list.tsx";
import { answerOf, DeliveryState, nextAttempt } from "./endpoint-facts.tsx";
import "../execution/execution.css";
import "../executions/executions.css";
import "./endpoints.css";

const endpointsCrumb = { name: "Endpoints", to: "/endpoints" } as const;

export function DeliveriesPage() {
  const { item } = useSearch({ strict: false });
  if (item !== undefined) return <DeliveryPage key={item} deliveryId={item} />;
  return (
    <Page title="Deliveries" crumbs={[endpointsCrumb]}>
      <div className="content endpoints">
        <DeliveryList />
      </div>
    </Page>
  );
}

function DeliveryPage({ deliveryId }: { readonly deliveryId: string }) {
  const { data: delivery, error, isPending } = useQuery(deliveryQuery(deliveryId));
  return (
    <Page
      title={delivery?.messageId ?? "Delivery"}
      {...(delivery && { id: delivery.messageId })}
      crumbs={[endpointsCrumb, { name: "Deliveries", to: "/deliveries" }]}
    >
      <Problem padded error={error} what="The delivery cannot be read" />
      {isPending && <Skeleton />}
      {delivery && (
        <>
          <Heading delivery={delivery} />
          <div className="content endpoints">
            <div className="delivery-cards">
              <Attempts delivery={delivery} />
              <div className="card">
                <h2>Body</h2>
                <JsonView label="Body" value={bodyOf(delivery.payload)} />
              </div>
            </div>
          </div>
        </>
      )}
    </Page>
  );
}

function Heading({ delivery }: { readonly delivery: DeliveryDetail }) {
  const { deliveryId, type, state, endpointId, executionId, attempts, nextAt, createdAt } = delivery;
  const client = useQueryClient();
  const now = useNow();
  const again = useMutation({
    mutationFn: () => andante.deliveries.redeliver(deliveryId),
    onSuccess: () => client.invalidateQueries({ queryKey: ["deliveries"] }),
  });
  const isOver = state === "delivered" || state === "failed";
  return (
    <div className="heading">
      <div className="title">
        <h2 className="cut mono">{type}</h2>
        <DeliveryState state={state} />
      </div>
      <Fact
        before="to"
        value={
          <Link to="/endpoints/$endpointId" params={{ endpointId }}>
            {endpointId}
          </Link>
        }
      />
      {executionId !== null && (
        <Fact before="of" value={<ExecutionLink className="link mono" id={executionId} />} />
      )}
      <Fact before="made" value={<Clock time={createdAt} />} />
      <Fact value={count(attempts)} after={attempts === 1 ? "attempt" : "attempts"} />
      {nextAt !== null && <Fact before="next attempt" value={nextAttempt(delivery, now)} />}
      <div className="acts">
        <Problem error={again.error} what="It was not sent again" />
        {isOver && (
          <button type="button" className="btn" disabled={again.isPending} onClick={() => again.mutate()}>
            Send again
          </button>
        )}
      </div>
    </div>
  );
}

/** The newest attempt is first. */
function Attempts({ delivery: { history } }: { readonly delivery: DeliveryDetail }) {
  return (
    <section className="card" aria-labelledby="attempts">
      <h2 id="attempts">
        Attempts <small>the last {count(history.length)}</small>
      </h2>
      {history.length === 0 ? (
        <p className="padded muted">None so far.</p>
      ) : (
        <table className="plain">
          <thead>
            <tr>
              <th>Time</th>
              <th>Answer</th>
              <th className="right">Took</th>
            </tr>
          </thead>
          <tbody>
            {history.toReversed().map((attempt) => (
              <tr key={attempt.at}>
                <td>
                  <Clock time={attempt.at} />
                </td>
                <td dir="auto" style={{ whiteSpace: "normal" }}>
                  {answerOf(attempt)}
                </td>
                <td className="right num">{duration(attempt.milliseconds)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

function bodyOf(payload: string): unknown {
  try {
    return JSON.parse(payload);
  } catch {
    return payload;
  }
}
