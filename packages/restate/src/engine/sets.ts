// Ordered sets in the state of a shard: they find executions by owner, by time and by workflow.
//
// A set is cut into chunks, each with the members of one range, so that a group of writes changes a few chunks however many
// members there are. `<set><n>` is a chunk; `<set>` lists the chunks and where they begin, unless there is only the chunk 0. A
// member only counts with its row: while rows are written a set holds the old and the new members.

/** A member, which begins with its place in the order of the set. A place alone is a member without fields. */
export type Member = readonly [of: string, at: number, id: string, ...fields: unknown[]];

/** JSON, or null for a value that is to be deleted or was never there. */
export type Text = string | null;

type Entry = readonly [key: string, text: Text];

/** The values to write before the rows of the members, and after them, each in this order. */
type SetWrites = Readonly<Record<"before" | "after", readonly Entry[]>>;

/** The values of an object, which have to be loaded before they are read. */
interface Values {
  load(keys: readonly string[]): Promise<void>;
  get<Value>(key: string): Value | undefined;
}

/** Its number, and the place where its range begins. */
type Chunk = readonly [number: number, from: Member];

/** A longer chunk is cut into chunks of half that many members. */
const maxMembers = 64;

const firstChunk: Chunk = [0, ["", Number.MIN_SAFE_INTEGER, ""]];

/** All keys of a set that has few members. */
export function keysOfSet(set: string): string[] {
  return [set, chunkKey(set, firstChunk)];
}

/** The key of a change: of the member at one place. */
export function memberKey(set: string, [of, at, id]: Member): string {
  return `+${JSON.stringify([set, of, at, id])}`;
}

function chunkKey(set: string, [number]: Chunk): string {
  return `${set}${number}`;
}

function compare([of, at, id]: Member, [otherOf, otherAt, otherId]: Member): number {
  if (of !== otherOf) return of < otherOf ? -1 : 1;
  if (at !== otherAt) return at - otherAt;
  return id === otherId ? 0 : id < otherId ? -1 : 1;
}

function chunksOf(values: Values, set: string): readonly Chunk[] {
  return values.get<Chunk[]>(set) ?? [firstChunk];
}

/** The members of a chunk, without those that a write which was killed half-way has left there and in the next chunk. */
function membersIn<Found extends Member>(values: Values, set: string, chunk: Chunk, next?: Chunk): Found[] {
  const members = values.get<Found[]>(chunkKey(set, chunk)) ?? [];
  return members.filter((member) => next === undefined || compare(member, next[1]) < 0);
}

interface FindQuery<Found extends Member> {
  /** Only members of these. Chunks of others are not read. Default: of any. */
  readonly isOf?: (of: string) => boolean;
  readonly fits?: (member: Found) => boolean;
  /** Only members behind this number. Chunks before it are not read. Default: any number. */
  readonly after?: number | undefined;
  readonly limit?: number;
}

/** The first members that fit, in order. */
export async function find<Found extends Member>(
  values: Values,
  set: string,
  { isOf = () => true, fits = () => true, after = -Infinity, limit = Infinity }: FindQuery<Found>,
): Promise<Found[]> {
  await values.load(keysOfSet(set));
  const all = chunksOf(values, set);
  const chunks = all.flatMap((chunk, index) => {
    const next = all[index + 1];
    const [[, [of]], [to, until] = []] = [chunk, next?.[1]];
    return of !== to || (isOf(of) && Number(until) > after) ? [{ chunk, next }] : [];
  });
  const found: Found[] = [];
  const atOnce = Math.ceil((2 * limit) / maxMembers);
  for (let index = 0; index < chunks.length && found.length < limit; index += atOnce) {
    const some = chunks.slice(index, index + atOnce);
    await values.load(some.map(({ chunk }) => chunkKey(set, chunk)));
    for (const { chunk, next } of some)
      for (const member of membersIn<Found>(values, set, chunk, next))
        if (isOf(member[0]) && member[1] > after && fits(member)) found.push(member);
  }
  return found.slice(0, limit);
}

/** A member to keep at its place, or null for none. */
interface Change {
  readonly set: string;
  readonly place: Member;
  readonly member: Member | null;
}

function changeOf([key, text]: Entry): Change {
  const [set, ...place] = JSON.parse(key.slice(1));
  return { set, place, member: text === null ? null : JSON.parse(text) };
}

/** Loads the chunks that members change in, and returns the values to write. Each entry has a `memberKey`. */
export async function changeSets(values: Values, entries: readonly Entry[]): Promise<SetWrites> {
  const bySet = Map.groupBy(entries.map(changeOf), ({ set }) => set);
  await values.load([...bySet.keys()]);
  const sets = [...bySet].map(([set, changes]) => {
    const chunks = chunksOf(values, set);
    const chunkOf = ({ place }: Change) => chunks.findLast(([, from]) => compare(from, place) <= 0);
    return { set, chunks, byChunk: Map.groupBy(changes, (change) => chunkOf(change) ?? firstChunk) };
  });
  await values.load(
    sets.flatMap(({ set, byChunk }) => [...byChunk.keys()].map((each) => chunkKey(set, each))),
  );
  const writes = sets.map(({ set, chunks, byChunk }) => changeSet(values, set, chunks, byChunk));
  return { before: writes.flatMap((each) => each.before), after: writes.flatMap((each) => each.after) };
}

/**
 * Members are added before the rows and removed after them. A chunk that is cut stays whole until the others are listed, and an
 * empty chunk is listed until it is deleted: at any time the chunks that are listed hold every member.
 */
function changeSet(
  values: Values,
  set: string,
  chunks: readonly Chunk[],
  byChunk: ReadonlyMap<Chunk, readonly Change[]>,
): SetWrites {
  const [made, changed, after]: [Entry[], Entry[], Entry[]] = [[], [], []];
  const [listed, left]: [Chunk[], Chunk[]] = [[], []];
  let last = Math.max(...chunks.map(([number]) => number));
  for (const [index, chunk] of chunks.entries()) {
    const changes = byChunk.get(chunk);
    if (changes === undefined) {
      listed.push(chunk);
      left.push(chunk);
      continue;
    }
    const changeAt = (at: Member) => changes.find(({ place }) => compare(place, at) === 0);
    const added = changes.flatMap(({ member }) => (member === null ? [] : [member]));
    const before = membersIn(values, set, chunk, chunks[index + 1]).filter((each) => !changeAt(each)?.member);
    const members = [...before, ...added].sort(compare);
    const size = members.length > maxMembers ? maxMembers / 2 : maxMembers;
    for (let start = 0; start === 0 || start < members.length; start += size) {
      const part = members.slice(start, start + size);
      const [of = "", at = 0, id = ""] = part[0] ?? [];
      const here: Chunk = start === 0 ? chunk : [++last, [of, at, id]];
      const rest = part.filter((each) => changeAt(each)?.member !== null);
      const key = chunkKey(set, here);
      listed.push(here);
      if (added.length > 0) (here === chunk ? changed : made).push([key, JSON.stringify(part)]);
      if (rest.length < part.length) after.push([key, rest.length === 0 ? null : JSON.stringify(rest)]);
      if (rest.length > 0 || here[0] === 0) left.push(here);
    }
  }
  const list: Entry[] = listed.length > chunks.length ? [[set, JSON.stringify(listed)]] : [];
  if (left.length < listed.length) after.push([set, left.length === 1 ? null : JSON.stringify(left)]);
  return { before: [...made, ...list, ...changed], after };
}
