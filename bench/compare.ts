// npm run bench:compare -- <folder> [workflow]: the processor time of a request in this checkout beside the checkout in
// another folder, in ten alternating rounds. Both need `npm run build`. It decides whether an optimisation stays.
//
// The rounds alternate, so that a machine that is busy for a while is busy for both. `workflow` is `one` (default) or `three`.
import path from "node:path";
import { type Contender, startContender } from "./http/contender.ts";
import { runLoad } from "./http/load.ts";
import { ours } from "./http/servers.ts";
import { inTemporaryFolder, median } from "./measure.ts";

const rounds = 10;
const requests = 3000;
/** Seconds that a round and a warm-up may take at most. */
const longestRound = 20;

const [other, workflow = "one"] = process.argv.slice(2);
if (other === undefined)
  throw new Error("usage: npm run bench:compare -- <folder of the other checkout> [workflow]");
const folders = { here: path.resolve(import.meta.dirname, ".."), other: path.resolve(other) };

await inTemporaryFolder(async (temporary) => {
  const start = (name: keyof typeof folders) =>
    startContender({
      ...ours,
      name,
      folder: path.join(folders[name], "bench/http"),
      script: "andante.ts",
      database: path.join(temporary, `${name}.db`),
    });
  const [here, there] = [await start("here"), await start("other")];
  try {
    for (const contender of [here, there]) await costOf(contender, 4 * requests);
    const shares: number[] = [];
    for (let round = 0; round < rounds; round++) {
      // Each begins every second round.
      const inOrder = round % 2 === 0 ? [here, there] : [there, here];
      const costs = new Map<Contender, number>();
      for (const contender of inOrder) costs.set(contender, await costOf(contender, requests));
      const [mine, theirs] = [costs.get(here) ?? 0, costs.get(there) ?? 0];
      shares.push(theirs / mine);
      console.log(`here ${mine.toFixed(3)} ms, other ${theirs.toFixed(3)} ms a request`);
    }
    const sorted = shares.toSorted((a, b) => a - b).map((share) => `${((share - 1) * 100).toFixed(1)} %`);
    console.log(
      `${workflow}: the other takes ${((median(shares) - 1) * 100).toFixed(1)} % more (${sorted.join(", ")})`,
    );
  } finally {
    await Promise.all([here.stop(), there.stop()]);
  }
});

/** Milliseconds of processor time for one request, all threads. */
async function costOf(contender: Contender, count: number): Promise<number> {
  const { port, path: pathOf, body } = contender;
  const before = contender.cpu();
  const { requests: done } = await runLoad({ port, path: pathOf(workflow), body }, 20, count, longestRound);
  return (contender.cpu() - before) / done;
}
