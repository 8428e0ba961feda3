// Does something soon after it is asked for, at most every so often, and never leaves the last one out.

/** Milliseconds in which those that ask at the same time are gathered. */
const moment = 30;

export interface Paced {
  (): void;
  stop(): void;
}

/** `again`: once more a whole period after the last one, without a request since. */
export function paced(every: number, run: () => void, { again = false } = {}): Paced {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let last = Number.NEGATIVE_INFINITY;
  let isAsked = false;
  const plan = (wait: number) => {
    timer = setTimeout(() => {
      timer = undefined;
      last = Date.now();
      const wasAsked = isAsked;
      isAsked = false;
      run();
      if (again && wasAsked) plan(every);
    }, wait);
  };
  const ask = () => {
    isAsked = true;
    if (timer === undefined) plan(Math.max(moment, every - (Date.now() - last)));
  };
  return Object.assign(ask, { stop: () => clearTimeout(timer) });
}
