// The inbox: the open suspensions, and the form that answers one.
import type { InboxItem, Step } from "@andante/client";
import { useInfiniteQuery, useMutation, useQueries, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useLocation, useSearch } from "@tanstack/react-router";
import { ArrowLeft } from "lucide-react";
import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import {
  answersQuery,
  exampleQuery,
  executionQuery,
  inboxQuery,
  wholeInboxQuery,
  workflowQuery,
  workflowsQuery,
} from "../../api/queries.ts";
import { ExecutionLink } from "../../components/execution-link.tsx";
import { inlineWords } from "../../components/inline-json.ts";
import { Problem } from "../../components/problem.tsx";
import { ShowMore } from "../../components/show-more.tsx";
import { Status } from "../../components/status.tsx";
import { Ago, useNow } from "../../components/time.tsx";
import { useKeys } from "../../components/use-keys.ts";
import { deadlineWords } from "../../format/due.ts";
import { count, duration } from "../../format/numbers.ts";
import { Page, Skeleton } from "../../layout/page.tsx";
import { useSearchChange } from "../../layout/search.ts";
import { ChatLink } from "./chat-link.tsx";
import { itemToShow, nextAfter } from "./choose-item.ts";
import { InboxEntry } from "./inbox-entry.tsx";
import { Filters } from "./inbox-filters.tsx";
import { countOf, placeOf, titleOf } from "./item-title.ts";
import "./inbox.css";
import { andante } from "../../api/andante.ts";

const orders = ["deadline", "user"] as const;
const steps: Readonly<Record<string, number>> = { j: 1, k: -1 };

export function InboxPage() {
  const search = useSearch({ strict: false });
  const { decision } = useLocation().state;
  const change = useSearchChange();
  const { data: oldest, error, isPending } = useQuery(inboxQuery);
  const all = oldest?.items ?? [];
  const order = orders.find((each) => each === search.sort);
  const { workflowId, agentId, text } = search;
  const pages = useInfiniteQuery(wholeInboxQuery({ workflowId, agentId, text, order }));
  const items = pages.data?.pages.flatMap((page) => page.items) ?? [];
  const [answered, setAnswered] = useState<InboxItem>();
  const [opened, setOpened] = useState<InboxItem>();
  const item = itemToShow(items, search, opened, answered);
  if (item !== opened) setOpened(item);
  const at = item === undefined ? -1 : items.indexOf(item);
  const isGone = item !== undefined && at === -1;
  const select = (next: InboxItem | undefined) => change({ item: next?.suspension.suspensionId });
  // The element that gets the focus once this item is shown, or none.
  const focusNext = useRef<{ readonly at: string; readonly shown: string | undefined }>(undefined);
  const move = (by: number) => {
    const next = items[at + by];
    if (next === undefined) return;
    focusNext.current = { at: ".inbox-item.on", shown: next.suspension.suspensionId };
    select(next);
  };
  useKeys(({ key, metaKey, ctrlKey }, field) => {
    if (field === null && !metaKey && !ctrlKey) move(steps[key] ?? 0);
  });
  const onListKey = (event: KeyboardEvent) => {
    const by = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (by === 0 || !(event.target instanceof HTMLAnchorElement)) return;
    event.preventDefault();
    move(by);
  };
  const shownId = item?.suspension.suspensionId;
  const isEmpty = all.length === 0;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the focus moves when another item is shown, or none
  useEffect(() => {
    const next = focusNext.current;
    if (next === undefined || next.shown !== shownId) return;
    focusNext.current = undefined;
    document.querySelector<HTMLElement>(next.at)?.focus();
  }, [shownId, isEmpty]);
  // The item in the address may be on a later page.
  const isMissing =
    search.item !== undefined && item === undefined && pages.isSuccess && !pages.isPlaceholderData;
  const readsOn = isMissing && pages.hasNextPage;
  const { isFetchingNextPage, fetchNextPage } = pages;
  useEffect(() => {
    if (readsOn && !isFetchingNextPage) void fetchNextPage();
  }, [readsOn, isFetchingNextPage, fetchNextPage]);

  return (
    <Page title="Inbox" note={all.length === 0 ? undefined : `${countOf(oldest)} waiting`}>
      {answered && <Answered item={answered} />}
      {isGone && (
        <p className="answered" role="status">
          This no longer waits: it was answered elsewhere, or it has ended.
        </p>
      )}
      <Problem error={error} what="The inbox cannot be read" />
      {isPending && <Skeleton />}
      {oldest !== undefined && all.length === 0 && <EmptyInbox />}
      {all.length > 0 && (
        // On a narrow screen: the list, or the item that was chosen from it.
        <div className="inbox" data-open={search.item !== undefined}>
          {/* biome-ignore lint/a11y/noStaticElementInteractions: arrows move between the links inside */}
          <div className="inbox-list" onKeyDown={onListKey}>
            <Filters inbox={oldest} />
            {items.map((each, index) => (
              <Entry
                key={each.suspension.suspensionId}
                item={each}
                on={each === item}
                isStop={each === item || (at === -1 && index === 0)}
              />
            ))}
            {pages.isSuccess && items.length === 0 && (
              <p className="muted none" role="status">
                {pages.hasNextPage ? "Nothing found yet." : "Nothing that waits matches."}
              </p>
            )}
            {pages.hasNextPage && <ShowMore pages={pages} className="btn more" />}
            <AnsweredToday />
          </div>
          <Link to="/inbox" search={{ ...search, item: undefined }} className="inbox-back link">
            <ArrowLeft aria-hidden="true" width={14} /> All that waits
          </Link>
          {item && (
            <InboxEntry
              key={item.suspension.suspensionId}
              item={item}
              decision={item.suspension.suspensionId === search.item ? decision : undefined}
              onAnswered={(done) => {
                setAnswered(done);
                const next = nextAfter(items, done);
                focusNext.current = { at: ".inbox-one h2, .empty h2", shown: next?.suspension.suspensionId };
                select(next);
              }}
              onSkip={items.length > (isGone ? 0 : 1) ? () => select(items[at + 1] ?? items[0]) : undefined}
            />
          )}
          {isMissing && !readsOn && (
            <p className="inbox-gone muted" role="status">
              This was already answered, or you cannot see it.
            </p>
          )}
        </div>
      )}
    </Page>
  );
}

