// Takes markdown apart into its blocks. Text that grows keeps the blocks that are finished, the very same objects: a reply that
// streams in is parsed and drawn at its end alone.
import { Lexer, type Token, type TokensList } from "marked";
import { longestText } from "./longest-text.ts";

export interface Blocks {
  readonly text: string;
  readonly blocks: readonly Token[];
}

/** In a longer line there may be so many marks that pairing them takes seconds: it is shown as it is written. */
const longestLine = 4000;
/** Of quotes in quotes and lists in lists. */
const deepest = 12;
/**
 * Of one text: marks that may belong together, letters that are read as blocks (those inside others again), and lines that
 * join a quote above them. The work on each grows with its square: 200 KB of `_a*` took 18 s, of such lines 5 s.
 */
const mostPairs = 2_000_000;
const mostLetters = 2_500_000;
const mostJoined = 500;
/** A line of a quote before one that has no mark of its own. */
const joined = /^ {0,3}>.*\n(?! {0,3}>)(?=.*\S)/gm;
/** Characters that may begin or end inline markup. The lexer scans long gaps from each of their positions. */
const mark = /[*_~`![\]<]| {3,}/g;

/** `before` is the result for an earlier, shorter text. */
export function blocksOf(text: string, before?: Blocks): Blocks {
  const kept = before === undefined ? [] : finishedOf(before, text);
  const length = kept.reduce((sum, { raw }) => sum + raw.length, 0);
  return { text, blocks: [...kept, ...parse(text.slice(length))] };
}

/** The blocks that no further letter can change: all but the last two, since a line that is not whole yet may join them. */
function finishedOf({ text, blocks }: Blocks, longer: string): readonly Token[] {
  if (!longer.startsWith(text) || definition.test(longer)) return [];
  const full = blocks.flatMap(({ type }, index) => (type === "space" ? [] : [index]));
  const kept = blocks.slice(0, full.at(-2) ?? 0);
  let at = 0;
  for (const { raw } of kept) {
    // Tabs and ends of lines are read as others: then there is no telling where a block ends.
    if (!longer.startsWith(raw, at)) return [];
    at += raw.length;
  }
  return kept;
}

/** The address of a link, told apart from it: it may belong to any link above. */
const definition = /^ {0,3}\[[^\]\n]+\]:/m;

function parse(text: string): readonly Token[] {
  const plain: Token = { type: "text", raw: text, text };
  if (text.length > longestText || lengthIn(text, joined, () => 1) > mostJoined) return [plain];
  try {
    return new CautiousLexer({ gfm: true, breaks: true }).lex(text);
  } catch {
    return [plain];
  }
}

class CautiousLexer extends Lexer {
  #depth = 0;
  #pairs = 0;
  #letters = 0;

  override blockTokens(text: string, tokens?: Token[], isClipped?: boolean): Token[];
  override blockTokens(text: string, tokens?: TokensList, isClipped?: boolean): TokensList;
  override blockTokens(text: string, tokens: Token[] = [], isClipped = false): Token[] {
    this.#letters += text.length;
    if (this.#depth === deepest || this.#letters > mostLetters) return plainly(text, tokens);
    this.#depth += 1;
    try {
      return super.blockTokens(text, tokens, isClipped);
    } finally {
      this.#depth -= 1;
    }
  }

  override inlineTokens(text: string, tokens: Token[] = []): Token[] {
    if (text.length > longestLine) return plainly(text, tokens);
    const pairs = lengthIn(text, mark, (found) => found.length) ** 2;
    if (this.#pairs + pairs > mostPairs) return plainly(text, tokens);
    this.#pairs += pairs;
    return super.inlineTokens(text, tokens);
  }
}

function plainly(text: string, tokens: Token[]): Token[] {
  tokens.push({ type: "text", raw: text, text });
  return tokens;
}

function lengthIn(text: string, pattern: RegExp, lengthOf: (found: string) => number): number {
  let length = 0;
  for (const [found] of text.matchAll(pattern)) length += lengthOf(found);
  return length;
}
