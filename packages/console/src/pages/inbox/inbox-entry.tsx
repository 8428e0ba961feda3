// One open suspension: the question, its data, the form, and the position of the execution.
import type { Inbox, InboxItem } from "@andante/client";
import { type InfiniteData, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { andante } from "../../api/andante.ts";
import { inboxQuery } from "../../api/queries.ts";
import { JsonView } from "../../components/json-view.tsx";
import { isPicture } from "../../components/markdown/addresses.ts";
import { Ago } from "../../components/time.tsx";
import { LazyForm } from "../../form/lazy-form.tsx";
import { startingPoint } from "../../form/starting-point.ts";
import { isMac } from "../../format/keys.ts";
import { labelOf } from "../../format/labels.ts";
import { titleOf } from "./item-title.ts";
import { Trail } from "./trail.tsx";

export function InboxEntry({
  item,
  onSkip,
  onAnswered,
}: {
  readonly item: InboxItem;
  readonly onAnswered: (item: InboxItem) => void;
  readonly onSkip: (() => void) | undefined;
}) {
  const client = useQueryClient();
  const { suspension, workflowId, executionId } = item;
  const { resumeSchema } = suspension;
  const lead = typeof suspension.data === "string" ? suspension.data : undefined;
  const answer = async (data: unknown) => {
    const { suspensionId } = suspension;
    await andante.workflow(workflowId).execution(executionId).startResume(data, { suspensionId });
    onAnswered(item);
    // Removed from the list at once; the feed confirms it.
    const leave = (inbox: Inbox) => without(inbox, suspensionId);
    client.setQueryData<Inbox>(inboxQuery.queryKey, (inbox) => inbox && leave(inbox));
    client.setQueriesData<InfiniteData<Inbox>>(
      { queryKey: ["inbox", "pages"] },
      (data) => data && { ...data, pages: data.pages.map(leave) },
    );
  };
  return (
    <div className="inbox-one">
      <div>
        <h2>{titleOf(item)}</h2>
        {lead !== undefined && <p className="lead">{lead}</p>}
        <Facts data={suspension.data} />
        <section className="answer" aria-label="Answer">
          <LazyForm
            schema={resumeSchema}
            initial={startingPoint(suspension, item.example)}
            submit="Answer and continue"
            onSubmit={answer}
            beside={
              <>
                {onSkip && (
                  <button type="button" className="btn" onClick={onSkip}>
                    Skip
                  </button>
                )}
                <span className="keys">
                  {isMac ? "⌘⏎" : "Ctrl ⏎"} answers{onSkip && " · j / k moves"}
                </span>
              </>
            }
          />
        </section>
      </div>
      <aside className="trail">
        <Trail item={item} />
        <p>
          <Link className="link" to="/executions/$executionId" params={{ executionId }}>
            Open execution <span className="mono">{executionId.slice(0, 13)}</span> →
          </Link>
        </p>
        <p className="faint">
          asked <Ago time={suspension.suspendedAt} suffix=" ago" />
          {item.userId !== null && ` by ${item.userId}`}
        </p>
      </aside>
    </div>
  );
}

function without(inbox: Inbox, suspensionId: string): Inbox {
  return {
    ...inbox,
    items: inbox.items.filter(({ suspension }) => suspension.suspensionId !== suspensionId),
  };
}

/** The data of the suspension: a flat object as a list, any other value as JSON. */
function Facts({ data }: { readonly data: unknown }) {
  if (typeof data !== "object" || data === null || Array.isArray(data)) {
    return typeof data === "string" || data === undefined ? (
      <div style={{ height: 20 }} />
    ) : (
      <Whole data={data} />
    );
  }
  const entries = Object.entries(data);
  if (entries.length === 0 || entries.length > 12) return <Whole data={data} />;
  return (
    <dl className="facts">
      {entries.map(([name, value]) => (
        <Fact key={name} name={labelOf(name)} value={value} />
      ))}
    </dl>
  );
}

function Whole({ data }: { readonly data: unknown }) {
  return (
    <div style={{ margin: "20px 0" }}>
      <JsonView value={data} label="data" />
    </div>
  );
}

function Fact({ name, value }: { readonly name: string; readonly value: unknown }) {
  const isPlain = typeof value !== "object" || value === null;
  return (
    <>
      <dt>{name}</dt>
      <dd>
        {typeof value === "string" && isPicture(value) ? (
          <img src={value} alt={name} />
        ) : isPlain ? (
          String(value ?? "–")
        ) : (
          <JsonView value={value} label={name} />
        )}
      </dd>
    </>
  );
}
