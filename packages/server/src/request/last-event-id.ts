// The header `Last-Event-ID`.
import { BadRequestError } from "../errors/request-errors.ts";

/** Where a browser that lost its connection continues. */
export function lastEventId(header: string | undefined): number {
  if (header === undefined || header === "") return 0;
  if (!/^\d{1,15}$/.test(header)) {
    throw new BadRequestError({ problem: "Invalid request: Last-Event-ID: expected the number of an event" });
  }
  return Number(header);
}
