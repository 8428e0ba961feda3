// The positions of the long values in one journal, so that each is written once: a value that passes through steps
// unchanged is their input, their output and the result at the same time.
import {
  type NewStoredEvent,
  type StoredEvent,
  type StoredJson,
  storedLength,
  type WrittenEvent,
} from "../store/stored-event.ts";
import type { JsonText } from "../values/json.ts";

/** Shorter ones are written again: finding them would cost more than that. */
const minLength = 256;

/** Values that are remembered; a value is passed on soon or never. */
const maxValues = 64;

type WrittenEvents = readonly [events: readonly WrittenEvent[], following: readonly WrittenEvent[]];

export class KeptValues {
  /** Made for the first of them: most executions have none. */
  #places: Map<string, number> | undefined;

  constructor(input: JsonText | null) {
    this.keep(input ?? null, 0);
  }

  /** Events that are written together, and those that are written after them, as they are written. */
  write(events: readonly NewStoredEvent[], following: readonly NewStoredEvent[] = []): WrittenEvents {
    return hasLong(events) || hasLong(following) ? this.#write(events, following) : [events, following];
  }

  #write(events: readonly NewStoredEvent[], following: readonly NewStoredEvent[]): WrittenEvents {
    let here: Map<string, number> | undefined;
    let index = 0;
    const written = (event: NewStoredEvent): WrittenEvent => {
      const { value } = event;
      index++;
      if (!isLong(value)) return event;
      const place = this.#places?.get(value);
      if (place !== undefined) return { ...event, value: { sameAs: place } };
      const before = here?.get(value);
      if (before !== undefined) return { ...event, value: { sameAs: before - index } };
      here ??= new Map();
      here.set(value, index);
      return event;
    };
    return [events.map(written), following.map(written)];
  }

  /** These were recorded, or read; the first has this number. */
  recorded(events: readonly NewStoredEvent[], first: number): void {
    let place = first;
    for (const { value } of events) this.keep(value, place++);
  }

  /** The values that are remembered, and where they stand. */
  get places(): Iterable<readonly [value: string, place: number]> {
    return this.#places ?? [];
  }

  /** The event of this number holds the value. */
  keep(value: StoredJson, place: number): void {
    if (!isLong(value)) return;
    this.#places ??= new Map();
    if (this.#places.has(value)) return;
    this.#places.set(value, place);
    if (this.#places.size <= maxValues) return;
    for (const oldest of this.#places.keys()) {
      this.#places.delete(oldest);
      return;
    }
  }
}

/** Long values of events that are held together: each is in memory once, however many events have it. */
export class SharedValues {
  readonly #values = new Map<string, string>();
  #length = 0;

  /** How many characters the events have together. */
  get length(): number {
    return this.#length;
  }

  /** The event, with the value that is held already where there is one. */
  share(event: StoredEvent): StoredEvent {
    const { value } = event;
    const known = isLong(value) ? this.#values.get(value) : undefined;
    if (known !== undefined) return { ...event, value: known };
    if (isLong(value)) this.#values.set(value, value);
    this.#length += storedLength(event);
    return event;
  }
}

function hasLong(events: readonly NewStoredEvent[]): boolean {
  for (const { value } of events) if (isLong(value)) return true;
  return false;
}

/** True for a value that is written once. */
export function isLong(value: StoredJson): value is string {
  return value !== null && value.length >= minLength;
}
