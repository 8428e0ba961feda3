/** A time in milliseconds since 1970 as ISO 8601 text. */
export function isoTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
