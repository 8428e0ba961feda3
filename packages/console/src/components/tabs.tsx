// A row of tabs.
import type { KeyboardEvent, ReactNode } from "react";
import { count as inWords } from "../format/numbers.ts";

export interface TabName {
  readonly id: string;
  readonly name: string;
  readonly count?: number;
}

/** The tab in the address; the first one for an unknown name. */
export function tabOf(tabs: readonly [TabName, ...TabName[]], wanted: string | undefined): TabName {
  return tabs.find(({ id }) => id === wanted) ?? tabs[0];
}

export function Tabs({
  label,
  tabs,
  chosen,
  onChoose,
  children,
}: {
  readonly label: string;
  readonly tabs: readonly TabName[];
  readonly chosen: string;
  readonly onChoose: (id: string) => void;
  /** Content after the tabs. */
  readonly children?: ReactNode;
}) {
  const onKey = (event: KeyboardEvent) => {
    const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    const at = tabs.findIndex(({ id }) => id === chosen) + by;
    const next = tabs[at];
    if (by === 0 || next === undefined) return;
    event.currentTarget.querySelectorAll<HTMLElement>("[role=tab]")[at]?.focus();
    onChoose(next.id);
  };
  return (
    <div className="tabs">
      <div role="tablist" aria-label={label} style={{ display: "contents" }} onKeyDown={onKey}>
        {tabs.map(({ id, name, count }) => (
          <button
            key={id}
            type="button"
            role="tab"
            aria-selected={id === chosen}
            tabIndex={id === chosen ? 0 : -1}
            onClick={() => onChoose(id)}
          >
            {name}
            {count !== undefined && count > 0 && <small className="num"> {inWords(count)}</small>}
          </button>
        ))}
      </div>
      {children}
    </div>
  );
}
