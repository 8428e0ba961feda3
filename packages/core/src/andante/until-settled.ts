// Waits until nothing runs here, and nothing that is due waits to run.
import { setImmediate as turn } from "node:timers/promises";
import type { Engine } from "../execution/engine/engine.ts";
import type { Recovery } from "../execution/engine/recovery.ts";
import type { Scheduler } from "../execution/engine/scheduler.ts";

export async function untilSettled(
  engine: Pick<Engine, "isBusy" | "progress">,
  scheduler: Scheduler,
  recovery: Recovery,
): Promise<void> {
  const round = () => scheduler.round ?? recovery.round;
  const isBusy = () => round() !== undefined || engine.isBusy;
  do {
    while (isBusy()) await (round() ?? engine.progress.next());
    // A test clock rings at the next turn of the event loop for an execution that has just gone to sleep.
    await turn();
  } while (isBusy());
}
