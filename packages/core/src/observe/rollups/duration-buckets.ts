// Ranges of durations: four for each doubling, so that a percentile read from them is at most about a tenth off.

/** -1 where no duration is known. */
export const noDuration = -1;

const perDoubling = 4;
/** The last one, which holds everything that takes longer than about 190 days. */
const last = 1 + perDoubling * 34;

/** The range of a duration in milliseconds. */
export function bucketOf(milliseconds: number): number {
  if (!(milliseconds >= 1)) return 0;
  return Math.min(last, 1 + Math.floor(perDoubling * Math.log2(milliseconds)));
}

/** Where a range begins, in milliseconds. */
function lowerBound(bucket: number): number {
  return bucket <= 0 ? 0 : 2 ** ((bucket - 1) / perDoubling);
}

/**
 * The duration that this share of the counted ones does not exceed, in milliseconds; null when none is counted. Inside its
 * range it is where it would be if the range were filled evenly.
 */
export function percentileOf(counts: ReadonlyMap<number, number>, share: number): number | null {
  const known = [...counts].filter(([bucket]) => bucket !== noDuration).sort(([one], [other]) => one - other);
  const total = known.reduce((sum, [, count]) => sum + count, 0);
  let left = share * total;
  for (const [index, [bucket, count]] of known.entries()) {
    if (left > count && index < known.length - 1) {
      left -= count;
      continue;
    }
    const [from, to] = [lowerBound(bucket), lowerBound(bucket + 1)];
    return Math.round(from + (to - from) * Math.min(1, left / count));
  }
  return null;
}
