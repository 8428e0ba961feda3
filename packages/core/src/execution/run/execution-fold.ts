// The fold of an execution's journal: everything needed to continue it, in memory and as the text of a snapshot.
import { Journal, replayEvents } from "../../journal/journal.ts";
import { KeptValues } from "../../journal/kept-values.ts";
import {
  type PackedJournal,
  packedFormat,
  packJournal,
  TextNumbers,
  unpackJournal,
} from "../../journal/packed-journal.ts";
import { stateLength } from "../../journal/path-state.ts";
import type { JournalPage } from "../../journal/read-journal.ts";
import type { ExecutionRow, Snapshot } from "../../store/store.ts";
import { isRecord } from "../../values/fields.ts";
import type { JsonText } from "../../values/json.ts";

/** The fold of a journal up to one of its events. */
export interface ExecutionFold {
  /** When the execution started: after it is deleted, another may have its id. */
  readonly startAt: number;
  readonly journal: Journal;
  /** The long values of the journal. */
  readonly values: KeptValues;
  /** The input as the schema returned it. */
  input: JsonText;
  /** The bytes that the journal holds. */
  bytes: number;
  /** The number of the last event. */
  sequence: number;
  /** The time of the last event. */
  lastAt: number;
  /** The snapshot that the store was given last. */
  kept: KeptFold;
}

/** How far the journal had come when a snapshot of it was kept, and how long that is. */
export interface KeptFold {
  readonly sequence: number;
  readonly bytes: number;
  readonly length: number;
}

export const nothingKept: KeptFold = { sequence: 0, bytes: 0, length: 0 };

/** The row of an execution as far as a fold needs it. */
export type FoldedRow = Pick<ExecutionRow, "startAt" | "sequence" | "input">;

export function emptyFold(row: FoldedRow): ExecutionFold {
  return {
    startAt: row.startAt,
    journal: new Journal(),
    values: new KeptValues(row.input),
    input: row.input ?? undefined,
    bytes: 0,
    sequence: 0,
    lastAt: row.startAt,
    kept: nothingKept,
  };
}

/** Adds the events that follow. */
export function addPage(fold: ExecutionFold, { events, stored, bytes }: JournalPage): void {
  const [first] = events;
  const last = events.at(-1);
  if (first === undefined || last === undefined) return;
  fold.values.recorded(stored, first.sequence);
  // The first event holds the input as the schema returned it, when that differs from the input as it was sent.
  if (first.type === "workflow-start" && first.input !== undefined) fold.input = first.input;
  replayEvents(fold.journal, events);
  fold.bytes += bytes;
  fold.sequence = last.sequence;
  fold.lastAt = Math.max(fold.lastAt, last.timestamp);
}

/** The bytes of a path, and of a fold, beside their texts. */
const pathSize = 300;
const foldSize = 2000;

/** About how much memory it takes, in bytes. */
export function sizeOf({ journal, input, values }: ExecutionFold): number {
  const { paths, past } = journal.parts;
  let size = foldSize + (paths.size + (past?.steps.size ?? 0)) * pathSize + (input?.length ?? 0);
  // The input as it was sent.
  for (const [text, place] of values.places) if (place === 0 && text !== input) size += text.length;
  for (const state of paths.values()) size += stateLength(state);
  for (const state of past?.steps.values() ?? []) size += stateLength(state);
  return size;
}

/** The body of a snapshot. */
interface PackedFold {
  readonly startAt: number;
  readonly texts: readonly string[];
  readonly input: number | null;
  readonly bytes: number;
  readonly lastAt: number;
  /** Long values by the numbers of their texts, and the events that hold them. */
  readonly values: readonly (readonly [text: number, place: number])[];
  readonly journal: PackedJournal;
  /** The open spans after the same event, packed; absent when they were not known. */
  readonly spans?: string;
}

export function packFold(executionId: string, fold: ExecutionFold, spans: string | undefined): Snapshot {
  const texts = new TextNumbers();
  const journal = packJournal(fold.journal, texts);
  const input = texts.of(fold.input);
  // A value that nothing else needs would only be kept to be referred to: it is written again instead.
  const values = [...fold.values.places].flatMap(([text, place]): [number, number][] => {
    const number = texts.find(text);
    return number === undefined ? [] : [[number, place]];
  });
  const packed: PackedFold = {
    startAt: fold.startAt,
    texts: texts.texts,
    input,
    bytes: fold.bytes,
    lastAt: fold.lastAt,
    values,
    journal,
    ...(spans && { spans }),
  };
  return { executionId, sequence: fold.sequence, format: packedFormat, body: JSON.stringify(packed) };
}

/** Undefined when it cannot be continued here: then the journal is folded whole. */
export function unpackFold(
  row: FoldedRow,
  { sequence, format, body }: Snapshot,
): { readonly fold: ExecutionFold; readonly spans: string | undefined } | undefined {
  if (format !== packedFormat || sequence > row.sequence) return undefined;
  const packed: unknown = JSON.parse(body);
  if (!isPackedFold(packed)) return undefined;
  const { startAt, texts, input, bytes, spans } = packed;
  if (startAt !== row.startAt) return undefined;
  const values = new KeptValues(row.input);
  for (const [text, place] of packed.values) values.keep(texts[text] ?? null, place);
  const fold = {
    startAt,
    journal: unpackJournal(packed.journal, texts),
    values,
    input: input === null ? undefined : texts[input],
    bytes,
    sequence,
    lastAt: packed.lastAt,
    kept: { sequence, bytes, length: body.length },
  };
  return { fold, spans };
}

function isPackedFold(value: unknown): value is PackedFold {
  return (
    isRecord(value) &&
    [value.startAt, value.bytes, value.lastAt].every(Number.isFinite) &&
    Array.isArray(value.texts) &&
    Array.isArray(value.values) &&
    isRecord(value.journal)
  );
}
