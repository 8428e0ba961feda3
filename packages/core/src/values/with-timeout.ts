// Waits for work, but not longer than it is given. The work itself is not stopped: abort it where that matters.

export type Timed<T> =
  | { readonly timedOut: false; readonly value: T }
  | { readonly timedOut: true; readonly value?: undefined };

/** The result of the work, or that it took longer. A rejection in time is passed on; a later one is swallowed. */
export async function withTimeout<T>(
  work: PromiseLike<T>,
  milliseconds: number,
  /** Whether waiting keeps the process alive. */
  { keepAlive = true }: { readonly keepAlive?: boolean } = {},
): Promise<Timed<T>> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Timed<T>>((resolve) => {
    timer = setTimeout(resolve, milliseconds, { timedOut: true });
    if (!keepAlive) timer.unref();
  });
  try {
    return await Promise.race([work.then((value) => ({ timedOut: false as const, value })), late]);
  } finally {
    clearTimeout(timer);
  }
}
