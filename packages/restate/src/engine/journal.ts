// The journal of an execution in the state of its shard: the last events in its row, earlier ones in buckets.
import {
  type EventFields,
  type EventsQuery,
  maxPageLength,
  readRow,
  referenceOf,
  rowText,
  type StoredEvent,
  type StoredJson,
  storedLength,
  type WrittenEvent,
} from "@andante/core/store";
import type { Cells } from "./cells.ts";
import {
  bucketSize,
  type Kept,
  type KeptEvent,
  type KeptInput,
  keptWrites,
  keys,
  longText,
} from "./layout.ts";

/** Buckets that are read in one trip. */
const bucketsAtOnce = 64;

/** Writes events after the number `last`. */
export function append(
  cells: Cells,
  kept: Kept,
  last: number,
  events: readonly WrittenEvent[],
  key: string | null,
): void {
  if (events.length === 0) return;
  const { executionId } = kept.record;
  const sequence = last + events.length;
  for (const { sequence: number, fields } of readRow(sequence, rowText(last, events))) {
    const [type, timestamp, path, stepIndex, stepType, value, detail] = fields;
    const [longValue, longDetail] = [isLong(value), isLong(detail)];
    if (longValue) cells.set(keys.value(executionId, number), value);
    if (longDetail) cells.set(keys.detail(executionId, number), detail);
    kept.tail.push([type, timestamp, path, stepIndex, stepType, longValue || value, longDetail || detail]);
    kept.lastAt = timestamp;
    if (number % bucketSize === 0) {
      cells.set(keys.bucket(executionId, number / bucketSize - 1), kept.tail);
      kept.tail = [];
    }
  }
  if (key === null) return;
  kept.writes.push([key, last + 1, sequence]);
  kept.writes = kept.writes.slice(-keptWrites);
}

function isLong(text: string | number | null): boolean {
  return typeof text === "string" && text.length > longText;
}

/** The bucket of an event, from 0. */
function bucketOf(sequence: number): number {
  return Math.floor((sequence - 1) / bucketSize);
}

/** The keys of the buckets that hold these events, unless the row does. */
export function bucketKeys({ record, tail }: Kept, first: number, last: number): string[] {
  const full = Math.floor((record.sequence - tail.length) / bucketSize);
  const found: string[] = [];
  for (let number = bucketOf(Math.max(1, first)); number <= bucketOf(last) && number < full; number++)
    found.push(keys.bucket(record.executionId, number));
  return found;
}

/** An event whose bucket was loaded; undefined where the journal has none. */
export function eventAt(cells: Cells, { record, tail }: Kept, sequence: number): KeptEvent | undefined {
  if (sequence < 1 || sequence > record.sequence) return undefined;
  const before = record.sequence - tail.length;
  if (sequence > before) return tail[sequence - before - 1];
  const bucket = cells.get<KeptEvent[]>(keys.bucket(record.executionId, bucketOf(sequence)));
  return bucket?.[(sequence - 1) % bucketSize];
}

/** Loads events with the long values and details of their own. */
export async function loadEvents(cells: Cells, kept: Kept, first: number, last: number): Promise<void> {
  await cells.load(bucketKeys(kept, first, last));
  const { executionId } = kept.record;
  const long: string[] = [];
  for (let sequence = first; sequence <= last; sequence++) {
    const event = eventAt(cells, kept, sequence);
    if (event?.[5] === true) long.push(keys.value(executionId, sequence));
    if (event?.[6] === true) long.push(keys.detail(executionId, sequence));
  }
  await cells.load(long);
}

/** A loaded event as it is written: its value is a text, or the number of the event that holds it. */
function written(cells: Cells, kept: Kept, sequence: number): EventFields | undefined {
  const event = eventAt(cells, kept, sequence);
  if (event === undefined) return undefined;
  const [type, timestamp, path, stepIndex, stepType, value, detail] = event;
  const whole = <Text extends string | number | null>(text: Text | true, key: typeof keys.value) =>
    text === true ? (cells.get<string>(key(kept.record.executionId, sequence)) ?? null) : text;
  const texts = [whole(value, keys.value), whole(detail, keys.detail)] as const;
  return [type, timestamp, path, stepIndex, stepType, ...texts];
}

/** The text of loaded events as one row of a journal. */
export function textOf(cells: Cells, kept: Kept, first: number, last: number): string {
  const rows: EventFields[] = [];
  for (let sequence = first; sequence <= last; sequence++) {
    const event = written(cells, kept, sequence);
    if (event !== undefined) rows.push(event);
  }
  return JSON.stringify(rows);
}

export async function inputOf(cells: Cells, { record, input }: Kept): Promise<KeptInput> {
  if (input !== true) return input;
  return (await cells.read<KeptInput>(keys.input(record.executionId))) ?? { input: null, context: "{}" };
}

/** The value of an event: its own, that of the earlier event that it refers to, or the input. */
export async function valueAt(cells: Cells, kept: Kept, sequence: number): Promise<StoredJson> {
  let place = sequence;
  for (;;) {
    if (place === 0) return (await inputOf(cells, kept)).input;
    await loadEvents(cells, kept, place, place);
    const value = written(cells, kept, place)?.[5] ?? null;
    if (typeof value !== "number") return value;
    place = referenceOf(place, value);
  }
}

/** A page of the journal, cut where it is as long as asked for. */
export async function readEvents(cells: Cells, kept: Kept, query: EventsQuery): Promise<StoredEvent[]> {
  const { after, limit, length = maxPageLength } = query;
  const most = Math.min(length, maxPageLength);
  const page: StoredEvent[] = [];
  let total = 0;
  const end = Math.min(kept.record.sequence, after + limit);
  for (let sequence = after + 1; sequence <= end && total < most; sequence++) {
    const ahead = Math.min(end, sequence + bucketsAtOnce * bucketSize);
    await cells.load(bucketKeys(kept, sequence, ahead));
    const value = await valueAt(cells, kept, sequence);
    const event = written(cells, kept, sequence);
    if (event === undefined) break;
    const [type, timestamp, path, stepIndex, stepType, , detail] = event;
    const made = { sequence, timestamp, type, path, stepIndex, stepType, value, detail };
    page.push(made);
    total += storedLength(made);
  }
  return page;
}

/** Deletes at most `count` events from the end of the journal; returns how many. */
export async function removeEvents(cells: Cells, kept: Kept, count: number): Promise<number> {
  const { record } = kept;
  const { executionId, sequence } = record;
  const first = Math.max(0, sequence - count) + 1;
  await cells.load(bucketKeys(kept, first, sequence));
  for (let number = first; number <= sequence; number++) {
    const event = eventAt(cells, kept, number);
    if (event?.[5] === true) cells.clear(keys.value(executionId, number));
    if (event?.[6] === true) cells.clear(keys.detail(executionId, number));
  }
  const before = sequence - kept.tail.length;
  if (first > before) kept.tail = kept.tail.slice(0, first - 1 - before);
  else {
    const left = (first - 1) % bucketSize;
    kept.tail = cells.get<KeptEvent[]>(keys.bucket(executionId, bucketOf(first)))?.slice(0, left) ?? [];
    for (const key of bucketKeys({ ...kept, tail: [] }, first, before)) cells.clear(key);
  }
  record.sequence = first - 1;
  return sequence - first + 1;
}
