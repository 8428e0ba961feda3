// Rows that another client keeps locked, as a lane meets them: others do not wait for them, and nothing is overtaken.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Query } from "../connection/client.ts";
import type { GroupItem } from "./item.ts";
import { Lane } from "./lane.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => void vi.useRealTimers());

const turn = () => new Promise((resolve) => setImmediate(resolve));
/** Lets time pass, with as many turns of the event loop as a lane may need for each of its steps. */
const pass = async (milliseconds: number) => {
  for (let left = milliseconds; left >= 0; left -= 10) {
    await turn();
    await vi.advanceTimersByTimeAsync(Math.min(10, left));
  }
  await turn();
};

/** A lane on a database in which rows can be locked by another client, commits can lose their results, and which can be away. */
function laneOf() {
  const locked = new Set<string>();
  const told: string[] = [];
  const givenBack: string[] = [];
  let lostResults = 0;
  let isAway = false;
  let patience = 0;
  const query: Query = async (text, values) => {
    patience = Number(/lock_timeout = (\d+)/.exec(text)?.[1] ?? patience);
    const ids = text.includes("for update") ? values?.[0] : [];
    if (Array.isArray(ids) && ids.some((id) => locked.has(id))) {
      await new Promise((resolve) => setTimeout(resolve, patience));
      if (ids.some((id) => locked.has(id))) throw Object.assign(new Error("lock timeout"), { code: "55P03" });
    }
    if (text === "commit" && lostResults-- > 0) throw new Error("Connection terminated unexpectedly");
    return { rows: [], count: 0 };
  };
  const lane = new Lane({
    connection: {
      query: async () => {
        if (isAway) throw Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
        return query;
      },
      drop: () => undefined,
      neverPrepare: () => false,
      close: async () => undefined,
    },
    schema: "s",
    timeouts: { idle: 1_000, lock: 7_500 },
    written: () => undefined,
    healed: () => undefined,
    giveBack: ({ executionId, token }) => givenBack.push(`${executionId} ${token}`),
  });
  const write = (executionId: string, name: string, fields: Partial<GroupItem> = {}) => {
    const from = performance.now();
    const tell = (what: string) => told.push(`${name} ${what} ${Math.round(performance.now() - from)}`);
    const decide = () => () => tell("after");
    const does = { write: { request: () => undefined, decide } };
    const reject = () => tell("refused after");
    lane.add({ operation: "write", length: 0, executionId, does, isIntake: false, reject, ...fields });
  };
  const lose = (commits: number) => {
    lostResults = commits;
  };
  const setAway = (value: boolean) => {
    isAway = value;
  };
  return { lane, locked, told, givenBack, write, lose, setAway };
}
const timeOf = (line: string) => Number(line.split(" ").at(-1));
const namesOf = (told: readonly string[]) => told.map((line) => line.split(" ")[0]);

test("a locked row is found within a second, and then neither it nor further writes to it hold up others", async () => {
  const { locked, told, write } = laneOf();
  locked.add("x");
  write("x", "first");
  write("y", "beside");
  await pass(1_300);
  expect(told).toEqual([expect.stringMatching(/^beside after 1[12]\d\d$/)]);
  for (let number = 0; number < 40; number++) {
    write(`y${number}`, "other");
    if (number % 10 === 0) write("x", `again${number}`);
    await pass(50);
  }
  const others = told.filter((line) => line.startsWith("other"));
  expect(others).toHaveLength(40);
  expect(Math.max(...others.map(timeOf))).toBeLessThanOrEqual(120);
  locked.clear();
  await pass(600);
  expect(namesOf(told.slice(41))).toEqual(["first", "again0", "again10", "again20", "again30"]);
});

test("a later write of an execution does not overtake one that was set aside when the row is free", async () => {
  const { locked, told, write } = laneOf();
  locked.add("x");
  write("x", "first");
  await pass(1_010);
  // Set aside for half a second.
  locked.clear();
  write("x", "second");
  await pass(600);
  expect(namesOf(told)).toEqual(["first", "second"]);
});

test("nor does a write that came while it was first tried", async () => {
  const { locked, told, write } = laneOf();
  locked.add("x");
  write("x", "first");
  await pass(500);
  write("x", "second");
  await pass(520);
  locked.clear();
  await pass(600);
  expect(namesOf(told)).toEqual(["first", "second"]);
});

test("repeatable calls are refused after five seconds, also behind a waiting write; repeating them delays no other row", async () => {
  const { locked, told, write } = laneOf();
  locked.add("x");
  write("x", "commit");
  await pass(1_100);
  write("x", "caller", { isIntake: true });
  await pass(6_000);
  expect(told).toEqual([expect.stringMatching(/^caller refused after 5\d\d\d$/)]);
  locked.add("z");
  write("z", "caller", { isIntake: true });
  await pass(8_000);
  told.length = 0;
  write("z", "caller", { isIntake: true });
  write("y", "other");
  await pass(1_000);
  expect(told).toEqual([expect.stringMatching(/^other after/)]);
  expect(timeOf(told[0] ?? "")).toBeLessThanOrEqual(220);
});

test("a claim that may have been taken is given back once its row is free, however long that takes", async () => {
  const { locked, told, givenBack, write, lose } = laneOf();
  lose(1);
  write("x", "wake", { isIntake: true, claims: "token" });
  await pass(0);
  locked.add("x");
  await pass(12_000);
  expect(told).toEqual([expect.stringMatching(/^wake refused after 5\d\d\d$/)]);
  expect(givenBack).toEqual([]);
  locked.clear();
  await pass(700);
  expect(givenBack).toEqual(["x token"]);
});

test("a write that may have been done is repeated when the database was away in between, and its claim is given back", async () => {
  const { told, givenBack, write, lose, setAway } = laneOf();
  lose(1);
  write("x", "wake", { isIntake: true, claims: "token" });
  await pass(0);
  setAway(true);
  await pass(12_000);
  expect(told).toEqual([expect.stringMatching(/^wake refused after 5\d\d\d$/)]);
  setAway(false);
  await pass(12_000);
  expect(givenBack).toEqual(["x token"]);
});

test("the caller of such a write gets its result when the database comes back in time", async () => {
  const { told, givenBack, write, lose, setAway } = laneOf();
  lose(1);
  write("x", "wake", { isIntake: true, claims: "token" });
  await pass(0);
  setAway(true);
  await pass(1_000);
  setAway(false);
  await pass(3_000);
  expect(told).toEqual([expect.stringMatching(/^wake after \d+$/)]);
  expect(givenBack).toEqual([]);
});

test("closing refuses writes that are still locked when its time is up", async () => {
  const { lane, locked, told, write } = laneOf();
  locked.add("x");
  for (const name of ["first", "second"]) write("x", name);
  await pass(1_100);
  const closed = lane.close(2_000).then(() => told.push("closed 0"));
  await pass(2_300);
  await closed;
  expect(namesOf(told)).toEqual(["second", "closed", "first"]);
});
