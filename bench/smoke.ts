// A short check that no speed was lost: execute with one step over HTTP beside a bare route with the same grouped commits.
//
// The share is the processor time of the bare route for a request, divided by Andante's: on a busy machine that changes less than
// requests per second do. It differs between kinds of processors, so each kind has a record. The check fails when the share has
// fallen 15 % under the recorded one, twice in a row. Where the bare route takes longer than recorded, other work of the host
// displaces the processor's caches, which Andante's larger code feels more than the bare route's: with 1.75 times the recorded time a
// share of 0.57 was measured as 0.43. So the lowest share is divided by the root of that factor.
// `npm run bench:smoke -- --record` records a new share.
import { readFileSync, writeFileSync } from "node:fs";
import { z } from "zod";
import type { Contender } from "./http/contender.ts";
import { runLoad } from "./http/load.ts";
import { requireBuiltPackages, startAndante, startBare } from "./http/servers.ts";
import { inTemporaryFolder, median } from "./measure.ts";

const rounds = 5;
const requests = 3000;
/** Seconds that a round and a warm-up may take at most: the whole stays under 90. */
const longestRound = 5;
const warmUp = 4;
const allowedLoss = 0.15;

const file = new URL("./smoke.json", import.meta.url);
const measured = z.object({
  /** Of the bare route's processor time. */
  share: z.number().positive(),
  /** Milliseconds of processor time that the bare route takes for a request. */
  bare: z.number().positive(),
});
type Measured = z.infer<typeof measured>;
const records = z.record(z.string(), measured).parse(JSON.parse(readFileSync(file, "utf8")));
/** Undefined on a processor without a record. */
const recorded = records[process.arch];

/** Milliseconds of processor time for one request, all threads. */
async function costOf(contender: Contender): Promise<number> {
  const load = { port: contender.port, path: contender.path("one"), body: contender.body };
  const before = contender.cpu();
  const { requests: done } = await runLoad(load, 20, requests, longestRound);
  return (contender.cpu() - before) / done;
}

async function measureShare(): Promise<Measured> {
  return inTemporaryFolder(async (folder) => {
    const contenders = [await startAndante(folder), await startBare(folder)] as const;
    const [andante, bare] = contenders;
    try {
      for (const { port, path, body } of contenders) {
        await runLoad({ port, path: path("one"), body }, 20, Number.POSITIVE_INFINITY, warmUp);
      }
      const shares: number[] = [];
      const bareCosts: number[] = [];
      for (let round = 0; round < rounds; round++) {
        const ours = await costOf(andante);
        const theirs = await costOf(bare);
        shares.push(theirs / ours);
        bareCosts.push(theirs);
        console.log(
          `${theirs.toFixed(3)} of ${ours.toFixed(3)} ms a request: ${(theirs / ours).toFixed(2)} ×`,
        );
      }
      return { share: median(shares), bare: median(bareCosts) };
    } finally {
      await Promise.all(contenders.map((contender) => contender.stop()));
    }
  });
}

/** The lowest share that passes, at the speed that the machine has. */
function lowestShare({ bare }: Measured): number {
  if (recorded === undefined) return 0;
  const slower = Math.max(1, bare / recorded.bare);
  return (recorded.share * (1 - allowedLoss)) / Math.sqrt(slower);
}

/** Whether the measurement passes; prints it. */
function passes(result: Measured): boolean {
  const lowest = lowestShare(result);
  const bare = `the bare route takes ${result.bare.toFixed(3)} ms, recorded ${recorded?.bare ?? "no"} ms`;
  console.log(
    `share of the bare route: ${result.share.toFixed(2)} ×, recorded ${recorded?.share ?? "no"} × on ${process.arch}, at least ${lowest.toFixed(2)} ×; ${bare}`,
  );
  return result.share >= lowest;
}

requireBuiltPackages();
const result = await measureShare();
if (process.argv.includes("--record")) {
  const rounded = { share: Number(result.share.toFixed(2)), bare: Number(result.bare.toFixed(3)) };
  // As the formatter has it.
  const all = Object.entries({ ...records, [process.arch]: rounded });
  const rows = all.map(([name, { share, bare }]) => `  "${name}": { "share": ${share}, "bare": ${bare} }`);
  writeFileSync(file, `{\n${rows.join(",\n")}\n}\n`);
} else if (!passes(result)) {
  console.log("once more");
  process.exitCode = passes(await measureShare()) ? 0 : 1;
}
