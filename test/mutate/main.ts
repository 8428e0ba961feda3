// npm run mutate [faults]: puts small faults into the code, one at a time, and reports which of them the tests notice.
//
// ANDANTE_MUTATE_SEED repeats the sample of an earlier run (default: a random seed, which is printed); ANDANTE_MUTATE_FILES
// tries only the faults of the sources whose paths begin so, with commas (default: all of them); ANDANTE_MUTATE_TESTS runs
// only these test files, globs with commas (default: every suite that covers the package); ANDANTE_MUTATE_WORKERS is the
// number of faults that are tried at once (default: one for each core); ANDANTE_MUTATE_TIMEOUT lets tests wait longer than
// 5000 ms for an event, on a busy machine. ANDANTE_MUTATE_CONTINUE=1 keeps the seed and the verdicts of the run before, if it was
// of the same sources, and tries the rest. Undetected faults are written to reports/mutate/survivors.md, to be read one by
// one; tried.jsonl and seed.txt beside it are written while the run goes on.
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import path from "node:path";
import { Stryker } from "@stryker-mutator/core";
import { type Fault, isInFunction, keyOf, listFaults, rangeOf, rooms, sampleOf } from "./faults.ts";
import { chooseSeed } from "./seed.ts";
import { readTried, type Tried } from "./tried.ts";
import { countsByRoom, survivorsPage, verdictOf } from "./verdicts.ts";

const wanted = Number(process.argv[2] ?? 500);
const workers = Number(process.env.ANDANTE_MUTATE_WORKERS ?? availableParallelism());
const files = process.env.ANDANTE_MUTATE_FILES?.split(",") ?? Object.values(rooms);
if (![wanted, workers].every((number) => Number.isInteger(number) && number >= 1)) {
  throw new Error("usage: npm run mutate [faults], with whole numbers in the variables");
}

const root = path.resolve(import.meta.dirname, "../..");
const reports = path.join(root, "reports", "mutate");
const plugins = ["sample-checker.ts", "tried.ts"].map((file) => path.join(import.meta.dirname, file));
const continues = process.env.ANDANTE_MUTATE_CONTINUE === "1";
const seed = chooseSeed(reports, process.env.ANDANTE_MUTATE_SEED, continues);
const began = performance.now();

const all = await listFaults(root);
const sample = sampleOf(root, all.filter(isWanted), wanted, seed);
const triedFile = path.join(reports, "tried.jsonl");
if (!continues) rmSync(triedFile, { force: true });
const left = withoutVerdict(sample);
say(`mutate: ${left.length} of ${all.length} faults, ANDANTE_MUTATE_SEED=${seed}`);
// Where the checker finds the sample: it runs in a process of its own.
const sampleFile = path.join(reports, "sample.json");
writeFileSync(sampleFile, JSON.stringify(left.map(keyOf)));
process.env.ANDANTE_MUTATE_SAMPLE = sampleFile;
process.env.ANDANTE_MUTATE_TRIED = triedFile;

for (const name of ["core", "server"]) {
  const faults = left.filter(({ fileName }) => fileName.startsWith(`packages/${name}/`));
  const inFunctions = faults.filter((fault) => isInFunction(root, fault));
  if (inFunctions.length > 0) await tryFaults(name, inFunctions, "those that cover it");
  const others = withoutVerdict(faults);
  if (others.length > 0) await tryFaults(name, others, "all");
}
const tried = triedSoFar();
const verdicts = sample.flatMap((fault) => {
  const found = tried.get(keyOf(fault));
  return found === undefined ? [] : [verdictOf(fault, found)];
});
writeFileSync(path.join(reports, "verdicts.json"), JSON.stringify(verdicts, null, 2));
writeFileSync(path.join(reports, "survivors.md"), survivorsPage(root, verdicts));
for (const line of countsByRoom(verdicts)) say(line);
say(
  `ANDANTE_MUTATE_SEED=${seed}, ${Math.round((performance.now() - began) / 1000)} s, see ${path.relative(root, reports)}/survivors.md`,
);
const missing = withoutVerdict(left);
if (missing.length > 0) throw new Error(`${missing.length} faults have no verdict`);

function isWanted({ fileName }: Fault): boolean {
  return files.some((beginning) => fileName.startsWith(beginning));
}

function triedSoFar(): ReadonlyMap<string, Tried> {
  return existsSync(triedFile) ? readTried(triedFile) : new Map();
}

function withoutVerdict(faults: readonly Fault[]): Fault[] {
  const tried = triedSoFar();
  return faults.filter((fault) => !tried.has(keyOf(fault)));
}

/**
 * Tries the faults of one package, with the tests that cover it. Code that also runs between tests, such as the
 * timers of an engine, has tests that cover it; code that runs while modules load, some of them in the middle of a test, needs
 * all of them.
 */
async function tryFaults(
  name: string,
  faults: readonly Fault[],
  tests: "those that cover it" | "all",
): Promise<void> {
  process.env.ANDANTE_MUTATE_PACKAGE = name;
  await new Stryker({
    mutate: [...new Set(faults.map(rangeOf))],
    testRunner: "vitest",
    vitest: { configFile: "test/mutate/vitest.config.ts", related: false, pool: "forks" },
    checkers: ["sample"],
    plugins: ["@stryker-mutator/vitest-runner", ...plugins],
    coverageAnalysis: tests === "all" ? "off" : "perTest",
    ignoreStatic: tests !== "all",
    // Vitest only strips types, and a test reads the first line of a source.
    disableTypeChecks: false,
    concurrency: workers,
    // The first pass runs every test in one process, which ran out of memory with Node's default.
    testRunnerNodeArgs: ["--max-old-space-size=8192"],
    ignorePatterns: ["/bench", "/docs/pictures", "/reports"],
    // Tests have a time limit of their own; this one is for faults that never let go of the thread.
    timeoutMS: 45_000,
    timeoutFactor: 1.5,
    dryRunTimeoutMinutes: 90,
    reporters: ["progress-append-only", "tried"],
    cleanTempDir: "always",
    allowConsoleColors: false,
  }).runMutationTest();
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
