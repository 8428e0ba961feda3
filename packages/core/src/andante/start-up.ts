// Starts an Andante whose store is open: abandoned executions continue, and the scheduler watches for due timers.
import { dueTimerProcessor } from "../execution/engine/process-due-timer.ts";
import { reportUnregistered } from "../execution/engine/report-unregistered.ts";
import type { ShutDownParts } from "./shut-down.ts";

export type StartUpParts = Pick<ShutDownParts, "engine" | "scheduler" | "retention" | "recovery" | "agents">;

export async function startUp(parts: StartUpParts): Promise<void> {
  const { engine, scheduler, retention, recovery, agents } = parts;
  await Promise.all([engine.definitions.register(), recovery.announce()]);
  await Promise.all([recovery.start(), reportUnregistered(engine)]);
  if (engine.closing) return;
  engine.cluster?.start(agents, [recovery, scheduler]);
  scheduler.start(dueTimerProcessor(engine, recovery));
  retention.start();
}
