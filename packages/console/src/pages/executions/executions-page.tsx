// The list of all executions: filters in the address, infinite scrolling, live rows, bulk commands.
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { useCallback, useEffect, useMemo, useState } from "react";
import {
  countsQuery,
  executionsQuery,
  searchQuery,
  seesAll,
  serverQuery,
  workflowsQuery,
} from "../../api/queries.ts";
import type { ExecutionPage, ExecutionSummary } from "../../api/types.ts";
import { Problem } from "../../components/problem.tsx";
import { plural } from "../../format/numbers.ts";
import { Page, Skeleton } from "../../layout/page.tsx";
import { BulkActions } from "./bulk-actions.tsx";
import { ExecutionGrid } from "./execution-grid.tsx";
import { Filters } from "./filters.tsx";
import { filtersOf } from "./filters-of.ts";
import { heldRows } from "./held-rows.ts";
import { countsOf, totalText } from "./list-counts.ts";
import { OverTime } from "./over-time.tsx";
import { asTheyStand, selectionOf } from "./selection.ts";
import { ViewMenu } from "./view-menu.tsx";
import "./executions.css";
import { RunForm } from "../workflows/run-form.tsx";

export function ExecutionsPage() {
  const search = useSearch({ strict: false });
  const filters = useMemo(() => filtersOf(search), [search]);
  const isSearch = filters.text !== undefined;
  const listed = useInfiniteQuery({ ...executionsQuery(filters), enabled: !isSearch });
  const found = useInfiniteQuery({ ...searchQuery(filters), enabled: isSearch });
  const list = isSearch ? found : listed;
  const rows = useMemo(() => list.data?.pages.flatMap(({ executions }) => executions) ?? [], [list.data]);
  const [held, setHeld] = useState<readonly ExecutionSummary[]>();
  const shown = useMemo(() => heldRows(held, rows), [held, rows]);
  const [chosen, setChosen] = useState(() => selectionOf([]));
  // The rows move again: new filters have other rows, and a command on many makes new ones.
  const choose = useCallback((left: readonly ExecutionSummary[]) => {
    setChosen(selectionOf(left));
    setHeld(undefined);
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: new filters clear the selection, which may be out of view
  useEffect(() => choose([]), [JSON.stringify(search), choose]);
  const { data: counted } = useQuery({ ...countsQuery(filters), enabled: !isSearch });
  // The executions that a search finds are not counted.
  const counts = isSearch ? undefined : counted;
  const inAll = counts && countsOf(counts, filters.status);
  const isFiltered = Object.keys(filters).length > 0;
  return (
    <Page
      title="Executions"
      note={list.data && totalText(inAll, rows.length, !list.hasNextPage)}
      action={<ViewMenu search={search} />}
    >
      <div className="executions">
        <Filters search={search} counts={counts} />
        <OverTime search={search} />
        <Problem padded error={list.error} what="The list cannot be read" />
        {isSearch && <SearchNote text={filters.text ?? ""} pages={list.data?.pages ?? []} />}
        {list.isPending ? (
          <Skeleton />
        ) : rows.length === 0 ? (
          list.data && <EmptyList isFiltered={isFiltered} />
        ) : (
          <ExecutionGrid
            rows={shown.rows}
            onHold={(isHeld) => setHeld(isHeld ? shown.rows : undefined)}
            chosen={chosen}
            onChoose={setChosen}
            more={list.hasNextPage && !list.isFetchingNextPage ? () => void list.fetchNextPage() : undefined}
          />
        )}
        {shown.waiting > 0 && (
          <button type="button" className="chip on newer" onClick={() => setHeld(rows)}>
            {plural(shown.waiting, "newer execution")}: show
          </button>
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

/** The empty list: no execution matches the filters, or none has run yet. */
function EmptyList({ isFiltered }: { readonly isFiltered: boolean }) {
  const { data: workflows = [] } = useQuery(workflowsQuery);
  const { data: server } = useQuery(serverQuery);
  const [first] = workflows;
  if (isFiltered) {
    return (
      <div className="empty">
        <h2>Nothing matches these filters</h2>
        <p>
          <Link className="link" to="/executions" search={{}}>
            {seesAll(server) ? "Show all executions" : "Show all your executions"}
          </Link>
        </p>
      </div>
    );
  }
  return (
    <div className="empty">
      <h2>{seesAll(server) ? "Nothing has run yet" : "You have run nothing yet"}</h2>
      {!seesAll(server) && <p>You see only your own executions; those of others are not listed.</p>}
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
