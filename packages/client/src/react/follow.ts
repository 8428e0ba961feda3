// Shared by the hooks: a task with the lifetime of its component, and coalesced reads.
import { useEffect } from "react";

/** Runs a task while the component is mounted, and restarts it for another `key`; aborts its signal at the end. */
export function useTask(
  key: string | undefined,
  task: (signal: AbortSignal) => Promise<void>,
  onError: (error: unknown) => void,
): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: a task restarts for another key, not at every rendering.
  useEffect(() => {
    if (key === undefined) return undefined;
    const leave = new AbortController();
    task(leave.signal).catch((error: unknown) => {
      if (!leave.signal.aborted) onError(error);
    });
    return () => leave.abort();
  }, [key]);
}

/** Milliseconds between two reads. */
const pause = 150;

/** Runs the action now, or once more after the current run, for any number of requests. */
export function coalesce(action: () => Promise<void>, onError: (error: unknown) => void): () => void {
  let isRunning = false;
  let isAsked = false;
  const run = async () => {
    if (isRunning) {
      isAsked = true;
      return;
    }
    isRunning = true;
    try {
      do {
        isAsked = false;
        await action();
        if (isAsked) await new Promise((resolve) => setTimeout(resolve, pause));
      } while (isAsked);
    } finally {
      isRunning = false;
    }
  };
  return () => void run().catch(onError);
}
