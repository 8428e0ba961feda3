// Saved filters of the list, in the storage of this browser.
import { Shared, useShared } from "../../api/shared.ts";
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

const views = new Shared(read());

function read(): readonly SavedView[] {
  try {
    return viewsIn(localStorage.getItem(key));
  } catch {
    return [];
  }
}

export function keepViews(next: readonly SavedView[]): void {
  try {
    localStorage.setItem(key, JSON.stringify(next));
  } catch {
    // Without storage the views last as long as the page.
  }
  views.set(next);
}

export const useViews = () => useShared(views);
