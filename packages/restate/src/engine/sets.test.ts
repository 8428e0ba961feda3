// Ordered sets: they hold every member at each moment of a group of writes, and a group writes little however long they are.
import { expect, test } from "vitest";
import { createRandom } from "../../../core/test/support/random.ts";
import { changeSets, find, keysOfSet, type Member, memberKey, type Text } from "./sets.ts";

const set = "t";

/** State whose values have to be loaded, as those of an object. */
function stateOf(entries: ReadonlyMap<string, string> = new Map()) {
  const state = new Map(entries);
  const loaded = new Set<string>();
  const values = {
    load: async (keys: readonly string[]) => keys.forEach((key) => void loaded.add(key)),
    get: <Value>(key: string): Value | undefined => {
      if (!loaded.has(key)) throw new Error(`${key} was not loaded`);
      return JSON.parse(state.get(key) ?? "null") ?? undefined;
    },
  };
  const write = ([key, text]: readonly [string, Text]) =>
    text === null ? state.delete(key) : state.set(key, text);
  return { state, values, write, loaded };
}

type State = ReturnType<typeof stateOf>;

const nameOf = ([of, at, id]: Member) => `${of} ${at} ${id}`;
const sortTextOf = ([of, at, id]: Member) => `${of} ${String(at).padStart(9)} ${id}`;
const namesIn = async ({ values }: State) => (await find(values, set, {})).map(nameOf);
const put = (member: Member) => [memberKey(set, member), JSON.stringify(member)] as const;
const drop = (member: Member) => [memberKey(set, member), null] as const;

async function change(from: State, changes: readonly (readonly [string, Text])[]) {
  const { before, after } = await changeSets(stateOf(from.state).values, changes);
  for (const each of [...before, ...after]) from.write(each);
  return [...before, ...after];
}

const member = (at: number, of = "", number = at): Member => [of, at, `e-${number}`, "nap"];

test.for([1, 2, 3, 4])("a group that is killed between any two writes loses no member (%i)", async (seed) => {
  const random = createRandom(seed);
  const next = (below: number) => random.integer(0, below - 1);
  const here = new Map<string, Member>();
  const from = stateOf();
  for (let group = 0; group < 60; group++) {
    const added = Array.from({ length: next(40) }, () => member(next(300), `o${next(3)}`, next(5)));
    const dropped = [...here.values()].filter(() => next(group < 40 ? 4 : 2) === 0);
    const final = new Map(here);
    for (const each of dropped) final.delete(nameOf(each));
    for (const each of added) final.set(nameOf(each), each);
    const killed = stateOf(from.state);
    const changes = new Map([...dropped.map(drop), ...added.map(put)]);
    const { before, after } = await changeSets(stateOf(from.state).values, [...changes]);
    for (const each of before) {
      killed.write(each);
      expect(await namesIn(killed)).toEqual(expect.arrayContaining([...here.keys()]));
    }
    // The rows of the members are written now.
    expect(await namesIn(killed)).toEqual(expect.arrayContaining([...here.keys(), ...final.keys()]));
    for (const each of after) {
      killed.write(each);
      expect(await namesIn(killed)).toEqual(expect.arrayContaining([...final.keys()]));
    }
    for (const each of [...before, ...after]) from.write(each);
    here.clear();
    for (const [name, each] of final) here.set(name, each);
    const inOrder = [...here.values()].sort((a, b) => (sortTextOf(a) < sortTextOf(b) ? -1 : 1));
    expect(await namesIn(from)).toEqual(inOrder.map(nameOf));
  }
});

test("members that a killed group has left in two chunks are found once, and removed at once", async () => {
  const from = stateOf();
  await change(
    from,
    Array.from({ length: 64 }, (_, at) => put(member(at))),
  );
  const { before } = await changeSets(stateOf(from.state).values, [put(member(64))]);
  // The new chunk and the list of the chunks are written, and the first chunk is not.
  for (const each of before.slice(0, -1)) from.write(each);
  expect(await namesIn(from)).toHaveLength(65);
  await change(from, [drop(member(63)), drop(member(1))]);
  expect(await namesIn(from)).toEqual(
    Array.from({ length: 65 }, (_, at) => nameOf(member(at))).filter((_, at) => at !== 63 && at !== 1),
  );
});

test("a set that is empty again leaves nothing behind", async () => {
  const from = stateOf();
  const members = Array.from({ length: 300 }, (_, at) => member(at));
  await change(from, members.map(put));
  expect(from.state.size).toBeGreaterThan(5);
  for (let first = 0; first < 300; first += 50)
    await change(from, members.slice(first, first + 50).map(drop));
  expect([...from.state]).toEqual([]);
});

test("a group writes and a search reads a few chunks of many", async () => {
  const from = stateOf();
  const members = Array.from({ length: 10_000 }, (_, at) => member(at, at < 5_000 ? "here" : "there"));
  for (let first = 0; first < 10_000; first += 100)
    await change(from, members.slice(first, first + 100).map(put));
  const lengthOf = (entries: readonly (readonly [string, Text])[]) =>
    entries.reduce((sum, [, text]) => sum + (text?.length ?? 0), 0);
  const total = lengthOf([...from.state]);
  expect(lengthOf(await change(from, members.slice(0, 50).map(drop)))).toBeLessThan(total / 15);
  expect(lengthOf(await change(from, [drop(member(4_000, "here"))]))).toBeLessThan(total / 100);

  const search = async (query: Parameters<typeof find>[2]) => {
    const { values, loaded } = stateOf(from.state);
    const found = await find(values, set, query);
    return { found: found.map(([, at]) => at), read: loaded.size - keysOfSet(set).length };
  };
  const first = await search({ limit: 100 });
  expect(first.found).toEqual(Array.from({ length: 100 }, (_, index) => index + 50));
  expect(first.read).toBeLessThan(10);
  const later = await search({ isOf: (of) => of === "there", limit: 100 });
  expect(later.found).toEqual(Array.from({ length: 100 }, (_, index) => index + 5_000));
  expect(later.read).toBeLessThan(10);
  const none = await search({ isOf: () => false });
  expect(none).toEqual({ found: [], read: expect.any(Number) });
  expect(none.read).toBeLessThan(5);
});
