// The description of this process that its heartbeats carry: the list of nodes shows it.
import { createHash } from "node:crypto";
import { hostname } from "node:os";
import type { Clock } from "../../values/clock.ts";
import type { Definitions } from "./definitions.ts";

export interface ProcessDescription {
  /** The host name; in a cluster of containers that of the container. */
  readonly name: string;
  readonly pid: number;
  readonly startedAt: number;
  /** The time of this description. */
  readonly seenAt: number;
  /** How many executions run in it, and how many may. */
  readonly running: number;
  readonly limit: number;
  /** Equal in two processes whose workflows have the same steps. */
  readonly definitions: string;
  /** Seconds of processor time per second since the description before; null in the first. */
  readonly cpu: number | null;
  /** Resident memory in bytes. */
  readonly memory: number;
}

/** The parts of the engine that are described. */
interface DescribedEngine {
  readonly clock: Pick<Clock, "now">;
  readonly definitions: Pick<Definitions, "workflows" | "current">;
  readonly running: number;
  readonly admission: { readonly slots: { readonly limit: number } };
}

/** Describes the process each time that it is called. */
export function processDescriber(engine: DescribedEngine): () => ProcessDescription {
  const startedAt = engine.clock.now();
  const workflows = [...engine.definitions.workflows.keys()].sort();
  const outline = workflows.map((id) => `${id} ${engine.definitions.current(id)}`).join("\n");
  const definitions = createHash("sha256").update(outline).digest("base64url").slice(0, 12);
  let last: { readonly at: number; readonly used: number } | undefined;
  return () => {
    const { user, system } = process.cpuUsage();
    const now = { at: performance.now(), used: (user + system) / 1000 };
    const cpu = last === undefined ? null : (now.used - last.used) / Math.max(1, now.at - last.at);
    last = now;
    return {
      ...{ name: hostname(), pid: process.pid, startedAt, seenAt: engine.clock.now() },
      ...{ running: engine.running, limit: engine.admission.slots.limit, definitions },
      ...{ cpu: cpu === null ? null : Math.round(cpu * 1000) / 1000, memory: process.memoryUsage.rss() },
    };
  };
}
