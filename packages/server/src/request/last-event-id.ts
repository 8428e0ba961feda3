// The header `Last-Event-ID`.
import { BadRequestError } from "../errors/request-errors.ts";

/** The event number after which a reconnecting browser continues; 0 for the beginning. */
export function lastEventId(header: string | undefined): number {
  if (header === undefined || header === "") return 0;
  if (!/^\d{1,15}$/.test(header)) {
    throw new BadRequestError({ problem: "Invalid request: Last-Event-ID: expected the number of an event" });
  }
  return Number(header);
}
