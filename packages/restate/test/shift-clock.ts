// The clock of a process that a machine with another time would have.
import { isLong } from "./restate-server.ts";

/** Milliseconds of the sleeps and long bodies of the nodes. */
export const napTime = isLong ? 120_000 : 4_000;

export function shiftClock(milliseconds: number): void {
  if (milliseconds === 0) return;
  const { now } = Date;
  Date.now = () => now() + milliseconds;
  const value = performance.timeOrigin + milliseconds;
  Object.defineProperty(performance, "timeOrigin", { value });
}
