// One open suspension: the question, its data, the form, and the position of the execution.
import type { Inbox, InboxItem, Step } from "@andante/client";
import { type InfiniteData, useQuery, useQueryClient } from "@tanstack/react-query";
import { useMemo } from "react";
import { inboxQuery, serverQuery, workflowQuery } from "../../api/queries.ts";
import { ExecutionLink } from "../../components/execution-link.tsx";
import { Dot } from "../../components/status.tsx";
import { Ago, useNow } from "../../components/time.tsx";
import { draftKey } from "../../form/draft.ts";
import { LazyForm } from "../../form/lazy-form.tsx";
import { startingPoint } from "../../form/starting-point.ts";
import { deadlineWords } from "../../format/due.ts";
import { isMac } from "../../format/keys.ts";
import { duration } from "../../format/numbers.ts";
import { foldRun } from "../../run/run-history.ts";
import { attemptsOf, type StepRun, tookOf } from "../../run/step-runs.ts";
import { journalQuery } from "../execution/journal.ts";
import { answerItem } from "./answer-item.ts";
import { ChatLink } from "./chat-link.tsx";
import { decisionField } from "./decision-field.ts";
import { Facts, Text } from "./facts.tsx";
import { titleOf } from "./item-title.ts";

export function InboxEntry({
  item,
  decision,
  onSkip,
  onAnswered,
}: {
  readonly item: InboxItem;
  /** Yes or No, if it was chosen already. */
  readonly decision: boolean | undefined;
  readonly onAnswered: (item: InboxItem) => void;
  readonly onSkip: (() => void) | undefined;
}) {
  const client = useQueryClient();
  const { suspension, executionId } = item;
  const { resumeSchema } = suspension;
  const field = decisionField(suspension);
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
        <h2 tabIndex={-1}>{titleOf(item)}</h2>
        {lead !== undefined && (
          <div className="lead">
            <Text text={lead} name="The question" />
          </div>
        )}
        <Facts data={suspension.data} />
        <section className="answer" aria-label="Answer">
          <LazyForm
            schema={resumeSchema}
            initial={startingPoint(suspension)}
            chosen={field === undefined || decision === undefined ? undefined : { [field]: decision }}
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
  const left = inbox.items.find(({ suspension }) => suspension.suspensionId === suspensionId);
  const { counts } = inbox;
  const less = <Each extends { readonly count: number }>(each: Each, isIts: boolean): Each =>
    isIts ? { ...each, count: each.count - 1 } : each;
  const workflows = counts?.workflows.map((each) => less(each, each.workflowId === left?.workflowId));
  const agents = counts?.agents.map((each) => less(each, each.agentId === left?.agentId));
  return {
    ...inbox,
    items: inbox.items.filter((each) => each !== left),
    ...(counts &&
      left && {
        counts: { ...counts, total: counts.total - 1, workflows: workflows ?? [], agents: agents ?? [] },
      }),
  };
}

/** The steps of an execution before and after its suspension. */
function Trail({ item }: { readonly item: InboxItem }) {
  const { data: workflow, isError } = useQuery(workflowQuery(item.workflowId));
  const { data: events } = useQuery(journalQuery(useQueryClient(), item.executionId));
  const now = useNow();
  const run = useMemo(() => events && foldRun(events), [events]);
  // A workflow that is not registered any more has no steps to show.
  if (isError) return null;
  if (workflow === undefined || run === undefined) return <span className="skeleton" />;
  const { stepIndex, deadline } = item.suspension;
  const here = workflow.steps[stepIndex];
  const before = workflow.steps.slice(0, stepIndex);
  const after = workflow.steps.slice(stepIndex + 1);
  const waits =
    deadline === undefined ? "waits for you" : `waits for you; ${deadlineWords(item.suspension, now)}`;
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
