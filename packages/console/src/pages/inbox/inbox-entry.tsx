// One open suspension: the question, its data, the form, and the position of the execution.
import type { Inbox, InboxItem, Step } from "@andante/client";
import { type InfiniteData, useQuery, useQueryClient } from "@tanstack/react-query";
import { useMemo } from "react";
import { inboxQuery, serverQuery, workflowQuery } from "../../api/queries.ts";
import { ExecutionLink } from "../../components/execution-link.tsx";
import { JsonView } from "../../components/json-view.tsx";
import { isPicture } from "../../components/markdown/addresses.ts";
import { Dot } from "../../components/status.tsx";
import { Ago, useNow } from "../../components/time.tsx";
import { draftKey } from "../../form/draft.ts";
import { LazyForm } from "../../form/lazy-form.tsx";
import { startingPoint } from "../../form/starting-point.ts";
import { deadlineWords } from "../../format/due.ts";
import { isMac } from "../../format/keys.ts";
import { labelOf } from "../../format/labels.ts";
import { duration } from "../../format/numbers.ts";
import { foldRun } from "../../run/run-history.ts";
import { attemptsOf, type StepRun, tookOf } from "../../run/step-runs.ts";
import { journalQuery } from "../execution/journal.ts";
import { answerItem } from "./answer-item.ts";
import { ChatLink } from "./chat-link.tsx";
import { titleOf } from "./item-title.ts";

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
  const { suspension, executionId } = item;
  const { resumeSchema } = suspension;
  const { data: server } = useQuery(serverQuery);
  const lead = typeof suspension.data === "string" ? suspension.data : undefined;
  const answer = async (data: unknown) => {
    const { suspensionId } = suspension;
    await answerItem(item, data);
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
            initial={startingPoint(suspension)}
            submit="Answer and continue"
            draft={draftKey(server?.user?.id, executionId, suspension)}
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
        {item.agentId === null ? (
          <>
            <Trail item={item} />
            <p>
              <ExecutionLink className="link" id={executionId}>
                Open execution <span className="mono">{executionId.slice(0, 13)}</span> →
              </ExecutionLink>
            </p>
          </>
        ) : (
          <>
            <h3>What happens next</h3>
            <p>The reply of {item.agentId} continues in the chat. Nothing runs until you decide.</p>
            <p>
              <ChatLink item={item}>Open the chat →</ChatLink>
            </p>
          </>
        )}
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

/** The steps of an execution before and after its suspension. */
function Trail({ item }: { readonly item: InboxItem }) {
  const { data: workflow } = useQuery(workflowQuery(item.workflowId));
  const { data: events } = useQuery(journalQuery(useQueryClient(), item.executionId));
  const now = useNow();
  const run = useMemo(() => events && foldRun(events), [events]);
  if (workflow === undefined || run === undefined) return <span className="skeleton" />;
  const { stepIndex, deadline } = item.suspension;
  const here = workflow.steps[stepIndex];
  const before = workflow.steps.slice(0, stepIndex);
  const after = workflow.steps.slice(stepIndex + 1);
  const waits = deadline === undefined ? "waits for you" : `waits for you; ${deadlineWords(deadline, now)}`;
  return (
    <>
      <h3>What happens next</h3>
      <ol>
        <li>
          <Dot status="suspended" />
          {here?.name ?? item.suspension.stepId}
          <small>{waits}</small>
        </li>
        {after.slice(0, 5).map((step) => (
          <li key={step.id}>
            <i className="dot" style={{ color: "var(--line2)" }} />
            <span className="muted">{step.name}</span>
            <small>{step.purpose || step.type}</small>
          </li>
        ))}
      </ol>
      {before.length > 0 && (
        <>
          <h3>How it got here</h3>
          <ol>
            {before.slice(-5).map((step) => (
              <Past key={step.id} step={step} run={run.get(step.id)} />
            ))}
          </ol>
        </>
      )}
    </>
  );
}

function Past({ step, run }: { readonly step: Step; readonly run: StepRun | undefined }) {
  const attempts = run === undefined ? 0 : attemptsOf(run);
  const words = [
    step.purpose,
    run?.endAt != null ? duration(tookOf(run, run.endAt)) : "",
    attempts > 1 ? `${attempts} attempts` : "",
    run?.status === "skipped" ? "skipped" : "",
  ];
  return (
    <li>
      <Dot status={run?.status ?? "completed"} agent={step.type === "andAgent"} />
      {step.name}
      <small>{words.filter((word) => word !== "").join(" · ")}</small>
    </li>
  );
}
