// Saved filters of the list, in the storage of this browser.
import { useSyncExternalStore } from "react";
import { isObject } from "../../form/as-schema.ts";
import { knownSearch, type Search } from "../../layout/search.ts";

export interface SavedView {
  readonly name: string;
  readonly search: Search;
  /** The view is marked when it has more executions than this. */
  readonly above?: number | undefined;
}

const key = "andante-views";
/** Maximum number of views: Home reads the counts of each. */
export const mostViews = 8;

/** The views in stored text; none of those with another shape. */
export function viewsIn(text: string | null): readonly SavedView[] {
  try {
    const stored: unknown = JSON.parse(text ?? "[]");
    return Array.isArray(stored) ? stored.flatMap(viewOf).slice(0, mostViews) : [];
  } catch {
    return [];
  }
}

function viewOf(value: unknown): SavedView[] {
  if (!isObject(value) || typeof value.name !== "string" || !isObject(value.search)) return [];
  const above = typeof value.above === "number" ? { above: value.above } : {};
  return [{ name: value.name, search: knownSearch(value.search), ...above }];
}

const listeners = new Set<() => void>();
let views: readonly SavedView[] | undefined;

function read(): readonly SavedView[] {
  if (views === undefined) {
    try {
      views = viewsIn(localStorage.getItem(key));
    } catch {
      views = [];
    }
  }
  return views;
}

export function keepViews(next: readonly SavedView[]): void {
  views = next;
  try {
    localStorage.setItem(key, JSON.stringify(next));
  } catch {
    // Without storage the views last as long as the page.
  }
  for (const listener of listeners) listener();
}

export function useViews(): readonly SavedView[] {
  return useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }, read);
}
