// Logs: a live tail with filters; each line links to its execution.
import type { LogRecord } from "@andante/client";
import { useSearch } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { ExecutionLink } from "../../components/execution-link.tsx";
import { LogLine } from "../../components/log-line.tsx";
import { WorkflowMenu } from "../../components/menu.tsx";
import { SearchField } from "../../components/search-field.tsx";
import { plural, shortId } from "../../format/numbers.ts";
import { Page } from "../../layout/page.tsx";
import { type Search, useSearchChange } from "../../layout/search.ts";
import "../execution/execution.css";
import "../executions/executions.css";
import "./logs.css";
import { address } from "../../api/andante.ts";
import { currentToken } from "../../api/token.ts";
import { isObject } from "../../form/as-schema.ts";

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
      <Lines lines={shown} isFiltered={lines.length > 0} />
    </Page>
  );
}

function Filters({ search }: { readonly search: Search }) {
  const set = useSearchChange();
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
      <WorkflowMenu chosen={search.workflowId} onChoose={(workflowId) => set({ workflowId })} />
      {search.executionId && (
        <button type="button" className="chip" onClick={() => set({ executionId: undefined })}>
          execution: <b className="mono">{shortId(search.executionId)}</b> ✕
        </button>
      )}
      <SearchField
        label="Lines that contain"
        hint="contains …"
        className="field id-field"
        value={search.text}
        onChange={(text) => set({ text })}
      />
    </div>
  );
}

/** `isFiltered`: there are lines, of which only those with the text are shown. */
function Lines({
  lines,
  isFiltered,
}: {
  readonly lines: readonly LogRecord[];
  readonly isFiltered: boolean;
}) {
  const box = useRef<HTMLDivElement>(null);
  const atEnd = useRef(true);
  // biome-ignore lint/correctness/useExhaustiveDependencies: new lines scroll to the end, unless scrolled up
  useEffect(() => {
    if (atEnd.current && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [lines]);
  if (lines.length === 0) {
    return (
      <div className="empty">
        <h2>{isFiltered ? "No line contains this" : "No lines yet"}</h2>
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
      <ExecutionLink className="quiet" id={executionId}>
        {String(workflowId ?? "")} <span className="mono">{shortId(executionId)}</span>
      </ExecutionLink>
    );
  }
  return <>{String(agentId ?? "")}</>;
}

/** Maximum lines on the page. */
const most = 2000;
const retryAfter = 2000;

interface LogMessage {
  readonly type: string;
  readonly logs?: readonly LogRecord[];
  readonly error?: string;
}

interface Tail {
  readonly lines: readonly LogRecord[];
  readonly connected: boolean;
  readonly problem: string | undefined;
}

/** The live tail of log lines, over the server's socket; it reconnects automatically. */
function useLogTail(query: Readonly<Record<string, string | undefined>>): Tail {
  const [tail, setTail] = useState<Tail>({ lines: [], connected: false, problem: undefined });
  const lines = address("/ws/logs", { ...query, limit: 500 });
  useEffect(() => {
    let socket: WebSocket | undefined;
    let retry: ReturnType<typeof setTimeout> | undefined;
    let over = false;
    const connect = () => {
      const url = new URL(lines.replace(/^http/, "ws"));
      const token = currentToken();
      if (token !== null) url.searchParams.set("token", token);
      socket = new WebSocket(url);
      socket.onmessage = ({ data }) => {
        const message: unknown = JSON.parse(String(data));
        if (isLogMessage(message)) setTail((before) => receive(before, message));
      };
      socket.onclose = () => {
        if (over) return;
        setTail((before) => ({ ...before, connected: false }));
        retry = setTimeout(connect, retryAfter);
      };
    };
    connect();
    return () => {
      over = true;
      clearTimeout(retry);
      socket?.close();
    };
  }, [lines]);
  return tail;
}

function isLogMessage(value: unknown): value is LogMessage {
  return isObject(value) && typeof value.type === "string" && Array.isArray(value.logs ?? []);
}

function receive(before: Tail, message: LogMessage): Tail {
  if (message.logs === undefined) return { ...before, connected: true, problem: message.error };
  const lines = message.type === "initial" ? message.logs : [...before.lines, ...message.logs];
  return { lines: lines.slice(-most), connected: true, problem: undefined };
}
