// Cuts rows to a page that is long enough.
import { maxPageLength, textLength } from "@andante/core/store";
import type { Row } from "./columns.ts";

/** The first rows, up to the one that makes the page `length` characters long. */
export function readPage<Result extends object>(
  rows: readonly Row[],
  read: (row: Row) => Result,
  length: number = maxPageLength,
): Result[] {
  const page: Result[] = [];
  let total = 0;
  for (const row of rows) {
    const result = read(row);
    page.push(result);
    total += textLength(result);
    if (total >= Math.min(length, maxPageLength)) break;
  }
  return page;
}
