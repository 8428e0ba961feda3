// Continues an execution after something that it waited for was resumed, by a caller or by its deadline.
import { decodeEvent } from "../../journal/codec.ts";
import type { ResumeResult } from "../../store/store.ts";
import type { Engine } from "./engine.ts";
import type { WaitingExecution } from "./run-queue.ts";

/** It runs now, or as soon as there is a slot: the resume is written already. */
export async function continueExecution(
  engine: Engine,
  resumed: WaitingExecution,
  result: Exclude<ResumeResult, { kind: "refused" }>,
): Promise<void> {
  if (result.kind === "claimed") {
    // One that is loaded already has a slot, and a process that stops only lets go of it again.
    if (engine.closing || engine.has(resumed.executionId)) return engine.load(resumed);
    await engine.admission.runWhenFree(resumed);
    return;
  }
  const driver = await engine.driver(resumed.executionId);
  driver?.deliver(result.events.map(decodeEvent));
}
