// The seed of a run: the given one, that of the run to be continued, or a random one.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

/** Chooses the seed and keeps it in the folder, where a later run that continues this one finds it. */
export function chooseSeed(folder: string, given: string | undefined, continues: boolean): number {
  const file = path.join(folder, "seed.txt");
  const before = continues && existsSync(file) ? readFileSync(file, "utf8") : undefined;
  const seed = Number(given ?? before ?? 1 + Math.floor(Math.random() * (2 ** 31 - 1)));
  if (!Number.isInteger(seed) || seed < 1) throw new Error(`the seed must be a whole number from 1: ${seed}`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, `${seed}\n`);
  return seed;
}
