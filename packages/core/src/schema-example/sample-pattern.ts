// A string for a regular expression of the everyday kind: letters, classes, groups, alternatives, counts.

/** Tried in this order for a class of letters. */
const letters = `a1A0bB-_. @/:${String.fromCharCode(...Array.from({ length: 94 }, (_, index) => index + 33))}`;
/** A class, an escape, the beginning of a group, or any other letter. */
const atom = /\[(?:\\.|[^\]\\])*\]|\\[pP]\{[^}]*\}|\\u[\da-fA-F]{4}|\\.|\((?:\?(?:[:=!]|<\w+>))?|./suy;
const maxLength = 10_000;
const quantifier = /(?:([*+?])|\{(\d+)(,?)\d*\})?\??/y;

interface Reading {
  readonly pattern: string;
  readonly more: number;
  position: number;
}

/**
 * What the shortest way through the pattern spells, with `more` rounds on top for each part that may repeat without
 * end. Unusual syntax is read as plain letters: the caller checks the result against the pattern.
 */
export function samplePattern(pattern: string, more: number): string {
  return readGroup({ pattern, more, position: 0 });
}

/** Up to the end of the group; the first alternative counts. */
function readGroup(reading: Reading): string {
  const alternatives = [""];
  while (reading.position < reading.pattern.length) {
    const source = read(reading, atom)[0];
    if (source === ")") break;
    if (source === "|") alternatives.push("");
    else alternatives.push(`${alternatives.pop()}${readRepeated(source, reading)}`);
  }
  return alternatives[0] ?? "";
}

function readRepeated(source: string, reading: Reading): string {
  const group = source.startsWith("(") ? readGroup(reading) : undefined;
  const text = /^\(\?[=!]/.test(source) ? "" : (group ?? letterOf(source));
  const [, sign, count = sign === "+" || sign === undefined ? "1" : "0", open] = read(reading, quantifier);
  const endless = sign === "*" || sign === "+" || open === ",";
  // Repeats inside repeats multiply.
  const maxRepeats = Math.floor(maxLength / Math.max(text.length, 1));
  return text.repeat(Math.min(Number(count) + (endless ? reading.more : 0), maxRepeats));
}

function letterOf(source: string): string {
  if (/^(?:[$^]|\\b)$/.test(source)) return "";
  if (!/^[[\\.]/.test(source)) return source;
  const accepted = new RegExp(`^${source}$`, "u");
  return [...letters].find((letter) => accepted.test(letter)) ?? "";
}

function read(reading: Reading, part: RegExp): RegExpExecArray {
  part.lastIndex = reading.position;
  const found = part.exec(reading.pattern);
  if (found === null) throw new SyntaxError(`not a regular expression: ${reading.pattern}`);
  reading.position = part.lastIndex;
  return found;
}
