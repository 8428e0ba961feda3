// Waits for a promise as long as a signal is not aborted.

/** Rejects with the signal's reason when it is aborted first, or has been already. */
export async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  try {
    // An abort that has been is not heard of again.
    if (signal.aborted) abort();
    return await Promise.race([aborted, promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
