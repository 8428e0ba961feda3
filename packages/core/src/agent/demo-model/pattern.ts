// Regular expressions of a schema, without running them: makes a text that matches, and checks a text in bounded steps.
//
// A pattern comes from outside and could take years on the wrong text, so it is never given to RegExp. What is not
// understood here (back references, word boundaries, Unicode classes) counts as "cannot tell".
import { type PatternNode, parsePattern } from "./pattern-parse.ts";

/** More than any sensible pattern needs on a short text, few enough for the call stack. */
const MAXIMUM_STEPS = 1_200;
const MAXIMUM_TEXT = 400;

interface Matching {
  text: string;
  steps: number;
}

/** Whether the text matches; undefined when the pattern is not understood or too costly. */
export function matchesPattern(pattern: string, text: string): boolean | undefined {
  const node = parsePattern(pattern);
  if (node === undefined || text.length > MAXIMUM_TEXT) return undefined;
  const matching: Matching = { text, steps: MAXIMUM_STEPS };
  for (let start = 0; start <= text.length; start += 1) {
    if (match(node, start, matching, () => true)) return true;
    if (matching.steps <= 0) return undefined;
  }
  return false;
}

/** Texts that should match, the shortest first; `variant` changes the choices and lengths. */
export function patternSamples(pattern: string, variant: number, minLength: number): string[] {
  const node = parsePattern(pattern);
  if (node === undefined) return [];
  const found: string[] = [];
  for (const extra of [variant, variant + 1, variant + 2, variant + Math.min(minLength, MAXIMUM_TEXT)])
    for (const choice of [0, 1, 2]) {
      const text = sample(node, extra, choice);
      if (text !== undefined && !found.includes(text)) found.push(text);
    }
  return found;
}

function sample(node: PatternNode, extra: number, choice: number): string | undefined {
  switch (node.type) {
    case "character":
      return node.sample;
    case "sequence":
      return joinSamples(node.nodes, extra, choice);
    case "choice": {
      const chosen = node.nodes[choice % node.nodes.length];
      return chosen === undefined ? "" : sample(chosen, extra, choice);
    }
    case "repeat": {
      const count = Math.min(node.minimum + extra, node.maximum);
      const once = sample(node.node, extra, choice);
      return once === undefined || once.length * count > MAXIMUM_TEXT
        ? undefined
        : once.repeat(once === "" ? 1 : count);
    }
    case "start":
    case "end":
    case "look":
      return "";
  }
}

function joinSamples(nodes: readonly PatternNode[], extra: number, choice: number): string | undefined {
  let text = "";
  for (const node of nodes) {
    const next = sample(node, extra, choice);
    if (next === undefined || text.length + next.length > MAXIMUM_TEXT) return undefined;
    text += next;
  }
  return text;
}

type Next = (position: number) => boolean;

/** Whether the node matches at the position and what follows (`next`) matches after it. */
function match(node: PatternNode, position: number, matching: Matching, next: Next): boolean {
  matching.steps -= 1;
  if (matching.steps <= 0) return false;
  switch (node.type) {
    case "character": {
      const character = matching.text[position];
      return character !== undefined && node.accepts(character) && next(position + 1);
    }
    case "sequence":
      return matchSequence(node.nodes, 0, position, matching, next);
    case "choice":
      return node.nodes.some((option) => match(option, position, matching, next));
    case "repeat":
      return matchRepeat(node, 0, position, matching, next);
    case "start":
      return position === 0 && next(position);
    case "end":
      return position === matching.text.length && next(position);
    case "look":
      return match(node.node, position, matching, () => true) !== node.negative && next(position);
  }
}

function matchSequence(
  nodes: readonly PatternNode[],
  index: number,
  position: number,
  matching: Matching,
  next: Next,
): boolean {
  const node = nodes[index];
  if (node === undefined) return next(position);
  return match(node, position, matching, (after) => matchSequence(nodes, index + 1, after, matching, next));
}

function matchRepeat(
  repeat: PatternNode & { type: "repeat" },
  count: number,
  position: number,
  matching: Matching,
  next: Next,
): boolean {
  const once = (after: number) =>
    (after > position || count < repeat.minimum) && matchRepeat(repeat, count + 1, after, matching, next);
  if (count < repeat.maximum && match(repeat.node, position, matching, once)) return true;
  return count >= repeat.minimum && next(position);
}
