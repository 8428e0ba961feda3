// Pages of a list: the check of their length, and the cursor, a place in the list as a string that only we read.
import { InvalidOptionError } from "../errors/index.ts";

export function writeCursor(...place: readonly (string | number)[]): string {
  return Buffer.from(JSON.stringify(place)).toString("base64url");
}

/** The place, when `fits` finds it to be one of this list; a cursor is only ever one that we wrote. */
export function readCursor<Place extends readonly unknown[]>(
  cursor: string,
  fits: (place: readonly unknown[]) => place is Place,
): Place {
  try {
    const place: unknown = JSON.parse(Buffer.from(cursor, "base64url").toString());
    if (Array.isArray(place) && fits(place)) return place;
  } catch {
    // Falls through to the error below.
  }
  throw new InvalidOptionError({ option: "cursor", problem: "not a cursor of this server" });
}

/** Refuses a page of more than `most` entries. */
export function checkLimit(limit: number, most = 500): void {
  if (Number.isInteger(limit) && limit >= 1 && limit <= most) return;
  throw new InvalidOptionError({ option: "limit", problem: `expected a whole number from 1 to ${most}` });
}

/** A time or a number, then an id. */
export function isTimeAndId(place: readonly unknown[]): place is readonly [number, string] {
  return Number.isSafeInteger(place[0]) && typeof place[1] === "string";
}

/** A number alone. */
export function isNumber(place: readonly unknown[]): place is readonly [number] {
  return Number.isSafeInteger(place[0]);
}
