// Logs: a live tail with filters; each line links to its execution.
import type { LogRecord } from "@andante/client";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { workflowsQuery } from "../../api/queries.ts";
import { LogLine } from "../../components/log-line.tsx";
import { Choice, Menu } from "../../components/menu.tsx";
import { useSlash } from "../../components/use-keys.ts";
import { plural, shortId } from "../../format/numbers.ts";
import { Page } from "../../layout/page.tsx";
import type { Search } from "../../layout/search.ts";
import { useLogTail } from "./follow-logs.ts";
import "../execution/execution.css";
import "../executions/executions.css";
import "./logs.css";

const levels = ["debug", "info", "warn", "error"] as const;

export function LogsPage() {
  const search = useSearch({ strict: false });
  const { level, workflowId, executionId, agentId, text = "" } = search;
  const { lines, connected, problem } = useLogTail({ level, workflowId, executionId, agentId });
  const wanted = text.toLowerCase();
  const shown =
    wanted === "" ? lines : lines.filter((line) => JSON.stringify(line).toLowerCase().includes(wanted));
  const note = connected ? `${plural(shown.length, "line")}, live` : "connecting …";
  return (
    <Page title="Logs" note={note}>
      <Filters search={search} />
      {problem !== undefined && <p className="note-bar bad">{problem}</p>}
      <Lines lines={shown} />
    </Page>
  );
}

function Filters({ search }: { readonly search: Search }) {
  const navigate = useNavigate();
  const { data: workflows = [] } = useQuery(workflowsQuery);
  const [text, setText] = useState(search.text ?? "");
  const field = useRef<HTMLInputElement>(null);
  useSlash(field);
  const set = (change: Partial<Record<keyof Search, string | undefined>>) => {
    const next = Object.entries({ ...search, ...change }).filter(
      ([, value]) => value !== undefined && value !== "",
    );
    void navigate({ to: "/logs", search: Object.fromEntries(next), replace: true });
  };
  return (
    <div className="filters">
      {levels.map((level) => (
        <button
          key={level}
          type="button"
          className="chip"
          aria-pressed={(search.level ?? "debug") === level}
          onClick={() => set({ level: level === "debug" ? undefined : level })}
        >
          {level === "debug" ? "every level" : `${level} and above`}
        </button>
      ))}
      <span className="gap" />
      <Menu label={<>workflow: {search.workflowId ?? "all"}</>}>
        <Choice onSelect={() => set({ workflowId: undefined })}>all workflows</Choice>
        {workflows.map(({ id }) => (
          <Choice key={id} onSelect={() => set({ workflowId: id })}>
            {id}
          </Choice>
        ))}
      </Menu>
      {search.executionId && (
        <button type="button" className="chip" onClick={() => set({ executionId: undefined })}>
          execution: <b className="mono">{shortId(search.executionId)}</b> ✕
        </button>
      )}
      <input
        ref={field}
        className="field id-field"
        aria-label="Lines that contain"
        placeholder="contains …  /"
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          set({ text: event.target.value });
        }}
      />
    </div>
  );
}

function Lines({ lines }: { readonly lines: readonly LogRecord[] }) {
  const box = useRef<HTMLDivElement>(null);
  const atEnd = useRef(true);
  // biome-ignore lint/correctness/useExhaustiveDependencies: new lines scroll to the end, unless scrolled up
  useEffect(() => {
    if (atEnd.current && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [lines]);
  if (lines.length === 0) {
    return (
      <div className="empty">
        <h2>No lines yet</h2>
        <p>What workflows, agents and the server write to the log appears here as it is written.</p>
      </div>
    );
  }
  return (
    <section
      ref={box}
      className="tail"
      aria-label="Log lines"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
      tabIndex={0}
      onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
        atEnd.current = scrollTop + clientHeight > scrollHeight - 40;
      }}
    >
      {lines.map((line, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two lines may be equal
        <LogLine key={`${line.timestamp} ${index}`} line={line} aside={<Whose line={line} />} />
      ))}
    </section>
  );
}

/** The execution that wrote the line, as a link, or the agent. */
function Whose({ line: { executionId, workflowId, agentId } }: { readonly line: LogRecord }) {
  if (typeof executionId === "string") {
    return (
      <Link className="quiet" to="/executions/$executionId" params={{ executionId }}>
        {String(workflowId ?? "")} <span className="mono">{shortId(executionId)}</span>
      </Link>
    );
  }
  return <>{String(agentId ?? "")}</>;
}
