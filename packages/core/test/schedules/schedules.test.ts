// Schedules of workflows: occurrences start executions once, with overlap, catch-up, pauses and changes of the code.
import { afterEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { createAndante, createWorkflow, memoryStore } from "../../src/index.ts";
import { TestClock } from "../../src/test-kit/test-clock.ts";
import type { WorkflowOptions } from "../../src/workflow/create-workflow.ts";
import { plainStore } from "../store/plain-store.ts";

const start = Date.parse("2027-03-01T12:00:30Z");
const input = z.object({ day: z.string() });
type Schedules = NonNullable<WorkflowOptions<typeof input>["schedules"]>;

const opened: { close(options: { grace: number }): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of opened.splice(0)) await each.close({ grace: 0 });
});

/** A workflow that records its inputs, with these schedules. */
function report(schedules: Schedules = {}, days: string[] = []) {
  return createWorkflow({ id: "report", input, schedules }).andThen({
    id: "write",
    execute: ({ data }) => {
      days.push(data.day);
      return data;
    },
  });
}

const daily = {
  cron: "0 9 * * *",
  input: ({ at }: { at: Date }) => ({ day: at.toISOString().slice(0, 10) }),
};

function andanteWith(
  schedules: Schedules,
  store = memoryStore(),
  clock = new TestClock({ start, skipSleeps: false }),
) {
  const days: string[] = [];
  const andante = createAndante({ workflows: { report: report(schedules, days) }, store, clock });
  opened.push(andante);
  return { andante, clock, days, store };
}

/** Moves the clock in steps, and waits for the executions of each. */
async function pass(
  { andante, clock }: { readonly andante: { settled(): Promise<void> }; readonly clock: TestClock },
  steps: number,
  step: "1d" | "1h" | "1m" | "10m" = "1d",
) {
  for (let index = 0; index < steps; index++) {
    clock.advance(step);
    await andante.settled();
  }
}

describe.each([
  ["SQLite", memoryStore],
  ["maps", plainStore],
])("schedules in code on %s", (_, makeStore) => {
  test("a year of a daily schedule runs once for each day, with the nominal time in id, cause and input", async () => {
    const held = andanteWith({ daily }, makeStore());
    await held.andante.ready();
    await pass(held, 365);
    expect(held.days).toHaveLength(365);
    expect(new Set(held.days).size).toBe(365);
    expect(held.days[0]).toBe("2027-03-02");
    const state = await held.andante.find("report:daily@20270302T090000Z");
    expect(state).toMatchObject({
      status: "completed",
      cause: { scheduleId: "report:daily", at: "2027-03-02T09:00:00.000Z" },
    });
    expect(await held.andante.schedules.get("report:daily")).toMatchObject({
      ...{ origin: "code", state: "active", revision: 1, started: 365, skipped: 0, missed: 0 },
      ...{ nextAt: "2028-03-01T09:00:00.000Z", lastAt: "2028-02-29T09:00:00.000Z" },
    });
  });

  test("a new schedule of every minute fires at the next minute, not at once", async () => {
    const held = andanteWith({ often: { ...daily, cron: "* * * * *" } }, makeStore());
    await held.andante.ready();
    held.clock.advance("29s");
    await held.andante.settled();
    expect(held.days).toEqual([]);
    held.clock.advance("1s");
    await held.andante.settled();
    expect(held.days).toHaveLength(1);
    const [occurrence] = await held.andante.schedules.occurrences("report:often");
    expect(occurrence).toMatchObject({ at: "2027-03-01T12:01:00.000Z", outcome: "started", late: 0 });
  });
});

test("declaring the same schedules again writes nothing", async () => {
  const store = plainStore();
  const first = andanteWith({ daily }, store);
  await first.andante.ready();
  const before = await store.schedules.read("report:daily");
  await first.andante.close({ grace: 0 });
  const second = andanteWith({ daily }, store);
  await second.andante.ready();
  expect(await store.schedules.read("report:daily")).toEqual(before);
  expect(await store.schedules.list({ kind: "schedule", limit: 10 })).toHaveLength(1);
});

