// Runs a task soon after a request, at most once per period, and always after the last request.

/** Milliseconds in which concurrent requests are merged. */
const moment = 30;

export interface Paced {
  (): void;
  stop(): void;
}

/** `again`: run once more a period after the last run, if there was no further request. */
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
