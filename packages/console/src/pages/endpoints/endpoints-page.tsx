// The endpoints that receive events of executions: their addresses, why one is disabled, and how their deliveries went.
import type { Endpoint } from "@andante/client";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { deliveryCountsQuery, endpointsQuery } from "../../api/queries.ts";
import { Problem } from "../../components/problem.tsx";
import { count } from "../../format/numbers.ts";
import { Page, Skeleton } from "../../layout/page.tsx";
import { EndpointDialog } from "./endpoint-dialog.tsx";
import { EndpointState, eventsOf, workflowsOf } from "./endpoint-facts.tsx";
import "../executions/executions.css";
import "./endpoints.css";

/** Endpoints whose deliveries are counted on this page: each takes a request. */
const mostCounted = 20;

export function EndpointsPage() {
  const { data: endpoints, error, isPending } = useQuery(endpointsQuery);
  const [isAdding, setIsAdding] = useState(false);
  return (
    <Page
      title="Endpoints"
      action={
        endpoints && (
          <button type="button" className="btn" onClick={() => setIsAdding(true)}>
            Add…
          </button>
        )
      }
    >
      <div className="content endpoints">
        <Problem padded error={error} what="The endpoints cannot be read" />
        {isPending && <Skeleton />}
        {endpoints?.length === 0 && (
          <div className="empty">
            <h2>No endpoints</h2>
            <p>
              An endpoint receives the ends, waits and reminders of executions as webhooks. Give{" "}
              <code className="mono">serve</code> the option <code className="mono">endpoints</code>; then add
              one here, or with <code className="mono">andante.endpoints.set</code>.
            </p>
          </div>
        )}
        {endpoints !== undefined && endpoints.length > 0 && (
          <>
            <table className="plain">
              <thead>
                <tr>
                  <th>Endpoint</th>
                  <th className="minor">Address</th>
                  <th>State</th>
                  <th className="minor">Events</th>
                  <th className="minor">Workflows</th>
                  <th className="right">Delivered</th>
                  <th className="right">Pending</th>
                  <th className="right">Failed</th>
                </tr>
              </thead>
              <tbody>
                {endpoints.map((endpoint, index) => (
                  <Row key={endpoint.endpointId} endpoint={endpoint} isCounted={index < mostCounted} />
                ))}
              </tbody>
            </table>
            <div className="padded">
              <p>
                <Link className="link" to="/deliveries">
                  All deliveries →
                </Link>
              </p>
              <p className="muted">The figures are those of the newest 100 deliveries of each endpoint.</p>
            </div>
          </>
        )}
      </div>
      {isAdding && <EndpointDialog onClose={() => setIsAdding(false)} />}
    </Page>
  );
}

function Row({ endpoint, isCounted }: { readonly endpoint: Endpoint; readonly isCounted: boolean }) {
  const { endpointId, url } = endpoint;
  const { data: counts } = useQuery({ ...deliveryCountsQuery(endpointId), enabled: isCounted });
  const figure = (number: number | undefined) => (number === undefined ? "–" : count(number));
  return (
    <tr>
      <td>
        <Link className="cut" to="/endpoints/$endpointId" params={{ endpointId }} title={endpointId}>
          {endpointId}
        </Link>
      </td>
      <td className="mono">
        <span className="cut" title={url}>
          {url}
        </span>
      </td>
      <td>
        <EndpointState endpoint={endpoint} />
      </td>
      <td>
        <span className="cut" title={eventsOf(endpoint)}>
          {eventsOf(endpoint)}
        </span>
      </td>
      <td>
        <span className="cut" title={workflowsOf(endpoint)}>
          {workflowsOf(endpoint)}
        </span>
      </td>
      <td className="right num">{figure(counts?.delivered)}</td>
      <td className="right num">{figure(counts?.pending)}</td>
      <td className="right num">{figure(counts?.failed)}</td>
    </tr>
  );
}
