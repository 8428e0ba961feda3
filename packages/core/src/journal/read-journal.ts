// Reads a journal page by page, decoded: however long it is, one page of it is held at a time.
import { JournalDamagedError } from "../errors/index.ts";
import type { Store } from "../store/store.ts";
import { type StoredEvent, storedBytes, storedLength } from "../store/stored-event.ts";
import { decodeEvent } from "./codec.ts";
import type { JournalEvent } from "./events.ts";

export interface JournalPage {
  readonly events: readonly JournalEvent[];
  /** The same in their stored form. */
  readonly stored: readonly StoredEvent[];
  /** The size of the events in the store, in bytes. */
  readonly bytes: number;
}

export interface JournalRange {
  readonly executionId: string;
  /** Events up to this number are left out. Default: 0. */
  readonly after?: number;
  /** Events above this number are left out. Default: none are. */
  readonly upTo?: number;
  /** Reading throws when it is aborted. Default: nothing ends it. */
  readonly signal?: AbortSignal | undefined;
}

/** The most events of a page, and how long their texts may be together: a page ends with the event that exceeds it. */
const pageEvents = 2000;
const pageLength = 8_000_000;

/**
 * The events of a range, in order and without a gap: a journal that lacks one is refused. It ends early when the journal
 * does: it is shorter, or was deleted meanwhile.
 */
export async function* readJournal(
  store: Pick<Store, "events">,
  range: JournalRange,
): AsyncGenerator<JournalPage, void, undefined> {
  for await (const stored of readStored(store, range)) yield pageOf(stored);
}

export function pageOf(stored: readonly StoredEvent[]): JournalPage {
  return { events: stored.map(decodeEvent), stored, bytes: storedBytes(stored) };
}

/** The same events as they are stored. */
export async function* readStored(
  store: Pick<Store, "events">,
  { executionId, after = 0, upTo = Number.POSITIVE_INFINITY, signal }: JournalRange,
): AsyncGenerator<readonly StoredEvent[], void, undefined> {
  for (let last = after; last < upTo; ) {
    signal?.throwIfAborted();
    const limit = Math.min(pageEvents, upTo - last);
    const stored = await store.events({ executionId, after: last, limit, length: pageLength });
    const newest = stored.at(-1);
    if (newest === undefined) return;
    checkWhole(last, stored);
    yield stored;
    last = newest.sequence;
    // A page that is not full, in number or in length, is the last one: no query to learn that.
    if (stored.length < limit && !isLong(stored)) return;
  }
}

/** A journal is numbered 1, 2, 3 …; `last` is the number before these. */
function checkWhole(last: number, stored: readonly StoredEvent[]): void {
  for (const [index, { sequence }] of stored.entries()) {
    const expected = last + 1 + index;
    if (sequence !== expected)
      throw new JournalDamagedError({ sequence: expected, problem: "it is missing" });
  }
}

function isLong(stored: readonly StoredEvent[]): boolean {
  let total = 0;
  for (const event of stored) total += storedLength(event);
  return total >= pageLength;
}
