// Parses markdown into blocks. A growing text keeps the objects of finished blocks, so only the end of a streaming
// reply is parsed and rendered.
import { Lexer, type Token, type TokensList } from "marked";
import { longestText } from "./looks-like-markdown.ts";

export interface Blocks {
  readonly text: string;
  readonly blocks: readonly Token[];
}

/** Maximum characters of a line: pairing the marks of a longer one may take seconds, so it is shown as plain text. */
const longestLine = 4000;
/** Maximum nesting of quotes and lists. */
const deepest = 12;
/**
 * Limits per text: possible pairs of marks, characters parsed as blocks (nested ones repeatedly), and lines that
 * continue a quote. The work on each is quadratic: 200 KB of `_a*` took 18 s, of such lines 5 s.
 */
const mostPairs = 2_000_000;
const mostLetters = 2_500_000;
const mostJoined = 500;
/** A quoted line followed by a line without a quote mark. */
const joined = /^ {0,3}>.*\n(?! {0,3}>)(?=.*\S)/gm;
/** Characters that may begin or end inline markup. The lexer scans long gaps from each of their positions. */
const mark = /[*_~`![\]<]| {3,}/g;

/** `before` is the result for an earlier, shorter text. */
export function blocksOf(text: string, before?: Blocks): Blocks {
  const kept = before === undefined ? [] : finishedOf(before, text);
  const length = kept.reduce((sum, { raw }) => sum + raw.length, 0);
  return { text, blocks: [...kept, ...parse(text.slice(length))] };
}

/** The blocks that further text cannot change: all but the last two, since an incomplete line may join them. */
function finishedOf({ text, blocks }: Blocks, longer: string): readonly Token[] {
  if (!longer.startsWith(text) || definition.test(longer)) return [];
  const full = blocks.flatMap(({ type }, index) => (type === "space" ? [] : [index]));
  const kept = blocks.slice(0, full.at(-2) ?? 0);
  let at = 0;
  for (const { raw } of kept) {
    // The parser normalises tabs and line ends: then the end of a block in the text is unknown.
    if (!longer.startsWith(raw, at)) return [];
    at += raw.length;
  }
  return kept;
}

/** A link reference definition: any link above may refer to it. */
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
