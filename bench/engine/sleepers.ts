// Very many sleeping executions: those that fall due wake on time, and those that sleep cost no memory.
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { createAndante, createLogger, sqliteStore } from "@andante/core";
import { percentile, throughput } from "../measure.ts";
import type { Budget } from "../results.ts";
import { sleeper } from "./workflows.ts";

const hour = 3_600_000;
/** Milliseconds from the last start to the second in which a thousand wake. */
const notice = 5000;

/** `idleMegabytes` measures a process that has opened a file. */
export async function sleepers(
  folder: string,
  scale: number,
  idleMegabytes: (file: string) => number,
): Promise<Budget[]> {
  const file = path.join(folder, "sleepers.db");
  const count = Math.ceil(100_000 * scale);
  const waking = Math.ceil(1000 * scale);
  const andante = createAndante({
    workflows: { sleeper },
    store: sqliteStore({ path: file }),
    logger: createLogger({ level: "error" }),
    limits: { running: 2000 },
  });
  await throughput(count - waking, 100, () => andante.start("sleeper", { at: Date.now() + hour }));
  const second = Date.now() + notice;
  const started = await Promise.all(
    Array.from({ length: waking }, (_, index) =>
      andante.start("sleeper", { at: second + Math.floor((index * 1000) / waking) }),
    ),
  );
  await delay(second - Date.now());
  const late = (await Promise.all(started.map(({ result }) => result()))).map(({ result }) => Number(result));
  await andante.close();
  const p99 = percentile(late, 0.99);
  const grown = idleMegabytes(file) - idleMegabytes(path.join(folder, "no-sleepers.db"));
  return [
    {
      name: `${waking} of ${count} sleeping executions that fall due in the same second, late by (p99)`,
      value: `${p99} ms`,
      budget: "under 2 s, and none early",
      held: p99 < 2000 && Math.min(...late) >= 0,
      note: `p50 ${percentile(late, 0.5)} ms, earliest ${Math.min(...late)} ms`,
    },
    {
      name: `memory of a process while ${count - waking} executions sleep`,
      value: `${grown.toFixed(0)} MB more`,
      budget: "within 20 MB of idle",
      held: grown < 20,
    },
  ];
}
