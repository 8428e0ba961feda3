// Takes the times of a paused execution out of the indexes of what is due, and puts them back.
import type { DatabaseSync } from "node:sqlite";

export function holdTimes(database: DatabaseSync) {
  const timers = database.prepare("update timers set held = ? where execution_id = ?");
  const deadlines = database.prepare("update suspensions set held = ? where execution_id = ?");
  return (executionId: string, held: boolean): void => {
    timers.run(held ? 1 : 0, executionId);
    deadlines.run(held ? 1 : 0, executionId);
  };
}
