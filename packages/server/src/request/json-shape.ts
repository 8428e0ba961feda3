// The shape of a JSON text, found without parsing it: the memory and the hidden classes that its value needs.
//
// V8 keeps a hidden class for every sequence of field names that objects begin with, and makes each in 2 to 4 µs. Rows of
// one table share theirs; 4 MB of objects with fields of their own took 1.5 s to parse and 1.2 s to copy.
import { randomInt } from "node:crypto";

export interface JsonShape {
  /** Bytes of memory, estimated: 4 MB of `[{},{},…` took 85 MB, of `[[[…` 116, of one string 8. Too few with a problem. */
  readonly size: number;
  /** The text has too many different sequences of field names, or is nested too deeply. */
  readonly problem?: "sequences" | "depth";
}

/** Sequences of field names that a text may have: one for this many bytes of the longest text allowed. */
const bytesPerSequence = 80;
/** Levels of objects and lists. Values that are kept have 500 at most; 4 MB of `[[[…` took 0.6 s to parse. */
const maxDepth = 10_000;

/** Bytes of an object or a list; of an element or a field; of a character. */
const [container, part, character] = [64, 24, 2];
const [quote, backslash, comma, colon, brace, bracket, endBrace, endBracket] = Buffer.from('"\\,:{[}]');

/** The secrets of the hash: a client must not find names with equal hashes. An odd factor loses no bit. */
const start = randomInt(2 ** 32);
const factor = 2 * randomInt(2 ** 31) + 1;
/** V8 keeps numbers of 30 bits without allocating memory. */
const smallNumber = 2 ** 30 - 1;

/** How many different sequences of field names the objects of a text may have, for a limit in bytes. */
export function maxSequences(maxBytes: number): number {
  return Math.floor(maxBytes / bytesPerSequence);
}

export function shapeOf(json: Uint8Array, most: number): JsonShape {
  let size = character * json.byteLength;
  let depth = 0;
  /** The hashes of the last text, and of the names in this object so far. */
  let [name, sequence] = [0, start];
  /** Those of the objects around it. */
  const outer: number[] = [];
  const seen = new Set<number>();
  for (let index = 0; index < json.length; index++)
    switch (json[index]) {
      case quote:
        name = start;
        for (index++; index < json.length && json[index] !== quote; index++) {
          if (json[index] === backslash) name = mix(name, json[index++]);
          name = mix(name, json[index]);
        }
        break;
      case brace:
        outer.push(sequence);
        sequence = start;
        size += container;
        if (++depth > maxDepth) return { size, problem: "depth" };
        break;
      case bracket:
        size += container;
        if (++depth > maxDepth) return { size, problem: "depth" };
        break;
      case endBrace:
        sequence = outer.pop() ?? start;
        depth--;
        break;
      case endBracket:
        depth--;
        break;
      case colon:
        sequence = mix(sequence, name);
        seen.add(sequence & smallNumber);
        size += part;
        if (seen.size > most) return { size, problem: "sequences" };
        break;
      case comma:
        size += part;
        break;
    }
  return { size };
}

/** The shift brings the upper bits into the lower ones, which a product alone does not. */
function mix(hash: number, value = 0): number {
  const product = Math.imul(hash ^ value, factor);
  return product ^ (product >>> 15);
}