/** The last answered item, and the progress of its execution. */
function Answered({ item }: { readonly item: InboxItem }) {
  const { executionId } = item;
  const isOfChat = item.agentId !== null;
  const { data } = useQuery({ ...executionQuery(executionId), enabled: !isOfChat });
  return (
    <div className="answered" role="status">
      <Status status={data?.status ?? "running"} />
      <span className="cut">Answered: {titleOf(item)}</span>
      {isOfChat ? (
        <ChatLink item={item}>Watch it continue →</ChatLink>
      ) : (
        <ExecutionLink className="link" id={executionId}>
          Watch it continue →
        </ExecutionLink>
      )}
    </div>
  );
}

/** The answers since midnight; nothing for a user who sees only its own executions. */
function AnsweredToday() {
  const { data } = useQuery(answersQuery(new Date().setHours(0, 0, 0, 0)));
  const { count: answers = 0, p50 = null } = data?.answers ?? {};
  if (p50 === null) return null;
  return (
    <p className="faint none" title="Questions of workflows; decisions in chats are not counted">
      Answered today: {count(answers)} · median wait {duration(p50)}
    </p>
  );
}

/** `isStop`: the one link of the list in the tab order, so that the form follows it. */
function Entry({
  item,
  on,
  isStop,
}: {
  readonly item: InboxItem;
  readonly on: boolean;
  readonly isStop: boolean;
}) {
  const now = useNow();
  const { suspension } = item;
  const search = useSearch({ strict: false });
  return (
    <Link
      to="/inbox"
      search={{ ...search, item: suspension.suspensionId }}
      className={on ? "inbox-item on" : "inbox-item"}
      aria-current={on ? "true" : undefined}
      tabIndex={isStop ? 0 : -1}
    >
      <div className="line">
        <b className="cut" style={{ fontWeight: 580 }}>
          {titleOf(item)}
        </b>
        {suspension.deadline !== undefined && (
          <span className="late" style={{ whiteSpace: "nowrap" }}>
            {deadlineWords(suspension, now)}
          </span>
        )}
      </div>
      <div className="line muted">
        <span className="cut">{inlineWords(suspension.data, 80)}</span>
        <span style={{ whiteSpace: "nowrap" }}>
          <Ago time={suspension.suspendedAt} />
        </span>
      </div>
      <div className="where">
        {placeOf(item)}
        {item.userId !== null && ` · ${item.userId}`}
      </div>
    </Link>
  );
}

function asks(steps: readonly Step[]): boolean {
  return steps.some((step) => step.resumeSchema !== undefined || asks(step.steps ?? []));
}

/** The empty inbox: its purpose, and a workflow that would fill it. */
function EmptyInbox() {
  const { data: workflows = [] } = useQuery(workflowsQuery);
  const details = useQueries({ queries: workflows.slice(0, 20).map(({ id }) => workflowQuery(id)) });
  const example = details
    .flatMap(({ data }) => data ?? [])
    .find(({ steps, resumeSchema }) => resumeSchema !== null || asks(steps));
  return (
    <div className="empty">
      <h2 tabIndex={-1}>Nothing waits for a person</h2>
      <p>
        A step that calls <code className="mono">suspend</code> waits here, with its reason, its data and a
        form made from its resume schema, and so does a tool call of a chat that needs approval. After the
        answer the execution or the reply continues at once.
      </p>
      {example && <TryIt id={example.id} name={example.name} />}
      <AnsweredToday />
    </div>
  );
}

/** Starts the workflow with its example input; its suspension then replaces this view. */
function TryIt({ id, name }: { readonly id: string; readonly name: string }) {
  const client = useQueryClient();
  const start = useMutation({
    mutationFn: async () => {
      const { input } = await client.fetchQuery(exampleQuery(id));
      return andante.workflow(id).start(input);
    },
    onSuccess: () => client.invalidateQueries({ queryKey: ["inbox"] }),
  });
  return (
    <>
      <p>
        <button
          type="button"
          className="btn primary"
          disabled={start.isPending}
          onClick={() => start.mutate()}
        >
          Try it: run {name}
        </button>
      </p>
      {start.isSuccess && <p role="status">{name} runs; what it asks appears here.</p>}
      <Problem error={start.error} what={`${name} was not started`} />
    </>
  );
}
