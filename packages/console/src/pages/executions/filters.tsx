// The filters of the list: each is a query parameter of the address.
import type { ExecutionCounts } from "@andante/client";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ChevronDown, X } from "lucide-react";
import { memo, useEffect, useRef, useState } from "react";
import { serverQuery } from "../../api/queries.ts";
import { Choice, Menu, WorkflowMenu } from "../../components/menu.tsx";
import { useSlash } from "../../components/use-keys.ts";
import { shortId } from "../../format/numbers.ts";
import { executionStatuses } from "../../format/status.ts";
import { type Search, useSearchChange } from "../../layout/search.ts";
import { countText } from "./list-counts.ts";
import { spanOf, spans } from "./spans.ts";

export const Filters = memo(function Filters({
  search,
  counts,
}: {
  readonly search: Search;
  readonly counts: ExecutionCounts | undefined;
}) {
  const { data: server } = useQuery(serverQuery);
  const set = useSearchChange({ replace: false });
  return (
    <div className="filters">
      <Link
        to="/executions"
        search={{ ...search, status: undefined }}
        className={search.status ? "chip" : "chip on"}
      >
        Any status
      </Link>
      {executionStatuses.map((status) => (
        <Link
          key={status}
          to="/executions"
          search={{ ...search, status }}
          className={search.status === status ? "chip on" : "chip"}
        >
          {status}{" "}
          {counts && counts[status].count > 0 && <small className="num">{countText(counts[status])}</small>}
        </Link>
      ))}
      <Link
        to="/executions"
        search={{ ...search, parked: search.parked === "true" ? undefined : "true" }}
        className={search.parked === "true" ? "chip on" : "chip"}
        title="Executions that no process may run, because their workflow has changed or they made no progress"
      >
        parked
      </Link>
      <span className="gap" />
      <WorkflowMenu chosen={search.workflowId} onChoose={(workflowId) => set({ workflowId })} />
      <Word name="userId" label="user" search={search} />
      <Word name="tag" label="tag" search={search} />
      {search.replayOf && <Word name="replayOf" label="replays of" search={search} />}
      {server?.search && (
        <TextField
          label="value begins with"
          hint="value"
          value={search.text ?? ""}
          onChange={(text) => set({ text: text || undefined })}
        />
      )}
      <TextField
        label="id begins with"
        hint="id   /"
        slash
        value={search.id ?? ""}
        onChange={(id) => set({ id: id || undefined })}
      />
      <span className="grow" />
      <Menu label={spanOf(search.since)?.label ?? "any time"}>
        <Choice onSelect={() => set({ since: undefined })}>any time</Choice>
        {spans.map(([since, label]) => (
          <Choice key={since} onSelect={() => set({ since })}>
            {label}
          </Choice>
        ))}
      </Menu>
    </div>
  );
});

/** A filter with free text: a chip that becomes an input. */
function Word({
  name,
  label,
  search,
}: {
  readonly name: "userId" | "tag" | "replayOf";
  readonly label: string;
  readonly search: Search;
}) {
  const [editing, setEditing] = useState(false);
  const set = useSearchChange({ replace: false });
  const value = search[name];
  if (value !== undefined) {
    return (
      <Link
        to="/executions"
        search={{ ...search, [name]: undefined }}
        className="chip"
        aria-label={`Remove ${label} ${value}`}
      >
        {label}: <b>{name === "replayOf" ? shortId(value) : value}</b> <X aria-hidden="true" width={12} />
      </Link>
    );
  }
  if (!editing) {
    return (
      <button type="button" className="chip" onClick={() => setEditing(true)}>
        {label}
        <ChevronDown aria-hidden="true" width={12} />
      </button>
    );
  }
  const done = (text: string) => {
    setEditing(false);
    if (text !== "") set({ [name]: text });
  };
  return (
    <input
      className="field id-field"
      aria-label={label}
      placeholder={label}
      // biome-ignore lint/a11y/noAutofocus: it replaces the button that was just pressed
      autoFocus
      onBlur={(event) => done(event.target.value.trim())}
      onKeyDown={(event) => event.key === "Enter" && done(event.currentTarget.value.trim())}
    />
  );
}

/** A filter by the beginning of an id or a value. `slash`: the key `/` focuses it. */
function TextField({
  label,
  hint,
  slash = false,
  value,
  onChange,
}: {
  readonly label: string;
  /** The short label in the field. */
  readonly hint: string;
  readonly slash?: boolean;
  readonly value: string;
  readonly onChange: (text: string) => void;
}) {
  const field = useRef<HTMLInputElement>(null);
  const none = useRef<HTMLInputElement>(null);
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  useSlash(slash ? field : none);
  return (
    <input
      ref={field}
      className="field id-field mono"
      aria-label={label}
      title={label}
      placeholder={hint}
      value={text}
      onChange={(event) => setText(event.target.value)}
      onBlur={() => text !== value && onChange(text.trim())}
      onKeyDown={(event) => event.key === "Enter" && onChange(text.trim())}
    />
  );
}
