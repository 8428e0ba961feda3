// One at a time for each key, in the order of arrival.
import { unlessAborted } from "../../values/unless-aborted.ts";

/** The place of one that has entered. */
export interface Place {
  /** Lets the next one in. */
  leave(): void;
  /**
   * Keeps its place while the work lasts, and lets members past that go ahead. Resolves when it is its turn again; rejects
   * when the work does, or it is aborted.
   */
  yieldWhile(work: Promise<void>): Promise<void>;
}

export interface EnterOptions {
  /** It goes ahead of all members that wait, but not of the one that is in. Default: false. */
  readonly ahead?: boolean;
  /** Called only where it has to wait, with its place taken already and after those of earlier members; throws to leave. */
  readonly mayWait?: () => Promise<void>;
}

/** One in the line of a key. */
interface Standing<Member> {
  readonly member: Member;
  readonly ahead: boolean;
  /** It was its turn, and it has entered. */
  isIn: boolean;
  isAside: boolean;
  /** Resolves when it knows whether it waits. */
  readonly asked: Promise<void>;
  /** Resolved while it is the first in the line. */
  turn: PromiseWithResolvers<void>;
}

export class KeyedQueue<Member> {
  readonly #lines = new Map<string, Standing<Member>[]>();
  readonly #freed: (key: string) => void;

  /** `freed` is called when the last member of a key has left. */
  constructor(freed: (key: string) => void = () => undefined) {
    this.#freed = freed;
  }

  /** Waits for earlier arrivals. Leaves the line when aborted. */
  async enter(
    key: string,
    member: Member,
    signal: AbortSignal,
    { ahead = false, mayWait = () => Promise.resolve() }: EnterOptions = {},
  ): Promise<Place> {
    const turn = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    const standing = { member, ahead, turn, isIn: false, isAside: false, asked: asked.promise };
    const line = this.#lines.get(key) ?? [];
    const before = ahead ? undefined : line.at(-1)?.asked;
    this.#lines.set(key, line);
    insert(line, standing);
    const leave = () => this.#leave(key, standing);
    try {
      signal.throwIfAborted();
      if (line[0] !== standing) {
        await unlessAborted(inOrder(before, mayWait), signal);
        asked.resolve();
        await unlessAborted(turn.promise, signal);
      }
    } catch (error) {
      leave();
      throw error;
    } finally {
      asked.resolve();
    }
    standing.isIn = true;
    return { leave, yieldWhile: (work) => yieldWhile(line, standing, work, signal) };
  }

  /** The one whose turn it is; undefined until it has entered. */
  holder(key: string): Member | undefined {
    const first = this.#lines.get(key)?.[0];
    return first?.isIn ? first.member : undefined;
  }

  /** All in the line, in their order. */
  members(key: string): readonly Member[] {
    return this.#lines.get(key)?.map(({ member }) => member) ?? [];
  }

  #leave(key: string, standing: Standing<Member>): void {
    const line = this.#lines.get(key);
    const index = line?.indexOf(standing) ?? -1;
    if (line === undefined || index === -1) return;
    line.splice(index, 1);
    line[0]?.turn.resolve();
    if (line.length > 0) return;
    this.#lines.delete(key);
    this.#freed(key);
  }
}

async function inOrder(before: Promise<void> | undefined, work: () => Promise<void>): Promise<void> {
  await before;
  await work();
}

async function yieldWhile<Member>(
  line: Standing<Member>[],
  standing: Standing<Member>,
  work: Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  standing.isAside = true;
  // Members that went ahead are queued behind this one, if there are any.
  for (const each of line.filter(({ ahead }) => ahead)) {
    line.splice(line.indexOf(each), 1);
    insert(line, each);
  }
  await work;
  standing.isAside = false;
  await unlessAborted(standing.turn.promise, signal);
}

function insert<Member>(line: Standing<Member>[], standing: Standing<Member>): void {
  const [first] = line;
  let index = line.length;
  if (standing.ahead) {
    index = first === undefined || first.isAside ? 0 : 1;
    while (line[index]?.ahead) index++;
  }
  line.splice(index, 0, standing);
  if (index > 0) return;
  if (first !== undefined) first.turn = Promise.withResolvers();
  standing.turn.resolve();
}
