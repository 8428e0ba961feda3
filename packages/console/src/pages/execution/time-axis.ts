// The time axis of the waterfall: the time in which steps ran, with the waits between them shortened. A wait of hours
// beside steps of milliseconds would leave one pixel for all of them.
import type { Run } from "../../run/run-history.ts";

/** A wait is shown at most this long, as a share of the time in which steps ran. */
const waitShare = 0.04;
/** All waits together. */
const waitsShare = 0.4;

interface Piece {
  readonly from: number;
  readonly to: number;
  /** Where it begins and ends on the axis. */
  readonly start: number;
  readonly end: number;
}

export interface TimeAxis {
  /** Milliseconds in which at least one step ran. */
  readonly active: number;
  /** The place of a time in percent of the width. */
  place(time: number): number;
}

/** The axis from the start of a run until its end or now. */
export function timeAxis(run: Run, until: number): TimeAxis {
  const busy = busyTimes(run, until);
  const active = busy.reduce((sum, [from, to]) => sum + to - from, 0);
  const longest = Math.max(1, active) * Math.min(waitShare, waitsShare / Math.max(1, busy.length));
  const pieces: Piece[] = [];
  let [at, end] = [run.startAt, 0];
  const add = (to: number, length: number) => {
    pieces.push({ from: at, to, start: end, end: end + length });
    [at, end] = [to, end + length];
  };
  for (const [from, to] of busy) {
    if (from > at) add(from, Math.min(from - at, longest));
    if (to > at) add(to, to - at);
  }
  const width = Math.max(1, end * 1.02);
  const place = (time: number) => {
    const piece = pieces[firstUntil(pieces, time)];
    if (piece === undefined) return (100 * end) / width;
    const share = piece.to === piece.from ? 0 : (time - piece.from) / (piece.to - piece.from);
    return (100 * (piece.start + (piece.end - piece.start) * Math.min(1, Math.max(0, share)))) / width;
  };
  return { active, place };
}

/** The index of the first piece that ends at this time or later. */
function firstUntil(pieces: readonly Piece[], time: number): number {
  let [low, high] = [0, pieces.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((pieces[middle]?.to ?? time) < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The times in which at least one step ran, in order, without overlaps. Sleeps, waits and containers do not count. */
function busyTimes(run: Run, until: number): readonly (readonly [from: number, to: number])[] {
  const all = run
    .steps()
    .filter(({ path, type }) => !type.startsWith("andSleep") && !run.isContainer(path))
    .flatMap(({ attempts }) => attempts.map(({ startAt, endAt }) => [startAt, endAt ?? until] as const))
    .filter(([from, to]) => from <= to)
    .sort(([one], [other]) => one - other);
  const merged: [number, number][] = [];
  for (const [from, to] of all) {
    const last = merged.at(-1);
    if (last !== undefined && from <= last[1]) last[1] = Math.max(last[1], to);
    else merged.push([from, to]);
  }
  return merged;
}
