// The time as the engine sees it. Tests bring one that skips.

export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /**
   * Calls back at a time, or as soon after it as possible; the returned function cancels it. `sleep` is a time that an
   * execution waits for, `limit` one that ends something that takes too long.
   */
  at(time: number, kind: "sleep" | "limit", callback: () => void): () => void;
}

/** The same clock in whole milliseconds, as stores keep them. Rounded down, so that no time comes too early. */
export function wholeMilliseconds(clock: Clock): Clock {
  return { now: () => Math.floor(clock.now()), at: (...alarm) => clock.at(...alarm) };
}

/** Milliseconds: a clock is corrected by less all the time, and one that goes back by more was set back. */
export const clockTolerance = 60_000;

/** Milliseconds since 1970, counted by this process from its start on: changes of the machine's clock have no effect. */
export function steadyTime(): number {
  return performance.timeOrigin + performance.now();
}

/** Milliseconds by which a clock that was corrected backwards stops. */
const maxStandstill = 1000;

/**
 * The clock that processes share, `offset` milliseconds ahead of this one's steady time. A machine's clock that is set an
 * hour ahead would else let every deadline of the next hour pass on this node.
 *
 * Corrections do not make it run backwards. A store that has failed over to a clock far behind does: time that does
 * not move for as long would delay every sleep and give all events one time. Journals stay in order all the same.
 */
export function sharedClock(offset: () => number): Clock {
  let last = 0;
  return {
    now: () => {
      const now = steadyTime() + offset();
      if (now > last || now < last - maxStandstill) last = now;
      return last;
    },
    at: (time, kind, callback) => alarm(() => time - offset() - steadyTime(), kind, callback),
  };
}

/** Longer ones overflow a timer of Node, which then fires at once. */
const maxTimerDelay = 2 ** 31 - 1;

/**
 * The longest timer of each kind, in milliseconds: then the clock is read again. A clock that is set ahead ends a sleep
 * within a minute, as the scheduler finds it in the store. Limits measure how long something takes: an attempt of ten
 * minutes is not over because the clock was set.
 */
const longestTimer = { sleep: 60_000, limit: maxTimerDelay };

/** The machine's own clock. Its timers keep no process alive. */
export const systemClock: Clock = {
  now: () => Date.now(),
  at: (time, kind, callback) => alarm(() => time - Date.now(), kind, callback),
};

/** Processes whose clocks differ go by that of their store, so that their writes are in order. */
export function clockOf(shared: { readonly clockOffset: number } | undefined): Clock {
  return shared === undefined ? systemClock : sharedClock(() => shared.clockOffset);
}

/** Calls back when nothing is left; the returned function cancels it. */
function alarm(milliseconds: () => number, kind: "sleep" | "limit", callback: () => void): () => void {
  let timer: NodeJS.Timeout;
  const longest = longestTimer[kind];
  const arm = () => {
    const left = milliseconds();
    const wake = left > longest ? arm : callback;
    timer = setTimeout(wake, Math.min(Math.max(left, 0), longest)).unref();
  };
  arm();
  return () => clearTimeout(timer);
}
