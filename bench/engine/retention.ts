// Measures how long executions take while retention deletes beside them, against the same load without it.
import path from "node:path";
import { createAndante, createLogger, type Logger, sqliteStore } from "@andante/core";
import { inTemporaryFolder, percentile, throughput } from "../measure.ts";
import { three } from "./workflows.ts";

const finished = Number(process.argv[2] ?? 20_000);
const width = 10;
const quiet = createLogger({ level: "silent" });

/** Milliseconds that each execution took, `width` at a time, until `over`. */
async function timesUntil(over: () => boolean, andante: ReturnType<typeof createAndante>): Promise<number[]> {
  const times: number[] = [];
  const lane = async () => {
    while (!over()) {
      const start = performance.now();
      await andante.execute("three", { n: 1 });
      times.push(performance.now() - start);
    }
  };
  await Promise.all(Array.from({ length: width }, lane));
  return times;
}

function print(name: string, times: readonly number[], seconds: number): void {
  const [p50, p99] = [0.5, 0.99].map((share) => percentile(times, share).toFixed(1));
  const max = Math.max(...times).toFixed(1);
  console.log(
    `${name}: ${times.length} executions in ${seconds.toFixed(1)} s, p50 ${p50} ms, p99 ${p99} ms, longest ${max} ms`,
  );
}

await inTemporaryFolder(async (folder) => {
  const store = () => sqliteStore({ path: path.join(folder, "retention.db") });
  const first = createAndante({ workflows: { three }, store: store(), logger: quiet });
  await throughput(finished, 50, () => first.execute("three", { n: 1 }));
  const begin = performance.now();
  const alone = await timesUntil(() => performance.now() - begin > 5000, first);
  print("without retention", alone, 5);
  await first.close();

  let deleted = 0;
  const logger: Logger = {
    ...quiet,
    debug: () => undefined,
    warn: console.warn,
    error: console.error,
    child: () => quiet,
    info: (fields) => {
      if ("deleted" in fields) deleted = Number(fields.deleted);
    },
  };
  const start = performance.now();
  const second = createAndante({ workflows: { three }, store: store(), logger, retention: { maxAge: 0 } });
  await second.ready();
  const beside = await timesUntil(() => deleted > 0, second);
  print(`while ${deleted} are deleted`, beside, (performance.now() - start) / 1000);
  await second.close();
});
