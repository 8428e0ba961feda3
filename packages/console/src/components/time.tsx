// Self-updating times and durations: relative, with the exact time on hover.
import { useEffect, useState, useSyncExternalStore } from "react";
import { age, clock, duration, exactTime } from "../format/numbers.ts";

const tickers = new Set<() => void>();
const started = Date.now();
let now = started;
let timer: ReturnType<typeof setInterval> | undefined;

function tick(): void {
  now = Date.now();
  for (const ticker of tickers) ticker();
}

// Outside of the hook: React subscribes again for each new function.
function subscribe(ticker: () => void): () => void {
  tickers.add(ticker);
  if (timer === undefined) {
    // The time may be old when there were no subscribers. Not for less than a tick: each change renders again.
    if (Date.now() - now >= 1000) now = Date.now();
    timer = setInterval(tick, 1000);
  }
  return () => {
    tickers.delete(ticker);
    if (tickers.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}
const stay = () => () => undefined;
const current = () => now;
const atStart = () => started;

/** The current time, updated every second by one shared timer; constant unless `moves`. */
export function useNow(moves = true): number {
  return useSyncExternalStore(moves ? subscribe : stay, moves ? current : atStart);
}

/** "4 min", or "4 min ago" with a suffix. */
export function Ago({ time, suffix = "" }: { readonly time: string; readonly suffix?: string }) {
  const words = age(useNow() - Date.parse(time));
  return (
    <time dateTime={time} title={exactTime(time)}>
      {words}
      {suffix !== "" && words !== "now" && <span className="minor">{suffix}</span>}
    </time>
  );
}

/** A duration until `to`, or until now. */
export function Elapsed({ from, to }: { readonly from: string; readonly to: string | null }) {
  return to === null ? <Running from={from} /> : duration(Date.parse(to) - Date.parse(from));
}

function Running({ from }: { readonly from: string }) {
  return duration(Math.max(0, useNow() - Date.parse(from)));
}

/** The exact time is formatted only on hover: a list shows hundreds. */
export function Clock({ time }: { readonly time: string }) {
  return (
    <time
      dateTime={time}
      className="mono"
      onPointerEnter={({ currentTarget }) => {
        currentTarget.title = exactTime(time);
      }}
    >
      {clock(time)}
    </time>
  );
}

/**
 * True for a second after one of the values has changed. One that becomes known has not changed; of one that is not known
 * any more, the last known value counts.
 */
export function useFresh(...values: readonly (string | undefined)[]): boolean {
  const [seen, setSeen] = useState(values);
  const [fresh, setFresh] = useState(false);
  const known = values.map((value, index) => value ?? seen[index]);
  if (known.some((value, index) => value !== seen[index])) {
    setSeen(known);
    if (known.some((value, index) => seen[index] !== undefined && value !== seen[index])) setFresh(true);
  }
  useEffect(() => {
    if (!fresh) return;
    const over = setTimeout(() => setFresh(false), 1200);
    return () => clearTimeout(over);
  }, [fresh]);
  return fresh;
}
