// Progress notifications from the events of an execution, while its caller waits.
import type { McpCall } from "./call.ts";

/** Milliseconds between two notifications: a loop has thousands of events a second. */
const pause = 100;

/** Follows an execution until it settles or `stop` is called. Without a token for progress it reads nothing. */
export function reportProgress(call: McpCall, workflowId: string, executionId: string): { stop(): void } {
  const { progress } = call;
  if (progress === undefined) return { stop: () => undefined };
  const stopped = new AbortController();
  const follow = async () => {
    const attached = await call.service.andante.attach(workflowId, executionId);
    if (attached === undefined) return;
    stopped.signal.addEventListener("abort", () => void attached.events.return?.().catch(() => undefined));
    if (stopped.signal.aborted) return void (await attached.events.return?.());
    let sentAt = 0;
    for await (const { type, sequence, from } of attached.events) {
      const now = performance.now();
      if (stopped.signal.aborted || sequence === undefined || now - sentAt < pause) continue;
      sentAt = now;
      await progress(sequence, from === undefined ? type : `${type} ${from}`);
    }
  };
  follow().catch((err) => call.service.logger.debug({ err, executionId }, "progress could not be sent"));
  return { stop: () => stopped.abort() };
}
