// Reads rows one by one until a page is long enough: later rows are never in memory.
import { maxPageLength, textLength } from "../text-length.ts";

/** The first rows, up to the one that makes the page `length` characters long. */
export function readPage<Row, Result extends object>(
  rows: Iterable<Row>,
  read: (row: Row) => Result,
  length: number = maxPageLength,
  lengthOf: (result: Result) => number = textLength,
): Result[] {
  const page: Result[] = [];
  let total = 0;
  for (const row of rows) {
    const result = read(row);
    page.push(result);
    total += lengthOf(result);
    if (total >= Math.min(length, maxPageLength)) break;
  }
  return page;
}