test("a schedule that the code has no more is removed, and starts from then on when it comes back", async () => {
  const store = plainStore();
  const clock = new TestClock({ start, skipSleeps: false });
  const first = andanteWith({ daily }, store, clock);
  await first.andante.ready();
  await first.andante.close({ grace: 0 });
  const second = andanteWith({}, store, clock);
  await second.andante.ready();
  expect(await second.andante.schedules.get("report:daily")).toMatchObject({
    state: "removed",
    nextAt: null,
  });
  await pass(second, 3);
  await second.andante.close({ grace: 0 });
  const third = andanteWith({ daily }, store, clock);
  await third.andante.ready();
  await third.andante.settled();
  expect(third.days).toEqual([]);
  expect(await third.andante.schedules.get("report:daily")).toMatchObject({ state: "active", revision: 2 });
  await pass(third, 1);
  expect(third.days).toEqual(["2027-03-05"]);
});

test("a changed schedule has another revision and no run at once; its pause stays", async () => {
  const store = plainStore();
  const clock = new TestClock({ start, skipSleeps: false });
  const first = andanteWith({ daily }, store, clock);
  await first.andante.schedules.pause("report:daily", { reason: "holidays" });
  await first.andante.close({ grace: 0 });
  const second = andanteWith({ daily: { ...daily, cron: "0 10 * * *" } }, store, clock);
  await second.andante.ready();
  expect(await second.andante.schedules.get("report:daily")).toMatchObject({
    ...{ revision: 2, state: "paused", note: "holidays", nextAt: null },
  });
  await pass(second, 2);
  expect(second.days).toEqual([]);
});

test("what was missed is made up once, with its lateness, and the rest is one occurrence with a count", async () => {
  const store = plainStore();
  const clock = new TestClock({ start, skipSleeps: false });
  const first = andanteWith({ daily }, store, clock);
  await first.andante.ready();
  await first.andante.close({ grace: 0 });
  clock.advance("4d");
  const second = andanteWith({ daily }, store, clock);
  await second.andante.ready();
  await second.andante.settled();
  expect(second.days).toEqual(["2027-03-05"]);
  const late = 3 * 3_600_000 + 30_000;
  expect(await second.andante.schedules.occurrences("report:daily")).toMatchObject([
    { at: "2027-03-05T09:00:00.000Z", outcome: "started", late },
    { at: "2027-03-04T09:00:00.000Z", outcome: "missed", count: 3 },
  ]);
});

test.each([
  ["none", []],
  ["all", ["2027-03-02", "2027-03-03", "2027-03-04", "2027-03-05"]],
] as const)("with catchUp %s", async (catchUp, expected) => {
  const store = plainStore();
  const clock = new TestClock({ start, skipSleeps: false });
  const first = andanteWith({ daily: { ...daily, catchUp } }, store, clock);
  await first.andante.ready();
  await first.andante.close({ grace: 0 });
  clock.advance("4d");
  const second = andanteWith({ daily: { ...daily, catchUp } }, store, clock);
  await second.andante.ready();
  await second.andante.settled();
  expect(second.days).toEqual(expected);
  expect(await second.andante.schedules.get("report:daily")).toMatchObject({ missed: 4 - expected.length });
});

test("an occurrence that is older than the window is not made up", async () => {
  const store = plainStore();
  const clock = new TestClock({ start, skipSleeps: false });
  const monthly = { daily: { ...daily, cron: "0 0 2 * *" } };
  const first = andanteWith(monthly, store, clock);
  await first.andante.ready();
  await first.andante.close({ grace: 0 });
  clock.advance("10d");
  const second = andanteWith(monthly, store, clock);
  await second.andante.ready();
  await second.andante.settled();
  expect(second.days).toEqual([]);
  expect(await second.andante.schedules.occurrences("report:daily")).toMatchObject([
    { outcome: "missed", count: 1 },
  ]);
  const { times } = await second.andante.schedules.backfill("report:daily", { from: start, to: clock.now() });
  await second.andante.settled();
  expect([times, second.days]).toEqual([["2027-03-02T00:00:00.000Z"], ["2027-03-02"]]);
});

