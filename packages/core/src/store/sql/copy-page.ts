// Where a page of a copy ends, from the sizes of the rows that are left.
import type { CopyPageSize } from "../conversation-store.ts";
import { integer, type Row } from "./columns.ts";

/** Milliseconds after its last page for which a copy is under way: another copy to the same id is refused. */
export const maxPageTime = 10_000;

/** `rows` have `sequence` and `bytes`, are in order, and one more than fit on a page where there are as many. At least one row is on the page. */
export function endOfPage(
  rows: Iterable<Row>,
  page: CopyPageSize,
): { readonly copied: number; readonly more: boolean } {
  let [copied, count, total] = [0, 0, 0];
  for (const row of rows) {
    total += integer(row, "bytes");
    if (count > 0 && (count === page.rows || total > page.bytes)) return { copied, more: true };
    count += 1;
    copied = integer(row, "sequence");
  }
  return { copied, more: false };
}
