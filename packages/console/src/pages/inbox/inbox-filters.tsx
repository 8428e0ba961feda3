// The filters of the inbox: the workflow or the agent, a text, the order. They are in the address, and can be saved in this browser.
import type { Inbox } from "@andante/client";
import { Link, useSearch } from "@tanstack/react-router";
import { X } from "lucide-react";
import { useState } from "react";
import { SearchField } from "../../components/search-field.tsx";
import { count } from "../../format/numbers.ts";
import { parseSearch, type Search, stringifySearch, useSearchChange } from "../../layout/search.ts";
import { countOf } from "./item-title.ts";

const orders = [
  ["", "oldest first"],
  ["deadline", "by deadline"],
  ["user", "by user"],
] as const;

export function Filters({ inbox }: { readonly inbox: Inbox | undefined }) {
  const { workflowId, agentId, text, sort } = useSearch({ strict: false });
  const change = useSearchChange();
  const { workflows = [], agents = [] } = inbox?.counts ?? {};
  const chips = [
    ...withChosen(
      workflows.map((each) => [each.workflowId, each.count]),
      workflowId,
    ).map(([id, waiting]) => ({ search: { workflowId: id }, words: id, on: id === workflowId, waiting })),
    ...withChosen(
      agents.map((each) => [each.agentId, each.count]),
      agentId,
    ).map(([id, waiting]) => ({
      search: { agentId: id },
      words: `Chats of ${id}`,
      on: id === agentId,
      waiting,
    })),
  ];
  const isWhole = workflowId === undefined && agentId === undefined;
  return (
    <div className="inbox-filters">
      <div className="row">
        <SearchField
          label="Search the inbox"
          hint="Search"
          className="field grow"
          value={text}
          onChange={(next) => change({ text: next, item: undefined })}
        />
        <select
          className="field order-field"
          aria-label="Order"
          value={sort ?? ""}
          onChange={(event) => change({ sort: event.target.value, item: undefined })}
        >
          {orders.map(([order, words]) => (
            <option key={order} value={order}>
              {words}
            </option>
          ))}
        </select>
      </div>
      <Link to="/inbox" search={{ text, sort }} className={isWhole ? "chip on" : "chip"}>
        Everything {countOf(inbox)}
      </Link>
      {chips.map(({ search, words, on, waiting }) => (
        <Link key={words} to="/inbox" search={{ ...search, text, sort }} className={on ? "chip on" : "chip"}>
          {words} {count(waiting)}
        </Link>
      ))}
      <SavedFilters current={{ workflowId, agentId, text, sort }} />
    </div>
  );
}

/** The counts, also of the id that is chosen and of which none waits. */
function withChosen(
  counts: readonly (readonly [id: string, count: number])[],
  chosen: string | undefined,
): readonly (readonly [id: string, count: number])[] {
  return chosen === undefined || counts.some(([id]) => id === chosen) ? counts : [...counts, [chosen, 0]];
}

const key = "andante-inbox-filters";
const mostSaved = 12;

function SavedFilters({ current }: { readonly current: Search }) {
  const [saved, setSaved] = useState(readSaved);
  const change = (next: readonly string[]) => {
    setSaved(next);
    try {
      localStorage.setItem(key, JSON.stringify(next));
    } catch {
      // Without storage they last as long as the page.
    }
  };
  const shown = stringifySearch(current);
  return (
    <>
      {saved.map((filter) => (
        <span key={filter} className={filter === shown ? "chip on" : "chip"}>
          <Link to="/inbox" search={parseSearch(filter)}>
            {wordsOf(parseSearch(filter))}
          </Link>
          <button
            type="button"
            className="text-button"
            aria-label={`Remove the filter ${wordsOf(parseSearch(filter))}`}
            onClick={() => change(saved.filter((each) => each !== filter))}
          >
            <X aria-hidden="true" width={12} />
          </button>
        </span>
      ))}
      {shown !== "" && !saved.includes(shown) && saved.length < mostSaved && (
        <button type="button" className="chip" onClick={() => change([...saved, shown])}>
          Save this filter
        </button>
      )}
    </>
  );
}

function readSaved(): readonly string[] {
  try {
    const saved: unknown = JSON.parse(localStorage.getItem(key) ?? "[]");
    return Array.isArray(saved) ? saved.filter((each) => typeof each === "string").slice(0, mostSaved) : [];
  } catch {
    return [];
  }
}

function wordsOf({ workflowId, agentId, text, sort }: Search): string {
  const order = orders.find(([each]) => each === sort)?.[1];
  return [workflowId, agentId && `Chats of ${agentId}`, text && `“${text}”`, sort && order]
    .filter(Boolean)
    .join(" · ");
}
