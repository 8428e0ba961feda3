// The events that were sent, with all that each has done; those that did nothing; and the executions that wait for one.
import type { SentEvent } from "@andante/client";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { eventsQuery, eventTypesQuery } from "../../api/queries.ts";
import { Choice, Menu } from "../../components/menu.tsx";
import { Problem } from "../../components/problem.tsx";
import { SearchField } from "../../components/search-field.tsx";
import { ShowMore } from "../../components/show-more.tsx";
import { Ago } from "../../components/time.tsx";
import { Page, Skeleton } from "../../layout/page.tsx";
import { type Search, useSearchChange } from "../../layout/search.ts";
import { EventState, Executions } from "./event-facts.tsx";
import { OpenWaits } from "./open-waits.tsx";
import { SendDialog } from "./send-dialog.tsx";
import "../executions/executions.css";
import "./events.css";

const tabs = [
  [undefined, "Sent"],
  ["unmatched", "unmatched"],
  ["waits", "open waits"],
] as const;

export function EventsPage() {
  const search = useSearch({ strict: false });
  const [isSending, setIsSending] = useState(false);
  const { data: types = [] } = useQuery(eventTypesQuery);
  return (
    <Page
      title="Events"
      action={
        types.length > 0 && (
          <button type="button" className="btn" onClick={() => setIsSending(true)}>
            Send…
          </button>
        )
      }
    >
      <Filters search={search} names={types.map(({ name }) => name)} />
      <div className="content events">
        {search.tab === "waits" ? (
          <OpenWaits name={search.name} eventKey={search.key} />
        ) : (
          <Sent search={search} />
        )}
      </div>
      {isSending && <SendDialog types={types} chosen={search.name} onClose={() => setIsSending(false)} />}
    </Page>
  );
}

function Filters({ search, names }: { readonly search: Search; readonly names: readonly string[] }) {
  const set = useSearchChange();
  return (
    <div className="filters">
      {tabs.map(([tab, label]) => (
        <Link
          key={label}
          to="/events"
          search={{ ...search, tab }}
          className={search.tab === tab ? "chip on" : "chip"}
        >
          {label}
        </Link>
      ))}
      <span className="gap" />
      <Menu label={<>event: {search.name ?? "all"}</>}>
        <Choice onSelect={() => set({ name: undefined })}>all events</Choice>
        {names.map((name) => (
          <Choice key={name} onSelect={() => set({ name })}>
            {name}
          </Choice>
        ))}
      </Menu>
      <SearchField
        label="Key"
        hint="key"
        className="field id-field"
        value={search.key}
        onChange={(key) => set({ key: key || undefined })}
      />
    </div>
  );
}

function Sent({ search: { tab, name, key } }: { readonly search: Search }) {
  const filter = { name, key, ...(tab === "unmatched" && { unmatched: true }) };
  const list = useInfiniteQuery(eventsQuery(filter));
  const { data, error, isPending, hasNextPage } = list;
  const events = data?.pages.flatMap((page) => page.events) ?? [];
  return (
    <>
      <Problem padded error={error} what="The events cannot be read" />
      {isPending && <Skeleton />}
      {data !== undefined && events.length === 0 && <Nothing isFiltered={Boolean(tab ?? name ?? key)} />}
      {events.length > 0 && (
        <table className="plain">
          <thead>
            <tr>
              <th>Event</th>
              <th>Key</th>
              <th>Effect</th>
              <th className="minor">Started</th>
              <th className="minor">Continued</th>
              <th className="minor">Cancelled</th>
              <th className="minor">User</th>
              <th className="right">Sent</th>
            </tr>
          </thead>
          <tbody>
            {events.map((event) => (
              <Row key={`${event.scope} ${event.eventId}`} event={event} />
            ))}
          </tbody>
        </table>
      )}
      {hasNextPage && (
        <p className="padded">
          <ShowMore pages={list} />
        </p>
      )}
    </>
  );
}

function Row({ event }: { readonly event: SentEvent }) {
  const { eventId, name, key, started, woken, cancelled, counts, scope, userId, sentAt } = event;
  return (
    <tr>
      <td>
        <Link className="cut" to="/events/$eventId" params={{ eventId }} title={eventId}>
          {name}
        </Link>
      </td>
      <td className="mono">
        <span className="cut" title={key ?? undefined}>
          {key ?? <span className="faint">–</span>}
        </span>
      </td>
      <td>
        <EventState event={event} />
      </td>
      <td>
        <Executions ids={started} total={counts.started} />
      </td>
      <td>
        <Executions ids={woken} total={counts.woken} />
      </td>
      <td>
        <Executions ids={cancelled} total={counts.cancelled} />
      </td>
      <td>
        <span className="cut" dir="auto">
          {scope ?? userId ?? <span className="faint">–</span>}
          {scope !== null && <span className="faint"> alone</span>}
        </span>
      </td>
      <td className="right faint">
        <Ago time={sentAt} suffix=" ago" />
      </td>
    </tr>
  );
}

function Nothing({ isFiltered }: { readonly isFiltered: boolean }) {
  if (isFiltered)
    return (
      <div className="empty">
        <h2>No event fits</h2>
        <p>
          <Link className="link" to="/events">
            Show all events
          </Link>
        </p>
      </div>
    );
  return (
    <div className="empty">
      <h2>No events yet</h2>
      <p>
        Events start executions, end their waits or cancel them. Define one with{" "}
        <code className="mono">defineEvent</code>, name it in a workflow, and send it with{" "}
        <code className="mono">andante.send</code> or <code className="mono">POST /events/:eventName</code>.
      </p>
    </div>
  );
}
