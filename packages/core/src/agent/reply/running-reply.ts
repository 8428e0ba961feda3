// A reply while it runs: kept whole in memory, so that a client that comes back reads it from its beginning.
//
// There is one copy for all readers, and neighbouring deltas are one entry up to a size. A reader remembers its
// position, also inside an entry, so a slow one costs nothing and gets larger pieces. Beyond the limit the oldest
// entries are dropped: a reader that has read them continues, one that has not gets an error, and no reader can attach any
// more.
import type { UIMessageChunk } from "ai";
import { deltaOf, isDelta, merge, withDelta } from "./merge-deltas.ts";

const maxCharacters = 4 * 1024 * 1024;
/** An entry does not grow further: a reader that keeps up slices it for every delta, which copies all of it. */
const maxEntryLength = 1024;

const end = { done: true as const, value: undefined };
const tooSlow: UIMessageChunk = { type: "error", errorText: "The reply was not read fast enough" };

/** How far a reader has come: an entry, counted from the first one ever, and characters inside it. */
interface Position {
  entry: number;
  offset: number;
}

export class RunningReply {
  #entries: UIMessageChunk[] = [];
  /** How many entries were dropped. */
  #dropped = 0;
  #length = 0;
  #closed = false;
  #readers = 0;
  #waiting: (() => void)[] = [];
  readonly #unread: (() => void)[] = [];
  readonly #limit: number;

  constructor(limit = maxCharacters) {
    this.#limit = limit;
  }

  /** How many are reading it now. */
  get readers(): number {
    return this.#readers;
  }

  /** Calls back as soon as it has no reader, which may be at once. */
  whenUnread(action: () => void): void {
    if (this.#readers === 0) action();
    else this.#unread.push(action);
  }

  /** False when the beginning was dropped: it cannot be read from there any more. */
  get isWhole(): boolean {
    return this.#dropped === 0;
  }

  append(chunk: UIMessageChunk): void {
    const last = this.#entries.at(-1);
    const merged = last && deltaOf(last).length < maxEntryLength ? merge(last, chunk) : undefined;
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
      this.#dropped++;
    }
    this.#wake();
  }

  /** Nothing more will come. */
  close(): void {
    this.#closed = true;
    this.#wake();
  }

  /** Reads from the beginning, at the reader's own pace; `onLeave` is called when the reader leaves before the end. */
  read(onLeave?: () => void): AsyncIterableIterator<UIMessageChunk> {
    this.#readers++;
    const position = { entry: this.#dropped, offset: 0 };
    let left = false;
    const leave = () => {
      if (!left) this.#leave();
      left = true;
      return end;
    };
    return {
      [Symbol.asyncIterator]() {
        return this;
      },
      next: async () => {
        for (;;) {
          if (left) return end;
          if (position.entry < this.#dropped) {
            leave();
            return { done: false, value: tooSlow };
          }
          const chunk = this.#nextChunk(position);
          if (chunk !== undefined) return { done: false, value: chunk };
          if (this.#closed) return leave();
          await new Promise<void>((resolve) => this.#waiting.push(resolve));
        }
      },
      return: async () => {
        const early = !left && !this.#closed;
        leave();
        this.#wake();
        if (early) onLeave?.();
        return end;
      },
    };
  }

  /** The next chunk for a reader, whose position moves past it; undefined when there is none yet. */
  #nextChunk(position: Position): UIMessageChunk | undefined {
    for (;;) {
      const index = position.entry - this.#dropped;
      const entry = this.#entries[index];
      if (entry === undefined) return undefined;
      const rest = restOf(entry, position.offset);
      if (rest !== undefined) {
        position.offset = deltaOf(entry).length;
        if (position.offset === 0) position.entry++;
        return rest;
      }
      // The entry may still grow while it is the last one.
      if (index === this.#entries.length - 1) return undefined;
      position.entry++;
      position.offset = 0;
    }
  }

  #leave(): void {
    this.#readers--;
    if (this.#readers === 0) for (const action of this.#unread.splice(0)) action();
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

/** The part of an entry after the offset; undefined when there is none. */
function restOf(entry: UIMessageChunk, offset: number): UIMessageChunk | undefined {
  if (!isDelta(entry)) return entry;
  const text = deltaOf(entry);
  if (offset === 0 && text.length > 0) return entry;
  return text.length > offset ? withDelta(entry, text.slice(offset)) : undefined;
}

function lengthOf(chunk: UIMessageChunk): number {
  return isDelta(chunk) ? deltaOf(chunk).length : JSON.stringify(chunk).length;
}
