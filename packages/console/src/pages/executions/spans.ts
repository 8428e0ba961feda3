// The periods that a list can be filtered by.

export const spans = [
  ["15m", "last 15 minutes", 900_000],
  ["1h", "last hour", 3_600_000],
  ["24h", "last 24 hours", 86_400_000],
  ["7d", "last 7 days", 604_800_000],
] as const;

/** The start of a period, rounded to the minute, so that requests within a minute have the same URL. */
export function spanOf(
  name: string | undefined,
): { readonly from: string; readonly label: string } | undefined {
  const found = spans.find(([key]) => key === name);
  if (found === undefined) return undefined;
  const minute = 60_000;
  const from = new Date(Math.ceil((Date.now() - found[2]) / minute) * minute).toISOString();
  return { from, label: found[1] };
}
