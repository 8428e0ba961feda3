// One event: its data, and all that it has done.
import type { SentEvent } from "@andante/client";
import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { eventQuery } from "../../api/queries.ts";
import { ExecutionLink } from "../../components/execution-link.tsx";
import { Fact } from "../../components/fact.tsx";
import { JsonView } from "../../components/json-view.tsx";
import { Problem } from "../../components/problem.tsx";
import { Clock } from "../../components/time.tsx";
import { count } from "../../format/numbers.ts";
import { Page, Skeleton } from "../../layout/page.tsx";
import { EventState } from "./event-facts.tsx";
import "../execution/execution.css";
import "./events.css";

export function EventPage() {
  const { eventId = "" } = useParams({ strict: false });
  const { data: event, error, isPending } = useQuery(eventQuery(eventId));
  return (
    <Page title={eventId} crumbs={[{ name: "Events", to: "/events" }]} id={eventId}>
      <Problem padded error={error} what="The event cannot be read" />
      {isPending && <Skeleton />}
      {event === null && (
        <div className="empty">
          <h2>No such event</h2>
          <p>It may be too old, or another user's: a day after it was sent, an event may be deleted.</p>
        </div>
      )}
      {event && <Whole event={event} />}
    </Page>
  );
}

function Whole({ event }: { readonly event: SentEvent }) {
  const { name, key, scope, userId, sentBy, sentAt, started, woken, cancelled, skipped, counts } = event;
  return (
    <>
      <div className="heading">
        <div className="title">
          <h2 className="cut mono">{name}</h2>
          <EventState event={event} />
        </div>
        {key !== null && <Fact before="key" value={<span className="mono">{key}</span>} />}
        <Fact before="sent" value={<Clock time={sentAt} />} />
        {sentBy !== null && <Fact before="by" value={<ExecutionLink className="link mono" id={sentBy} />} />}
        {userId !== null && <Fact before="for" value={userId} />}
        {scope !== null && <Fact before="reaches only executions of" value={scope} />}
      </div>
      <div className="content">
        <div className="event-page">
          <div className="card">
            <h2>Data</h2>
            {"data" in event ? (
              <JsonView label="Data" value={event.data} />
            ) : (
              <p className="muted">Its data was deleted: the event is too old to be found by waits.</p>
            )}
          </div>
          <Reached title="Started" ids={started} total={counts.started} />
          <Reached title="Continued" ids={woken} total={counts.woken} />
          <Reached title="Cancelled" ids={cancelled} total={counts.cancelled} />
          {skipped.length > 0 && (
            <section className="card" aria-labelledby="not-started">
              <h2 id="not-started">Not started</h2>
              <ul>
                {skipped.map(({ workflowId, reason }) => (
                  <li key={workflowId}>
                    <b>{workflowId}</b> <span className="muted">{reason}</span>
                  </li>
                ))}
              </ul>
            </section>
          )}
        </div>
      </div>
    </>
  );
}

function Reached({
  title,
  ids,
  total,
}: {
  readonly title: string;
  readonly ids: readonly string[];
  readonly total: number;
}) {
  if (total === 0) return null;
  return (
    <section className="card" aria-label={title}>
      <h2>
        {title} <small className="num">{count(total)}</small>
      </h2>
      <ul>
        {ids.map((id) => (
          <li key={id}>
            <ExecutionLink className="link mono" id={id}>
              {id}
            </ExecutionLink>
          </li>
        ))}
      </ul>
      {total > ids.length && <p className="muted">and {count(total - ids.length)} that are not named</p>}
    </section>
  );
}
