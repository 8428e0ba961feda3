// Lists whose versions share memory: the runs at the positions of a journal differ in a few entries.

/** Entries of a list that are copied together. */
const chunkSize = 256;

/** A list whose copies share the chunks that none of them has changed. */
export class SharedList<Value> {
  readonly #chunks: (Value | undefined)[][];
  readonly #own = new Set<number>();

  constructor(chunks: (Value | undefined)[][] = []) {
    this.#chunks = chunks;
  }

  copy(): SharedList<Value> {
    this.#own.clear();
    return new SharedList([...this.#chunks]);
  }

  get(index: number): Value | undefined {
    return this.#chunks[Math.floor(index / chunkSize)]?.[index % chunkSize];
  }

  set(index: number, value: Value | undefined): void {
    const at = Math.floor(index / chunkSize);
    const known = this.#chunks[at] ?? [];
    const chunk = this.#own.has(at) ? known : [...known];
    chunk[index % chunkSize] = value;
    this.#chunks[at] = chunk;
    this.#own.add(at);
  }
}

/** A list that grows at its end, whose shorter versions stay as they are. */
export interface Chain<Entry> {
  readonly entry: Entry;
  readonly before: Chain<Entry> | undefined;
}

export function listed<Entry>(chain: Chain<Entry> | undefined): readonly Entry[] {
  const entries: Entry[] = [];
  for (let link = chain; link !== undefined; link = link.before) entries.push(link.entry);
  return entries.reverse();
}
