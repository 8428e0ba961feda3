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

/** The same clock in whole milliseconds, which is what stores keep. Rounded down, so that no time comes too early. */
export function wholeMilliseconds(clock: Clock): Clock {
  return { now: () => Math.floor(clock.now()), at: (...alarm) => clock.at(...alarm) };
}

/** The clock that processes share, `offset` milliseconds ahead of the machine's own. It never runs backwards. */
export function sharedClock(offset: () => number): Clock {
  let last = 0;
  return {
    now: () => {
      last = Math.max(last, Date.now() + offset());
      return last;
    },
    at: (time, kind, callback) => systemClock.at(time - offset(), kind, callback),
  };
}

/** Longer ones overflow a timer of Node, which then fires at once. */
const maxTimerDelay = 2 ** 31 - 1;

/** The machine's own clock. Its timers keep no process alive. */
export const systemClock: Clock = {
  now: () => Date.now(),
  at(time, _, callback) {
    let timer: NodeJS.Timeout;
    const arm = () => {
      const left = time - Date.now();
      const wake = left > maxTimerDelay ? arm : callback;
      timer = setTimeout(wake, Math.min(Math.max(left, 0), maxTimerDelay)).unref();
    };
    arm();
    return () => clearTimeout(timer);
  },
};
