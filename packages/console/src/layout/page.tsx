// A page inside the frame: its header with breadcrumbs and the search box, and its content.
import { Link } from "@tanstack/react-router";
import { Fragment, type ReactNode } from "react";
import { CopyButton } from "../components/copy.tsx";
import { isMac } from "../format/keys.ts";
import { openPalette } from "./palette-state.ts";
import type { Search } from "./search.ts";

/** A link to a parent page. */
export interface Crumb {
  readonly name: string;
  readonly to:
    | "/agents"
    | "/deliveries"
    | "/endpoints"
    | "/events"
    | "/executions"
    | "/failures"
    | "/schedules"
    | "/traces"
    | "/workflows";
  readonly search?: Search;
}

export function Page({
  title,
  crumbs = [],
  id,
  note,
  action,
  children,
}: {
  readonly title: string;
  /** Before the title. */
  readonly crumbs?: readonly Crumb[];
  /** The whole id of which the title is the beginning. */
  readonly id?: string;
  /** A short text next to the title. */
  readonly note?: ReactNode;
  readonly action?: ReactNode;
  readonly children: ReactNode;
}) {
  return (
    <div className="page">
      <title>{`${title} · Andante`}</title>
      <header className="top">
        <div className="crumb">
          {crumbs.map(({ name, to, search = {} }) => (
            <Fragment key={name}>
              <Link className="quiet" to={to} search={search}>
                {name}
              </Link>
              <span>/</span>
            </Fragment>
          ))}
          <h1 className={id === undefined ? "cut" : "cut mono"} style={{ color: "var(--ink)" }} title={id}>
            {title}
          </h1>
          {id !== undefined && <CopyButton quiet label="Copy the whole id" text={id} />}
        </div>
        {note !== undefined && <span className="faint cut">{note}</span>}
        <button type="button" className="search-box" onClick={openPalette}>
          <span className="cut">Search or run a command</span>
          <kbd>{isMac ? "⌘K" : "Ctrl K"}</kbd>
        </button>
        {action}
      </header>
      {children}
    </div>
  );
}

/** The shape of a page whose code or data is on its way. */
export function PageSkeleton() {
  return (
    <div className="page" aria-busy="true">
      <header className="top">
        <span className="skeleton" style={{ width: 120 }} />
      </header>
      <Skeleton />
    </div>
  );
}

/** Rows in place of content that is on its way. */
export function Skeleton() {
  return (
    <div className="padded skeletons" role="status" aria-label="Loading">
      {[72, 46, 60, 38, 54, 30].map((width) => (
        <span key={width} className="skeleton" style={{ width: `${width}%` }} />
      ))}
    </div>
  );
}
