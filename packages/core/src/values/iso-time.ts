// Times as ISO 8601 texts. Writing a date takes Node a microsecond, and most of those written together are of one second.

let second = Number.NaN;
let beginning = "";

/** The text of a time in milliseconds since 1970. */
export function isoTime(milliseconds: number): string {
  // As a date does: towards 1970.
  const whole = Math.trunc(milliseconds);
  const seconds = Math.floor(whole / 1000);
  if (seconds !== second) {
    beginning = new Date(seconds * 1000).toISOString().slice(0, -"000Z".length);
    second = seconds;
  }
  return `${beginning}${String(whole - seconds * 1000).padStart(3, "0")}Z`;
}
