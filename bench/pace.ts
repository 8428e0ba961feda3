// How much time a benchmark takes: `--quick` for a look, `--short` for the record of `bench:all`, else the whole of it.

export type Pace = "quick" | "short" | "full";

export const pace: Pace = process.argv.includes("--quick")
  ? "quick"
  : process.argv.includes("--short")
    ? "short"
    : "full";

/** A quick look is not recorded. */
export const isRecorded = pace !== "quick";

/** The number that belongs to the pace. */
export function paced(numbers: Readonly<Record<Pace, number>>): number {
  return numbers[pace];
}
