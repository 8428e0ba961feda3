// The lease of this process has ended, because it froze or did not reach the store: others may run what it runs.
import type { Engine } from "./engine.ts";

/** Stops everything that runs here, and begins anew under another name: what ran is found like that of any dead process. */
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