test("a pause makes nothing up; a backfill runs its times in order, once", async () => {
  const held = andanteWith({ daily });
  await held.andante.ready();
  await pass(held, 1);
  await held.andante.schedules.pause("report:daily");
  await pass(held, 7);
  await held.andante.schedules.resume("report:daily");
  await held.andante.settled();
  expect(held.days).toEqual(["2027-03-02"]);
  const week = { from: "2027-03-03T00:00:00Z", to: "2027-03-09T23:00:00Z" };
  const dry = await held.andante.schedules.backfill("report:daily", { ...week, dryRun: true });
  expect(dry.times).toHaveLength(7);
  expect(held.days).toHaveLength(1);
  await held.andante.schedules.backfill("report:daily", week);
  await held.andante.settled();
  const days = ["03", "04", "05", "06", "07", "08", "09"].map((day) => `2027-03-${day}`);
  expect(held.days.slice(1)).toEqual(days);
  expect(await held.andante.schedules.backfill("report:daily", week)).toEqual({ times: [] });
  await pass(held, 1);
  expect(held.days.at(-1)).toBe("2027-03-10");
  expect(held.days).toHaveLength(9);
});

describe("while the execution of an occurrence is suspended", () => {
  const waiting = (overlap: "skip" | "queue-one" | "queue" | "cancel" | "allow") => {
    const workflow = createWorkflow({
      id: "ask",
      input: z.object({}),
      schedules: { daily: { cron: "0 9 * * *", overlap, input: {} } },
    }).andThen({ id: "wait", execute: ({ suspend, resumeData }) => resumeData ?? suspend("Waiting") });
    const clock = new TestClock({ start, skipSleeps: false });
    const andante = createAndante({ workflows: { workflow }, store: memoryStore(), clock });
    opened.push(andante);
    const days = async (count: number) => {
      for (let index = 0; index < count; index++) {
        clock.advance("1d");
        await andante.settled();
      }
    };
    const id = (day: string) => `ask:daily@202703${day}T090000Z`;
    return { andante, clock, days, id };
  };
  const outcomes = async (andante: ReturnType<typeof waiting>["andante"]) =>
    (await andante.schedules.occurrences("ask:daily")).map(({ outcome }) => outcome).reverse();

  test("skip: the next ones are skipped, with its id", async () => {
    const { andante, days, id } = waiting("skip");
    await andante.ready();
    await days(3);
    expect(await outcomes(andante)).toEqual(["started", "skipped-overlap", "skipped-overlap"]);
    expect((await andante.schedules.occurrences("ask:daily"))[0]).toMatchObject({ executionId: id("02") });
    await andante.resume("ask", id("02"), {});
    await days(1);
    expect(await outcomes(andante)).toEqual(["started", "skipped-overlap", "skipped-overlap", "started"]);
  });

  test("queue-one: the newest waits, and starts at the end", async () => {
    const { andante, days, id } = waiting("queue-one");
    await andante.ready();
    await days(5);
    expect(await outcomes(andante)).toEqual(["started", "replaced", "replaced", "replaced"]);
    await andante.resume("ask", id("02"), {});
    await andante.settled();
    expect((await andante.find(id("06"))).status).toBe("suspended");
  });

  test("queue: all wait, and start one after the other", async () => {
    const { andante, days, id } = waiting("queue");
    await andante.ready();
    await days(3);
    expect(await andante.schedules.get("ask:daily")).toMatchObject({ waiting: 2, started: 1 });
    for (const day of ["02", "03"]) {
      await andante.resume("ask", id(day), {});
      await andante.settled();
    }
    expect((await andante.find(id("04"))).status).toBe("suspended");
    expect(await andante.schedules.get("ask:daily")).toMatchObject({ waiting: 0, started: 3 });
  });

  test("cancel: it is cancelled with the reason, and the next one starts", async () => {
    const { andante, days, id } = waiting("cancel");
    await andante.ready();
    await days(2);
    expect((await andante.find(id("02"))).status).toBe("cancelled");
    expect((await andante.find(id("03"))).status).toBe("suspended");
    const events = await andante.events("ask", id("02"));
    expect(JSON.stringify(events.at(-1))).toContain("The next occurrence of its schedule is due");
  });

  test("allow: both run", async () => {
    const { andante, days, id } = waiting("allow");
    await andante.ready();
    await days(2);
    const states = await Promise.all([andante.find(id("02")), andante.find(id("03"))]);
    expect(states.map(({ status }) => status)).toEqual(["suspended", "suspended"]);
  });
});

