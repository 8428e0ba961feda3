// The shape of a JSON text, found without parsing it: the memory and the hidden classes that its value needs.
//
// V8 keeps a hidden class for every sequence of field names that objects begin with, and makes each in 2 to 4 µs. Rows of
// one table share theirs; 4 MB of objects with fields of their own took 1.5 s to parse and 1.2 s to copy.
import { randomInt } from "node:crypto";

export interface JsonShape {
  /** Bytes of memory, estimated: 4 MB of `[{},{},…` took 85 MB, of `[[[…` 116, of one string 8. */
  readonly size: number;
  /** Whether there are more different sequences of fields than allowed. The size is too small then. */
  readonly isTooVaried: boolean;
}

/** Sequences of fields that a text may have: one for this many bytes of the longest text allowed. */
const bytesOfSequence = 80;

/** Bytes of an object or a list; of an element or a field; of a character. */
const [container, part, character] = [64, 24, 2];
const [quote, backslash, comma, colon, brace, bracket, endBrace] = Buffer.from('"\\,:{[}');

/** The factor of the hash FNV-1a. Its start is secret: a client must not find names with equal hashes. */
const prime = 16_777_619;
const start = randomInt(2 ** 32);
/** V8 keeps numbers of 30 bits without allocating memory. */
const smallNumber = 2 ** 30 - 1;

/** How many different sequences of fields the objects of a text may have, for a limit in bytes. */
export function mostSequences(maxBytes: number): number {
  return Math.floor(maxBytes / bytesOfSequence);
}

export function shapeOf(json: Uint8Array, most: number): JsonShape {
  let size = character * json.byteLength;
  /** The hashes of the last text, and of the fields of this object so far. */
  let [text, sequence] = [0, 0];
  /** Those of the objects around it. */
  const outer: number[] = [];
  const seen = new Set<number>();
  for (let index = 0; index < json.length && seen.size <= most; index++)
    switch (json[index]) {
      case quote:
        text = start;
        for (index++; index < json.length && json[index] !== quote; index++) {
          if (json[index] === backslash) text = mix(text, json[index++]);
          text = mix(text, json[index]);
        }
        break;
      case brace:
        outer.push(sequence);
        sequence = 0;
        size += container;
        break;
      case endBrace:
        sequence = outer.pop() ?? 0;
        break;
      case bracket:
        size += container;
        break;
      case colon:
        sequence = mix(sequence, text);
        seen.add(sequence & smallNumber);
        size += part;
        break;
      case comma:
        size += part;
        break;
    }
  return { size, isTooVaried: seen.size > most };
}

function mix(hash: number, value = 0): number {
  return Math.imul(hash ^ value, prime);
}
