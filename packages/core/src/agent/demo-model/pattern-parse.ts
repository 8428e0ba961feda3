// Parses the everyday part of the regular expression syntax into a small tree.

export type PatternNode =
  | { type: "character"; accepts: (character: string) => boolean; sample: string }
  | { type: "sequence"; nodes: readonly PatternNode[] }
  | { type: "choice"; nodes: readonly PatternNode[] }
  | { type: "repeat"; node: PatternNode; minimum: number; maximum: number }
  | { type: "start" }
  | { type: "end" }
  | { type: "look"; node: PatternNode; negative: boolean };

type Accepts = (character: string) => boolean;

interface Reading {
  pattern: string;
  position: number;
  depth: number;
}

const MAXIMUM_PATTERN = 2_000;
const MAXIMUM_GROUPS = 30;
/** Tried in this order for a sample of a character class. */
const preferred = `a1Ab0Bc2-_. ${String.fromCharCode(...Array.from({ length: 95 }, (_, index) => index + 32))}`;

const classes: Readonly<Record<string, Accepts>> = {
  d: (character) => /\d/.test(character),
  D: (character) => /\D/.test(character),
  w: (character) => /\w/.test(character),
  W: (character) => /\W/.test(character),
  s: (character) => /\s/.test(character),
  S: (character) => /\S/.test(character),
};
const controls: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", f: "\f", v: "\v", "0": "\0" };

/** Thrown inside the parser, for syntax that it does not know; never leaves this file. */
class NotUnderstood extends Error {}

/** The tree of the pattern, or undefined when it uses anything that is not understood. */
export function parsePattern(pattern: string): PatternNode | undefined {
  if (pattern.length > MAXIMUM_PATTERN) return undefined;
  const reading: Reading = { pattern, position: 0, depth: 0 };
  try {
    const node = parseChoice(reading);
    return reading.position === pattern.length ? node : undefined;
  } catch (error) {
    if (error instanceof NotUnderstood) return undefined;
    throw error;
  }
}

function parseChoice(reading: Reading): PatternNode {
  const nodes = [parseSequence(reading)];
  while (take(reading, "|")) nodes.push(parseSequence(reading));
  const [only] = nodes;
  return nodes.length === 1 && only !== undefined ? only : { type: "choice", nodes };
}

function parseSequence(reading: Reading): PatternNode {
  const nodes: PatternNode[] = [];
  while (reading.position < reading.pattern.length && !/[|)]/.test(peek(reading)))
    nodes.push(parseQuantifier(parseAtom(reading), reading));
  return { type: "sequence", nodes };
}

function parseQuantifier(node: PatternNode, reading: Reading): PatternNode {
  const match = /^(?:[*+?]|\{(\d{1,9})(,(\d{0,9}))?\})\??/.exec(
    reading.pattern.slice(reading.position, reading.position + 24),
  );
  if (match === null) return node;
  reading.position += match[0].length;
  const sign = match[0].charAt(0);
  if (sign === "*") return { type: "repeat", node, minimum: 0, maximum: Number.POSITIVE_INFINITY };
  if (sign === "+") return { type: "repeat", node, minimum: 1, maximum: Number.POSITIVE_INFINITY };
  if (sign === "?") return { type: "repeat", node, minimum: 0, maximum: 1 };
  const minimum = Number(match[1]);
  const most = match[3] === "" ? Number.POSITIVE_INFINITY : Number(match[3]);
  return { type: "repeat", node, minimum, maximum: match[2] === undefined ? minimum : most };
}

function parseAtom(reading: Reading): PatternNode {
  const character = next(reading);
  if (character === "^") return { type: "start" };
  if (character === "$") return { type: "end" };
  if (character === "(") return parseGroup(reading);
  if (character === "[") return parseClass(reading);
  if (character === ".") return oneOf((other) => other !== "\n" && other !== "\r");
  if (character === "\\") return oneOf(readEscape(reading));
  if (/[*+?{]/.test(character)) throw new NotUnderstood();
  return { type: "character", accepts: (other) => other === character, sample: character };
}

function parseGroup(reading: Reading): PatternNode {
  reading.depth += 1;
  if (reading.depth > MAXIMUM_GROUPS) throw new NotUnderstood();
  const look = take(reading, "?=") ? "positive" : take(reading, "?!") ? "negative" : undefined;
  const named = /^\?<[A-Za-z]\w{0,60}>/.exec(reading.pattern.slice(reading.position, reading.position + 64));
  if (named !== null) reading.position += named[0].length;
  else if (look === undefined && !take(reading, "?:") && peek(reading) === "?") throw new NotUnderstood();
  const node = parseChoice(reading);
  if (!take(reading, ")")) throw new NotUnderstood();
  reading.depth -= 1;
  return look === undefined ? node : { type: "look", node, negative: look === "negative" };
}

/** What the escape after a backslash accepts, inside a class or outside. */
function readEscape(reading: Reading): Accepts {
  const letter = next(reading);
  const known = Object.hasOwn(classes, letter) ? classes[letter] : undefined;
  if (known !== undefined) return known;
  const code = letter === "x" ? 2 : letter === "u" ? 4 : 0;
  if (code > 0) {
    const digits = reading.pattern.slice(reading.position, reading.position + code);
    if (!/^[0-9a-f]+$/i.test(digits) || digits.length < code) throw new NotUnderstood();
    reading.position += code;
    return equals(String.fromCharCode(Number.parseInt(digits, 16)));
  }
  if (Object.hasOwn(controls, letter)) return equals(controls[letter] ?? letter);
  // Letters and digits that are left mean something special: \b, \p, \1.
  if (/\w/.test(letter)) throw new NotUnderstood();
  return equals(letter);
}

function parseClass(reading: Reading): PatternNode {
  const negated = take(reading, "^");
  const parts: Accepts[] = [];
  while (!take(reading, "]")) {
    const first = next(reading);
    if (first === "\\") {
      parts.push(readEscape(reading));
      // A range with an escape at one of its ends ([\x00-\x1f]) is rare and left out.
      if (startsRange(reading)) throw new NotUnderstood();
    } else if (startsRange(reading)) {
      next(reading);
      const last = next(reading);
      if (last === "\\") throw new NotUnderstood();
      parts.push((character) => character >= first && character <= last);
    } else parts.push(equals(first));
  }
  return oneOf((character) => parts.some((part) => part(character)) !== negated);
}

function startsRange(reading: Reading): boolean {
  return /^-[^\]]/.test(reading.pattern.slice(reading.position, reading.position + 2));
}

function oneOf(accepts: Accepts): PatternNode {
  const sample = [...preferred].find(accepts);
  if (sample === undefined) throw new NotUnderstood();
  return { type: "character", accepts, sample };
}

function equals(wanted: string): Accepts {
  return (character) => character === wanted;
}

function peek(reading: Reading): string {
  return reading.pattern.charAt(reading.position);
}

function next(reading: Reading): string {
  if (reading.position >= reading.pattern.length) throw new NotUnderstood();
  reading.position += 1;
  return reading.pattern.charAt(reading.position - 1);
}

function take(reading: Reading, text: string): boolean {
  if (!reading.pattern.startsWith(text, reading.position)) return false;
  reading.position += text.length;
  return true;
}
