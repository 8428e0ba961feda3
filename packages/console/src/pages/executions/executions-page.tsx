// The list of all executions: filters in the address, infinite scrolling, live rows, bulk commands.
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { useCallback, useEffect, useMemo, useState } from "react";
import {
  type ExecutionFilters,
  executionsQuery,
  searchQuery,
  serverQuery,
  workflowsQuery,
} from "../../api/queries.ts";
import type { ExecutionPage, ExecutionSummary } from "../../api/types.ts";
import { Problem } from "../../components/problem.tsx";
import { count } from "../../format/numbers.ts";
import { executionStatuses } from "../../format/status.ts";
import { Page } from "../../layout/page.tsx";
import type { Search } from "../../layout/search.ts";
import { BulkActions } from "./bulk-actions.tsx";
import { ExecutionGrid } from "./execution-grid.tsx";
import { Filters } from "./filters.tsx";
import { useActivityOf } from "./list-counts.ts";
import { OverTime } from "./over-time.tsx";
import { asTheyStand, selectionOf } from "./selection.ts";
import { spanOf } from "./spans.ts";
import "./executions.css";
import { RunForm } from "../workflows/run-form.tsx";

/** The filters of the address, as the server takes them. */
function filtersOf({ workflowId, userId, tag, id, text, since, ...search }: Search): ExecutionFilters {
  const status = executionStatuses.find((each) => each === search.status);
  const given = { status, workflowId, userId, tag, id, text, from: spanOf(since)?.from };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined && value !== ""));
}

export function ExecutionsPage() {
  const search = useSearch({ strict: false });
  const filters = useMemo(() => filtersOf(search), [search]);
  const isSearch = filters.text !== undefined;
  const listed = useInfiniteQuery({ ...executionsQuery(filters), enabled: !isSearch });
  const found = useInfiniteQuery({ ...searchQuery(filters), enabled: isSearch });
  const list = isSearch ? found : listed;
  const rows = useMemo(() => list.data?.pages.flatMap(({ executions }) => executions) ?? [], [list.data]);
  const [chosen, setChosen] = useState(() => selectionOf([]));
  const choose = useCallback((left: readonly ExecutionSummary[]) => setChosen(selectionOf(left)), []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: new filters clear the selection, which may be out of view
  useEffect(() => choose([]), [JSON.stringify(search), choose]);
  const isFiltered = Object.keys(filters).length > 0;
  return (
    <Page
      title="Executions"
      note={list.data && <Note shown={rows.length} more={list.hasNextPage} search={search} />}
    >
      <div className="executions">
        <Filters search={search} />
        <OverTime search={search} />
        <Problem padded error={list.error} what="The list cannot be read" />
        {isSearch && <SearchNote text={filters.text ?? ""} pages={list.data?.pages ?? []} />}
        {list.data && rows.length === 0 ? (
          <EmptyList isFiltered={isFiltered} />
        ) : (
          <ExecutionGrid
            rows={rows}
            chosen={chosen}
            onChoose={setChosen}
            more={list.hasNextPage && !list.isFetchingNextPage ? () => void list.fetchNextPage() : undefined}
          />
        )}
        <BulkActions executions={asTheyStand(chosen, rows)} onChoose={choose} />
      </div>
    </Page>
  );
}

/** The limits of a search, where they may hide executions. */
function SearchNote({ text, pages }: { readonly text: string; readonly pages: readonly ExecutionPage[] }) {
  const notes = [
    ...(text.trim().length < 3 ? ["Fewer than three characters find whole values only."] : []),
    ...(pages.some(({ complete }) => complete === false)
      ? ["So many values match that not all of them were read. A longer text finds the others."]
      : []),
  ];
  if (notes.length === 0) return null;
  return (
    <p className="search-note muted" role="status">
      {notes.join(" ")}
    </p>
  );
}

/** The total number of executions when all are loaded or the server knows it, else the number in the counted period. */
function Note({
  shown,
  more,
  search,
}: {
  readonly shown: number;
  readonly more: boolean;
  readonly search: Search;
}) {
  const { activity, label } = useActivityOf(search);
  const { data: server } = useQuery(serverQuery);
  if (!more) return `${count(shown)} in all`;
  const { status, workflowId, userId, tag, id, text, since } = search;
  const isByStatusAlone = (workflowId ?? userId ?? tag ?? id ?? text ?? since) === undefined;
  if (status === "suspended" && isByStatusAlone && server && server.suspended !== null)
    return `${count(server.suspended)} in all`;
  const started = activity?.points.reduce((sum, point) => sum + point.started, 0) ?? 0;
  if (started < shown || (status ?? userId ?? tag ?? id ?? text) !== undefined)
    return `more than ${count(shown)}`;
  return `${count(started)} started, ${label}`;
}

/** The empty list: no execution matches the filters, or none has run yet. */
function EmptyList({ isFiltered }: { readonly isFiltered: boolean }) {
  const { data: workflows = [] } = useQuery(workflowsQuery);
  const [first] = workflows;
  if (isFiltered) {
    return (
      <div className="empty">
        <h2>Nothing matches these filters</h2>
        <p>
          <Link className="link" to="/executions" search={{}}>
            Show all executions
          </Link>
        </p>
      </div>
    );
  }
  return (
    <div className="empty">
      <h2>Nothing has run yet</h2>
      <p>
        {first === undefined ? (
          <>
            Register a workflow with <code className="mono">serve</code>; each run of it is an execution and
            appears here.
          </>
        ) : (
          `Each run of a workflow is an execution and appears here. Start with ${first.name}:`
        )}
      </p>
      {first && <RunForm workflowId={first.id} />}
    </div>
  );
}
