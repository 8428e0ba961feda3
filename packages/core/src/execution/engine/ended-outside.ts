// An execution was ended from outside: stops its bodies and notifies the callers waiting for it.
import type { JournalEvent } from "../../journal/events.ts";
import type { ExecutionRow } from "../../store/store.ts";
import type { Engine } from "./engine.ts";

/** The parts of the engine that an end from outside uses. */
export type EndParts = Pick<Engine, "admission" | "folds" | "publish" | "driver" | "waiters" | "lookForEnds">;

export async function endedOutside(
  engine: EndParts,
  row: ExecutionRow,
  event: JournalEvent,
  reason: string,
): Promise<void> {
  const { executionId } = row;
  engine.admission.forget(executionId);
  engine.folds.forget(executionId);
  engine.publish(row, [event], row.stepIndex);
  const driver = await engine.driver(executionId);
  driver?.stop({ kind: "elsewhere" }, new Error(reason));
  engine.waiters.settle(executionId, { kind: "elsewhere" });
  if (row.links !== null) engine.lookForEnds();
}
