// The entries of one execution in the index of values, and how a page of executions is read off the index.

import type { IndexBatch, SearchMatch, SearchQuery, SearchRules } from "../search-store.ts";
import { readRow } from "../sql/journal-row.ts";
import type { StoredJson } from "../stored-event.ts";
import { normalize, scalarsIn } from "./scalars.ts";

/** Rows of a journal that are read for its state and suspensions, the newest, and their characters. */
export const maxJournalRows = 200;
export const maxJournalLength = 524_288;

/** Characters of values after which a batch ends. */
export const maxBatchLength = 1_000_000;

/** Index entries that one search reads for whole scalars, and as many for their beginnings. */
export const maxEntriesRead = 5_000;

/** Matches that are returned of one execution. */
const maxMatches = 5;

/** The values of an execution that are searched. */
export interface SearchedValues {
  readonly input: StoredJson;
  readonly result: StoredJson;
  readonly tags: readonly string[];
  /** The data of suspensions. */
  readonly suspensions: readonly StoredJson[];
  /** Objects of changed keys, the newest first. */
  readonly states: readonly StoredJson[];
}

/** The entries of an execution, each once. */
export function entriesOf(values: SearchedValues, exclude: SearchRules["exclude"]): SearchMatch[] {
  if (exclude === true) return [];
  const state = Object.assign({}, ...values.states.map(parsed).reverse());
  const found = [
    ...values.tags.flatMap((tag) => scalarsIn("tags", tag, exclude)),
    ...scalarsIn("input", parsed(values.input), exclude),
    ...scalarsIn("result", parsed(values.result), exclude),
    ...scalarsIn("state", state, exclude),
    ...values.suspensions.flatMap((data) => scalarsIn("suspension", parsed(data), exclude)),
  ];
  return [...new Map(found.map((each) => [keyOf(each), each])).values()].slice(0, maxEntries);
}

/** Entries of one execution: an execution with many suspensions has those of the newest. */
const maxEntries = 200;

export function keyOf({ path, value }: SearchMatch): string {
  return `${path} ${value}`;
}

/** The entries in the form in which they are kept. */
export function readEntries(column: string): readonly SearchMatch[] {
  const entries: unknown = JSON.parse(column);
  return Array.isArray(entries) ? entries.filter(isMatch) : [];
}

/** The rules of a workflow in the form in which they are kept; null for none. */
export function readExclude(column: string | null): SearchRules["exclude"] {
  const exclude: unknown = column === null ? [] : JSON.parse(column);
  if (exclude === true) return true;
  return Array.isArray(exclude) ? exclude.map(String) : [];
}

function isMatch(entry: unknown): entry is SearchMatch {
  return (
    typeof entry === "object" &&
    entry !== null &&
    "path" in entry &&
    typeof entry.path === "string" &&
    "value" in entry &&
    typeof entry.value === "string"
  );
}

function parsed(json: StoredJson): unknown {
  return json === null ? null : JSON.parse(json);
}

/** An event whose value is searched: the value, or the number of the event that holds it. */
export interface SearchedEvent {
  readonly kind: keyof IndexBatch["events"];
  readonly sequence: number;
  readonly value: string | number;
}

/** The searched events of one row of a journal, the newest first. */
export function searchedEvents(last: number, row: string, types: IndexBatch["events"]): SearchedEvent[] {
  // Nearly all rows have none: searching for the text takes a tenth of the time of parsing.
  if (!row.includes(`["${types.state}",`) && !row.includes(`["${types.suspension}",`)) return [];
  const found: SearchedEvent[] = [];
  for (const { sequence, fields } of readRow(last, row)) {
    const [type, , , , , value] = fields;
    if (value === null) continue;
    if (type === types.state) found.push({ kind: "state", sequence, value });
    else if (type === types.suspension) found.push({ kind: "suspension", sequence, value });
  }
  return found.reverse();
}

/** The scalars that a search reads: one of them, or all that begin with it. */
export interface SearchRange {
  readonly whole: string;
  /** Undefined for a text that is too short. */
  readonly beginning: { readonly after: string; readonly before: string } | undefined;
}

/** Fewer characters are only compared with whole scalars: too many begin with them. */
const shortestBeginning = 3;

export function rangeOf(text: string): SearchRange {
  const whole = normalize(text);
  const isLong = whole.length >= shortestBeginning;
  return { whole, beginning: isLong ? { after: whole, before: `${whole}\u{10ffff}` } : undefined };
}

/** An entry of the index as a search reads it. */
export interface ReadEntry extends SearchMatch {
  readonly startAt: number;
  readonly executionId: string;
}

export interface Candidate {
  readonly startAt: number;
  readonly executionId: string;
  readonly matches: SearchMatch[];
}

/** The executions of these entries after `before` and within the times of the query, newest first. */
export function candidates(
  entries: Iterable<ReadEntry>,
  { before, from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY }: SearchQuery,
): Candidate[] {
  const found = new Map<string, Candidate>();
  for (const { executionId, startAt, path, value } of entries) {
    if (startAt < from || startAt >= to) continue;
    if (before !== undefined && compare({ startAt, executionId }, before) <= 0) continue;
    const candidate = found.get(executionId) ?? { startAt, executionId, matches: [] };
    found.set(executionId, candidate);
    if (candidate.matches.length < maxMatches) candidate.matches.push({ path, value });
  }
  return [...found.values()].sort(compare);
}

/** Newest first; ids by their bytes, as databases order them. */
function compare(
  one: Pick<Candidate, "startAt" | "executionId">,
  other: Pick<Candidate, "startAt" | "executionId">,
): number {
  if (one.startAt !== other.startAt) return other.startAt - one.startAt;
  return Buffer.compare(Buffer.from(other.executionId), Buffer.from(one.executionId));
}
