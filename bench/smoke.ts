// A short check that no speed was lost: execute with one step over HTTP beside a bare route with the same grouped commits.
//
// The share is the processor time of the bare route for a request, divided by Andante's: on a busy machine
// that stays the same when requests per second do not. It differs between kinds of processors, so each kind has a record.
// It fails when the share has fallen 15 % under the recorded one, three times in a row. `npm run bench:smoke -- --record` records a
// new one.
import { readFileSync, writeFileSync } from "node:fs";
import { z } from "zod";
import type { Contender } from "./http/contender.ts";
import { runLoad } from "./http/load.ts";
import { requireBuiltPackages, startAndante, startBare } from "./http/servers.ts";
import { inTemporaryFolder, median } from "./measure.ts";

const rounds = 9;
const requests = 2000;
/** V8 compiles Andante's code for so many requests; before that a request takes up to twice as long. */
const warmUp = 15_000;
/** Seconds that a round and a warm-up may take at most. */
const longestRound = 3;
const longestWarmUp = 15;
const allowedLoss = 0.15;
const maxTries = 3;

const file = new URL("./smoke.json", import.meta.url);
const shares = z.record(z.string(), z.number().positive()).parse(JSON.parse(readFileSync(file, "utf8")));
/** Undefined on a processor without a record. */
const recorded = shares[process.arch];

/** Milliseconds of processor time for one request, all threads. */
async function costOf(contender: Contender): Promise<number> {
  const load = { port: contender.port, path: contender.path("one"), body: contender.body };
  const before = contender.cpu();
  const { requests: done } = await runLoad(load, 20, requests, longestRound);
  return (contender.cpu() - before) / done;
}

async function measureShare(): Promise<number> {
  return inTemporaryFolder(async (folder) => {
    const contenders = [await startAndante(folder), await startBare(folder)] as const;
    const [andante, bare] = contenders;
    try {
      for (const { port, path, body } of contenders) {
        await runLoad({ port, path: path("one"), body }, 20, warmUp, longestWarmUp);
      }
      const shares: number[] = [];
      for (let round = 0; round < rounds; round++) {
        const ours = await costOf(andante);
        const theirs = await costOf(bare);
        shares.push(theirs / ours);
        console.log(
          `${theirs.toFixed(3)} of ${ours.toFixed(3)} ms a request: ${(theirs / ours).toFixed(2)} ×`,
        );
      }
      return median(shares);
    } finally {
      await Promise.all(contenders.map((contender) => contender.stop()));
    }
  });
}

requireBuiltPackages();
const isRecording = process.argv.includes("--record");
const lowest = (recorded ?? 0) * (1 - allowedLoss);
let share = await measureShare();
if (isRecording) {
  // As the formatter has it.
  const all = Object.entries({ ...shares, [process.arch]: Number(share.toFixed(2)) });
  writeFileSync(file, `{ ${all.map(([name, value]) => `"${name}": ${value}`).join(", ")} }\n`);
}
for (let tries = 1; !isRecording && share < lowest && tries < maxTries; tries++) {
  console.log(`${share.toFixed(2)} × is under ${lowest.toFixed(2)} ×; once more`);
  share = Math.max(share, await measureShare());
}
console.log(
  `share of the bare route: ${share.toFixed(2)} ×, recorded ${recorded ?? "no"} × on ${process.arch}, at least ${lowest.toFixed(2)} ×`,
);
process.exitCode = share >= lowest || isRecording ? 0 : 1;
