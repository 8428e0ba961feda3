// The lease of this process has ended, because it froze or did not reach the store: others may run its executions.
import type { Engine } from "./engine.ts";

/** Stops all drivers and takes another name: their executions are recovered like those of any dead process. */
export function leaseEnded(engine: Pick<Engine, "claims" | "drivers" | "logger">): void {
  engine.claims.rename();
  const drivers = engine.drivers.values();
  const reason = "The lease of this process has ended";
  engine.logger.warn(
    { running: drivers.length },
    "the lease of this process has ended: it stops what it ran",
  );
  for (const driver of drivers) driver.stop({ kind: "elsewhere" }, new Error(reason));
}