test("every counts from the epoch, also after restarts", async () => {
  const store = plainStore();
  const clock = new TestClock({ start, skipSleeps: false });
  const times: string[] = [];
  for (let index = 0; index < 10; index++) {
    const held = andanteWith({ often: { ...daily, cron: undefined, every: "10m" } }, store, clock);
    await held.andante.ready();
    clock.advance("10m");
    await held.andante.settled();
    times.push((await held.andante.schedules.get("report:often")).lastAt ?? "");
    await held.andante.close({ grace: 0 });
  }
  expect(times[0]).toBe("2027-03-01T12:10:00.000Z");
  expect(times[9]).toBe("2027-03-01T13:40:00.000Z");
});

test("an input that does not fit is recorded, and the tenth in a row breaks the schedule", async () => {
  const bad = { ...daily, input: () => JSON.parse('{"day":1}') };
  const held = andanteWith({ bad, daily });
  await held.andante.ready();
  await pass(held, 1);
  expect(held.days).toHaveLength(1);
  const [occurrence] = await held.andante.schedules.occurrences("report:bad");
  expect(occurrence).toMatchObject({ outcome: "invalid-input", executionId: null });
  await pass(held, 8);
  expect(await held.andante.schedules.get("report:bad")).toMatchObject({ state: "active", started: 0 });
  await pass(held, 2);
  expect(await held.andante.schedules.get("report:bad")).toMatchObject({ state: "broken", nextAt: null });
  expect(held.days).toHaveLength(11);
  await held.andante.schedules.resume("report:bad");
  expect(await held.andante.schedules.get("report:bad")).toMatchObject({ state: "active" });
});

test("failures in a row pause the schedule", async () => {
  const workflow = createWorkflow({
    id: "fail",
    input: z.object({}),
    schedules: { daily: { cron: "0 9 * * *", input: {}, pauseOnFailure: 2 } },
  }).andThen({
    id: "throw",
    execute: () => {
      throw new Error("no");
    },
  });
  const clock = new TestClock({ start });
  const andante = createAndante({ workflows: { workflow }, store: memoryStore(), clock });
  opened.push(andante);
  await andante.ready();
  await pass({ andante, clock }, 4);
  expect(await andante.schedules.get("fail:daily")).toMatchObject({
    ...{ state: "paused", started: 2, note: "2 executions in a row have failed" },
  });
});

test("jitter is the same each time, and the nominal time is without it", async () => {
  const held = andanteWith({ daily: { ...daily, jitter: "5m" } });
  await held.andante.ready();
  await pass(held, 30, "1d");
  const decided = await held.andante.schedules.occurrences("report:daily");
  expect(decided).toHaveLength(30);
  expect(decided.every(({ at }) => at.endsWith("T09:00:00.000Z"))).toBe(true);
});

