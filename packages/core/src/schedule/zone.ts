// A time zone: its offsets from UTC, found with `Intl` and kept as a list of changes, so that a lookup costs no formatting.
const day = 86_400_000;
/** Days whose changes are found together. */
const chunkDays = 256;
const chunk = chunkDays * day;
/** Chunks kept for all zones: 600 zones have three each. A zone takes 70 kB. */
const [maxChunks, maxZones] = [2000, 600];

/** From this instant on the zone has this offset. */
export interface OffsetChange {
  readonly at: number;
  /** Milliseconds that local time is ahead of UTC. */
  readonly offset: number;
}

interface Chunk {
  readonly offset: number;
  readonly changes: readonly OffsetChange[];
}

/** Where a wall-clock time is. A time in a gap is at the end of the gap, one that exists twice at the first. */
export interface ResolvedTime {
  readonly instant: number;
  readonly isInGap: boolean;
}

const zones = new Map<string, Zone>();
let kept = 0;

/** The zone of this name; undefined where `Intl` does not know it. */
export function zoneOf(name: string): Zone | undefined {
  const known = zones.get(name);
  if (known !== undefined) return known;
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat("en-US", {
      timeZone: name,
      hourCycle: "h23",
      ...{ year: "numeric", month: "numeric", day: "numeric" },
      ...{ hour: "numeric", minute: "numeric", second: "numeric" },
    });
  } catch {
    return undefined;
  }
  const zone = new Zone(format);
  if (zones.size >= maxZones) zones.clear();
  zones.set(name, zone);
  return zone;
}

export class Zone {
  readonly #format: Intl.DateTimeFormat;
  readonly #chunks = new Map<number, Chunk>();

  constructor(format: Intl.DateTimeFormat) {
    this.#format = format;
  }

  /** Milliseconds that local time is ahead of UTC at an instant. */
  offsetAt(instant: number): number {
    const { offset, changes } = this.#chunkOf(Math.floor(instant / chunk));
    return changes.findLast(({ at }) => at <= instant)?.offset ?? offset;
  }

  /** The changes after one instant and until another, in order. */
  changes(after: number, until: number): readonly OffsetChange[] {
    const found: OffsetChange[] = [];
    for (let number = Math.floor(after / chunk); number <= Math.floor(until / chunk); number++)
      for (const change of this.#chunkOf(number).changes)
        if (change.at > after && change.at <= until) found.push(change);
    return found;
  }

  /** The instant of a wall-clock time, which is given as if it were UTC. */
  resolve(wall: number): ResolvedTime {
    // No zone is further than 15 hours from UTC.
    const before = wall - day;
    let offset = this.offsetAt(before);
    let start = Number.NEGATIVE_INFINITY;
    for (const change of this.changes(before, wall + day)) {
      if (wall < change.at + offset) break;
      start = change.at;
      offset = change.offset;
    }
    const instant = wall - offset;
    return instant < start ? { instant: start, isInGap: true } : { instant, isInGap: false };
  }

  #chunkOf(number: number): Chunk {
    const known = this.#chunks.get(number);
    if (known !== undefined) return known;
    const found = this.#find(number * chunk);
    if (kept >= maxChunks) {
      for (const zone of zones.values()) zone.#chunks.clear();
      this.#chunks.clear();
      kept = 0;
    }
    kept += 1;
    this.#chunks.set(number, found);
    return found;
  }

  /** A look at each day finds every change: no zone has changed twice within a day. */
  #find(start: number): Chunk {
    // A change at the very beginning is one of this chunk.
    const first = this.#read(start - 1000);
    const changes: OffsetChange[] = [];
    let before = start - 1000;
    let offset = first;
    for (let index = 1; index <= chunkDays; index++) {
      const end = start + index * day - 1000;
      const next = this.#read(end);
      if (next !== offset) changes.push({ at: this.#firstWith(before, end, offset), offset: next });
      before = end;
      offset = next;
    }
    return { offset: first, changes };
  }

  /** The first instant, in whole seconds, that has another offset than `offset`. */
  #firstWith(before: number, after: number, offset: number): number {
    let low = before;
    let high = after;
    while (high - low > 1000) {
      const middle = Math.floor((low + high) / 2000) * 1000;
      if (this.#read(middle) === offset) low = middle;
      else high = middle;
    }
    return high;
  }

  #read(instant: number): number {
    const seconds = Math.floor(instant / 1000) * 1000;
    const fields: Partial<Record<Intl.DateTimeFormatPartTypes, number>> = {};
    for (const { type, value } of this.#format.formatToParts(seconds)) fields[type] = Number(value);
    const { year = 0, month = 1, day: date = 1, hour = 0, minute = 0, second = 0 } = fields;
    return Date.UTC(year, month - 1, date, hour, minute, second) - seconds;
  }
}
