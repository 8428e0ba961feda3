// Indexes the values of executions that were started, suspended or ended since the last batch.
import type { DatabaseSync } from "node:sqlite";
import {
  entriesOf,
  maxBatchLength,
  maxJournalLength,
  maxJournalRows,
  readExclude,
  searchedEvents,
} from "../../../search/entries.ts";
import { maxValueBytes } from "../../../search/scalars.ts";
import type { IndexBatch } from "../../../search-store.ts";
import { referenceOf } from "../../../sql/journal-row.ts";
import { readTags } from "../../../sql/rows.ts";
import type { StoredJson } from "../../../stored-event.ts";
import { integer, nullableInteger, nullableText, text } from "../../columns.ts";
import { journalOf, upTo, valueAt } from "../../journal-rows.ts";
import { type ChangeList, changeLists, type SearchFrontier } from "../../search-frontier.ts";
import { changeEntries } from "./change-entries.ts";

export function indexValues(database: DatabaseSync, frontier: SearchFrontier) {
  const readCursor = database.prepare("select at, id from search_cursors where list = ?");
  const moveCursor = database.prepare(
    `insert into search_cursors (list, at, id) values (?, ?, ?)
     on conflict (list) do update set at = excluded.at, id = excluded.id`,
  );
  const page = {
    start: database.prepare(
      `select execution_id, start_at as at, execution_id as id from executions indexed by executions_by_start
       where kind = 'workflow' and (start_at, execution_id) > (?, ?) order by start_at, execution_id limit ?`,
    ),
    end: database.prepare(
      `select execution_id, end_at as at, execution_id as id from executions indexed by executions_by_end
       where end_at is not null and kind = 'workflow' and (end_at, execution_id) > (?, ?)
       order by end_at, execution_id limit ?`,
    ),
    suspension: database.prepare(
      `select execution_id, suspended_at as at, suspension_id as id from suspensions indexed by suspensions_by_time
       where path is not null and (suspended_at, suspension_id) > (?, ?)
       order by suspended_at, suspension_id limit ?`,
    ),
  };
  const indexOne = indexExecution(database);

  const indexList = (list: ChangeList, { limit, events }: IndexBatch): boolean => {
    const cursor = readCursor.get(list);
    const after =
      cursor === undefined ? [Number.MIN_SAFE_INTEGER, ""] : [integer(cursor, "at"), text(cursor, "id")];
    const rows = page[list].all(...after, limit);
    let [length, done] = [0, 0];
    for (const row of rows) {
      length += indexOne(text(row, "execution_id"), events);
      done++;
      if (length >= maxBatchLength) break;
    }
    const last = rows[done - 1];
    if (last === undefined) return false;
    frontier.reaches(list, integer(last, "at"));
    moveCursor.run(list, integer(last, "at"), text(last, "id"));
    return done < rows.length || rows.length === limit;
  };

  return (batch: IndexBatch): { more: boolean } => {
    const more = changeLists.map((list) => indexList(list, batch));
    return { more: more.includes(true) };
  };
}

/** Returns a function that brings the entries of an execution up to date and returns how many characters it has read. */
function indexExecution(database: DatabaseSync) {
  const readState = database.prepare(
    `select executions.sequence, search_entries.sequence as indexed, search_entries.rules as indexed_under,
       coalesce(search_rules.version, 0) as rules, search_rules.exclude
     from executions left join search_entries using (execution_id) left join search_rules using (workflow_id)
     where executions.execution_id = ? and kind = 'workflow'`,
  );
  const readValues = database.prepare(
    `select user_id, start_at, tags, result_at, ${upTo(maxValueBytes, "input")}, ${upTo(maxValueBytes, "result")}
     from executions where execution_id = ?`,
  );
  const shortValueAt = valueAt(database, maxValueBytes);
  const readEvents = eventValues(database, shortValueAt);
  const change = changeEntries(database);
  return (executionId: string, types: IndexBatch["events"]): number => {
    const state = readState.get(executionId);
    if (state === undefined) return 0;
    const [sequence, rules] = [integer(state, "sequence"), integer(state, "rules")];
    if (state.indexed === sequence && state.indexed_under === rules) return 0;
    const row = readValues.get(executionId);
    if (row === undefined) return 0;
    const exclude = readExclude(nullableText(state, "exclude"));
    const resultAt = nullableInteger(row, "result_at");
    const result = resultAt === null ? nullableText(row, "result") : shortValueAt(executionId, resultAt);
    const input = nullableText(row, "input");
    const events = readEvents(executionId, types);
    const tags = readTags(nullableText(row, "tags"));
    const entries = entriesOf({ input, result, tags, ...events }, exclude);
    const of = { executionId, startAt: integer(row, "start_at"), userId: nullableText(row, "user_id") };
    change.replace(of, entries, sequence, rules);
    return (input?.length ?? 0) + (result?.length ?? 0) + events.length;
  };
}

/** Returns a function that reads the data of the newest suspensions and changes of the state. */
function eventValues(database: DatabaseSync, valueAt: (executionId: string, sequence: number) => StoredJson) {
  const newest = database.prepare(
    `select sequence, ${upTo(maxValueBytes, "events")} from journal
     where execution = ${journalOf} order by sequence desc limit ${maxJournalRows}`,
  );
  return (executionId: string, types: IndexBatch["events"]) => {
    const found: Record<keyof IndexBatch["events"], StoredJson[]> = { suspension: [], state: [] };
    let length = 0;
    for (const row of newest.iterate(executionId)) {
      const events = nullableText(row, "events");
      if (events === null) continue;
      length += events.length;
      for (const { kind, sequence, value } of searchedEvents(integer(row, "sequence"), events, types)) {
        const json = typeof value === "string" ? value : valueAt(executionId, referenceOf(sequence, value));
        if (json !== null) found[kind].push(json);
      }
      if (length >= maxJournalLength) break;
    }
    return { suspensions: found.suspension, states: found.state, length };
  };
}