describe("schedules at run time", () => {
  test("are kept, changed with another revision, paused, triggered and removed", async () => {
    const held = andanteWith({});
    const { schedules } = held.andante;
    const options = { workflowId: "report", cron: "0 9 * * *", zone: "Europe/Berlin", input: { day: "x" } };
    const made = await schedules.set("morning", { ...options, userId: "Ada" });
    expect(made).toMatchObject({ revision: 1, userId: "Ada", nextAt: "2027-03-02T08:00:00.000Z" });
    expect(await schedules.set("morning", { ...options, userId: "Ada" })).toEqual(made);
    const changed = await schedules.set("morning", {
      ...options,
      userId: "Ada",
      cron: "0 10 * * *",
      ifRevision: 1,
    });
    expect(changed).toMatchObject({ revision: 2, nextAt: "2027-03-02T09:00:00.000Z" });
    const again = schedules.set("morning", { ...options, userId: "Ada", ifRevision: 1 });
    await expect(again).rejects.toMatchObject({ status: 412 });
    await expect(schedules.set("morning", { ...options, userId: "Ben" })).rejects.toMatchObject({
      status: 409,
    });
    await pass(held, 1);
    expect(held.days).toEqual(["x"]);
    const { executionId } = await schedules.trigger("morning");
    await held.andante.settled();
    expect(await held.andante.find(executionId)).toMatchObject({
      status: "completed",
      context: { userId: "Ada" },
    });
    expect((await schedules.occurrences("morning"))[0]).toMatchObject({ outcome: "by-hand", executionId });
    expect((await schedules.list({ userId: "Ben" })).schedules).toEqual([]);
    expect((await schedules.list({ userId: "Ada" })).schedules).toHaveLength(1);
    await schedules.remove("morning");
    await expect(schedules.get("morning")).rejects.toMatchObject({ status: 404 });
    await pass(held, 2);
    expect(held.days).toHaveLength(2);
  });

  test("one that is declared in code cannot be set or removed", async () => {
    const { andante } = andanteWith({ daily });
    await andante.ready();
    await expect(andante.schedules.remove("report:daily")).rejects.toMatchObject({ status: 409 });
    const options = { workflowId: "report", cron: "0 9 * * *", input: { day: "x" } };
    await expect(andante.schedules.set("report:daily", options)).rejects.toMatchObject({ status: 400 });
  });

  test.each([
    [{ cron: "0 0 31 2 *" }, /cron.*never fires/],
    [{ cron: "61 * * * *" }, /cron.*"minute"/],
    [{ cron: "0 9 * *" }, /cron.*4 fields/],
    [{ cron: "0 9 * * *", zone: "Europe/Nowhere" }, /zone/],
    [{ every: "1d" as const, zone: "UTC" }, /zone/],
    [{ every: 10 }, /every/],
    [{}, /cron/],
    [{ cron: "0 9 * * *", input: { day: 1 } }, /Input validation failed/],
    [{ cron: "0 9 * * *", jitter: JSON.parse('"soon"') }, /jitter/],
    [{ cron: "0 9 * * *", from: "never" }, /from/],
  ])("%j is refused, and nothing is kept", async (options, message) => {
    const { andante } = andanteWith({});
    const set = andante.schedules.set("some", { workflowId: "report", input: { day: "x" }, ...options });
    await expect(set).rejects.toThrow(message);
    expect((await andante.schedules.list()).schedules).toEqual([]);
  });

  test("a preview has the next times, and those beside the changes of the zone's clocks", async () => {
    const { andante } = andanteWith({});
    const preview = andante.schedules.preview({ cron: "30 2 * * *", zone: "Europe/Berlin", count: 2 });
    expect(preview).toMatchObject({
      times: ["2027-03-02T01:30:00.000Z", "2027-03-03T01:30:00.000Z"],
      follows: "wall clock",
      changes: [
        { at: "2027-03-28T01:00:00.000Z", minutes: 60, times: ["2027-03-28T01:00:00.000Z"] },
        { at: "2027-10-31T01:00:00.000Z", minutes: -60, times: ["2027-10-31T00:30:00.000Z"] },
      ],
    });
  });
});
