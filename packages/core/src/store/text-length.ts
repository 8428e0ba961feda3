// The length of the strings of a row together, which bounds pages.

/** The most that one page holds, in characters; every store cuts its pages there, and at least one row is in it. */
export const maxPageLength = 8_000_000;

/** The bound of lists for callers: a page crosses a thread, the event loop and a connection in one piece. */
export const callerPageLength = 4_000_000;

export function textLength(row: object): number {
  let length = 0;
  for (const value of Object.values(row)) {
    if (typeof value === "string") length += value.length;
    else if (typeof value === "object" && value !== null) length += textLength(value);
  }
  return length;
}

export interface CutPage<Row> {
  readonly page: readonly Row[];
  /** The last row of the page, when others may follow; undefined when it was the last page. */
  readonly more: Row | undefined;
}

/** Cuts the result of a store for `limit + 1` rows and `length` characters into a page of at most `limit`. */
export function cutPage<Row extends object>(
  rows: readonly Row[],
  limit: number,
  length: number,
): CutPage<Row> {
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  // A page that is long may have ended early: further rows, if any, are on the next.
  const mayFollow = rows.length > limit || textLength(rows) >= length;
  return { page, more: mayFollow ? last : undefined };
}
