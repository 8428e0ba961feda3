// How far the search index has read the lists of changes. No write keeps a record for the index: it reads the lists of starts,
// ends and suspensions, which are in the order of their times. A row that joins a list behind the place that the index
// has reached, because it waited to be written or the clock was set back, moves that place back.
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { integer, text } from "./columns.ts";

export const changeLists = ["start", "end", "suspension"] as const;
export type ChangeList = (typeof changeLists)[number];

export class SearchFrontier {
  readonly #database: DatabaseSync;
  /** The latest time that the index has reached in each list, even where its transaction failed. */
  #reached: Record<ChangeList, number> | undefined;
  #goBack: StatementSync | undefined;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** A row with this time joins the list, in the transaction under way. */
  joins(list: ChangeList, at: number): void {
    if (at > this.#read()[list]) return;
    this.#goBack ??= this.#database.prepare(
      "update search_cursors set at = ?, id = '' where list = ? and at >= ?",
    );
    this.#goBack.run(at, list, at);
  }

  /** The index reads the list up to this time. */
  reaches(list: ChangeList, at: number): void {
    const reached = this.#read();
    reached[list] = Math.max(reached[list], at);
  }

  #read(): Record<ChangeList, number> {
    if (this.#reached !== undefined) return this.#reached;
    const nowhere = Number.NEGATIVE_INFINITY;
    this.#reached = { start: nowhere, end: nowhere, suspension: nowhere };
    const rows = this.#database.prepare("select list, at from search_cursors").all();
    for (const list of changeLists) {
      const row = rows.find((each) => text(each, "list") === list);
      if (row !== undefined) this.#reached[list] = integer(row, "at");
    }
    return this.#reached;
  }
}
