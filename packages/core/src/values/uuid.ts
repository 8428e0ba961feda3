// Time-ordered ids: UUIDs of version 7 (RFC 9562). Random ones halve the write throughput of an index.
//
// The `uuid` package asks the operating system for random bytes at each id; from a pool an id costs a tenth
// (docs/decisions/0002-dependencies.md has the numbers).
import { randomFillSync } from "node:crypto";
import { digitValue, hexadecimal } from "./hexadecimal.ts";

const pool = Buffer.alloc(4096);
const poolDigits = pool.length * 2;
/** The ids of one millisecond are counted, from a random number below half of this. */
const maxPerMillisecond = 0x1000;

/** A maker of random hexadecimal digits. */
function digitsMaker(): (count: number) => string {
  let random = "";
  let used = poolDigits;
  return (count) => {
    if (used + count > poolDigits) {
      random = randomFillSync(pool).toString("hex");
      used = 0;
    }
    used += count;
    return random.slice(used - count, used);
  };
}

/** A maker of ids that sort in the order in which they were made, also when the clock is set back. */
export function uuidMaker(now: () => number = Date.now): () => string {
  const take = digitsMaker();
  let time = 0;
  let counter = maxPerMillisecond;
  let prefix = "";
  return () => {
    const current = now();
    if (current > time || ++counter >= maxPerMillisecond) {
      // Too many for one millisecond: the next one is begun before its time.
      time = Math.max(current, time + 1);
      counter = Number.parseInt(take(3), 16) >> 1;
      const digits = hexadecimal(time, 6);
      prefix = `${digits.slice(0, 8)}-${digits.slice(8)}-7`;
    }
    const variant = "89ab"[digitValue(take(1)) & 3];
    return `${prefix}${hexadecimal(counter, 2).slice(1)}-${variant}${take(3)}-${take(12)}`;
  };
}

/** A new id. */
export const uuid = uuidMaker();

const takeDigits = digitsMaker();

/** A new secret of 128 random bits, such as the token of a claim. */
export function randomToken(): string {
  return takeDigits(32);
}
