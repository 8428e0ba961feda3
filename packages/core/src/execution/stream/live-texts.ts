// Text of an agent that one reader has not read: bounded, the oldest goes first.
import type { LiveText } from "./feed.ts";

/** A piece with its place: it comes after the event of this number. */
interface PlacedText extends LiveText {
  readonly after: number;
}

const maxLength = 256 * 1024;

export class LiveTexts {
  #texts: PlacedText[] = [];
  #length = 0;
  readonly #limit: number;

  constructor(limit = maxLength) {
    this.#limit = limit;
  }

  /** Neighbouring pieces of one reply are kept as one. */
  add(text: LiveText, after: number): void {
    const last = this.#texts.at(-1);
    const isText = last?.tool === undefined && text.tool === undefined;
    if (last?.path === text.path && last.after === after && isText) {
      this.#texts[this.#texts.length - 1] = { ...last, delta: last.delta + text.delta };
    } else this.#texts.push({ ...text, after });
    this.#length += text.delta.length;
    while (this.#length > this.#limit) this.#length -= this.#texts.shift()?.delta.length ?? this.#length;
  }

  /** The next piece, when the reader has come to its place. */
  take(read: number): LiveText | undefined {
    const first = this.#texts[0];
    if (first === undefined || first.after > read) return undefined;
    this.#texts.shift();
    this.#length -= first.delta.length;
    const { after: _, ...text } = first;
    return text;
  }

  clear(): void {
    this.#texts = [];
    this.#length = 0;
  }
}
