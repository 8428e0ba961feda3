// A page inside the frame: its header with breadcrumbs and the search box, and its content.
import type { ReactNode } from "react";
import { isMac } from "../format/keys.ts";
import { openPalette } from "./palette-state.ts";

export function Page({
  title,
  crumbs,
  note,
  action,
  children,
}: {
  readonly title: string;
  /** Breadcrumbs before the title: links to the parent pages. */
  readonly crumbs?: ReactNode;
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
          {crumbs}
          <h1 className="cut" style={{ color: "var(--ink)" }}>
            {title}
          </h1>
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
