// An answer while it runs: kept whole in memory, so that a client that comes back reads it from its beginning.
//
// There is one copy for all readers, and neighbouring deltas are one entry up to a size. A reader remembers how far it has come, also
// inside an entry, so a slow one costs nothing and gets larger pieces. Beyond the limit the oldest entries go: who has read
// them reads on, who has not is told, and nobody can attach any more.
import type { UIMessageChunk } from "ai";
import { deltaOf, isDelta, merge, withDelta } from "./merge-deltas.ts";

const mostCharacters = 4 * 1024 * 1024;
/** An entry grows no further: a reader that keeps up takes the end of it for every delta, which copies all of it. */
const longestEntry = 1024;

export class RunningReply {
  #entries: UIMessageChunk[] = [];
  /** How many entries have gone. */
  #gone = 0;
  #length = 0;
  #over = false;
  #readers = 0;
  #waiting: (() => void)[] = [];
  readonly #unread: (() => void)[] = [];
  readonly #limit: number;

  constructor(limit = mostCharacters) {
    this.#limit = limit;
  }

  /** How many read it now. */
  get readers(): number {
    return this.#readers;
  }

  /** Calls back as soon as nobody reads it, which may be at once. */
  whenUnread(action: () => void): void {
    if (this.#readers === 0) action();
    else this.#unread.push(action);
  }

  /** False when the beginning is gone: it cannot be read from there any more. */
  get isWhole(): boolean {
    return this.#gone === 0;
  }

  append(chunk: UIMessageChunk): void {
    const last = this.#entries.at(-1);
    const merged = last && deltaOf(last).length < longestEntry ? merge(last, chunk) : undefined;
    if (merged === undefined) {
      this.#entries.push(chunk);
      this.#length += lengthOf(chunk);
    } else {
      this.#entries[this.#entries.length - 1] = merged;
      this.#length += deltaOf(chunk).length;
    }
    while (this.#length > this.#limit && this.#entries.length > 1) {
      const first = this.#entries.shift();
      if (first !== undefined) this.#length -= lengthOf(first);
      this.#gone++;
    }
    this.#wake();
  }

  /** Nothing more will come. */
  close(): void {
    this.#over = true;
    this.#wake();
  }

  /** Reads from the beginning, at the reader's own pace; `leave` is called when the reader goes before the end. */
  read(leave?: () => void): AsyncIterableIterator<UIMessageChunk> {
    this.#readers++;
    let at = this.#gone;
    let offset = 0;
    let left = false;
    const end = () => {
      if (!left) this.#leave();
      left = true;
      return { done: true as const, value: undefined };
    };
    /** What comes next; undefined when there is nothing yet. */
    const step = (): UIMessageChunk | undefined => {
      for (;;) {
        if (at < this.#gone) {
          left = true;
          this.#leave();
          return { type: "error", errorText: "The answer was not read fast enough" };
        }
        const entry = this.#entries[at - this.#gone];
        if (entry === undefined) return undefined;
        const rest = restOf(entry, offset);
        if (rest !== undefined) {
          offset = deltaOf(entry).length;
          if (offset === 0) at++;
          return rest;
        }
        // The entry may still grow while it is the last one.
        if (at - this.#gone === this.#entries.length - 1) return undefined;
        at++;
        offset = 0;
      }
    };
    return {
      [Symbol.asyncIterator]() {
        return this;
      },
      next: async () => {
        for (;;) {
          if (left) return end();
          const chunk = step();
          if (chunk !== undefined) return { done: false, value: chunk };
          if (this.#over) return end();
          await new Promise<void>((resolve) => this.#waiting.push(resolve));
        }
      },
      return: async () => {
        const early = !left && !this.#over;
        const result = end();
        this.#wake();
        if (early) leave?.();
        return result;
      },
    };
  }

  #leave(): void {
    this.#readers--;
    if (this.#readers === 0) for (const action of this.#unread.splice(0)) action();
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

/** What a reader has not seen of an entry; undefined when that is nothing. */
function restOf(entry: UIMessageChunk, offset: number): UIMessageChunk | undefined {
  if (!isDelta(entry)) return entry;
  const text = deltaOf(entry);
  if (offset === 0 && text.length > 0) return entry;
  return text.length > offset ? withDelta(entry, text.slice(offset)) : undefined;
}

function lengthOf(chunk: UIMessageChunk): number {
  return isDelta(chunk) ? deltaOf(chunk).length : JSON.stringify(chunk).length;
}
