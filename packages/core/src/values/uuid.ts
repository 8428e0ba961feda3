// Time-ordered ids: UUIDs of version 7 (RFC 9562). Random ones halve the write throughput of an index.
import { randomUUID } from "node:crypto";

/** The ids of one millisecond are counted. */
const maxPerMillisecond = 0x1000;

/** A maker of ids that sort in the order in which they were made, also when the clock is set back. */
export function uuidMaker(now: () => number = Date.now): () => string {
  let time = 0;
  let counter = 0;
  let prefix = "";
  return () => {
    const current = now();
    counter++;
    if (current > time || counter === maxPerMillisecond) {
      // With too many ids in one millisecond the next one begins early.
      time = Math.max(current, time + 1);
      counter = 0;
      const digits = time.toString(16).padStart(12, "0");
      prefix = `${digits.slice(0, 8)}-${digits.slice(8)}-7`;
    }
    const count = counter.toString(16).padStart(3, "0");
    // The variant and 62 random bits.
    return `${prefix}${count}-${randomUUID().slice(19)}`;
  };
}

/** A new id. */
export const uuid = uuidMaker();
