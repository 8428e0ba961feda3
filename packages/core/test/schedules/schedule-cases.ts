// Schedules of workflows on one store: occurrences start executions once, with overlap, catch-up, pauses and changes of the code.
import { afterEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { createAndante, createWorkflow } from "../../src/index.ts";
import type { Store } from "../../src/store/store.ts";
import { textLength } from "../../src/store/text-length.ts";
import { RecordingLogger } from "../../src/test-kit/recording-logger.ts";
import { TestClock } from "../../src/test-kit/test-clock.ts";
import type { WorkflowOptions } from "../../src/workflow/create-workflow.ts";
import { wrapStore } from "../support/wrapped-store.ts";

/** `makePlace`: a new database, and the stores that processes open on it one after the other. */
export function scheduleCases(name: string, makePlace: () => () => Store): void {
  describe(`schedules on ${name}`, () => casesOn(makePlace));
}

const start = Date.parse("2027-03-01T12:00:30Z");
const input = z.object({ day: z.string() });
type Schedules = NonNullable<WorkflowOptions<typeof input>["schedules"]>;

const opened: { close(options: { grace: number }): Promise<void> }[] = [];

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

function andanteOn(store: Store, schedules: Schedules, clock = new TestClock({ start, skipSleeps: false })) {
  const days: string[] = [];
  const andante = createAndante({ workflows: { report: report(schedules, days) }, store, clock });
  opened.push(andante);
  return { andante, clock, days };
}

/** The store of a process, and the schedules that it writes. */
function withWrites(inner: Store) {
  const written: string[] = [];
  const { change } = inner.schedules;
  const schedules: Store["schedules"] = {
    ...inner.schedules,
    change: (argument) => {
      if (argument.row?.kind !== "set") written.push(argument.scheduleId);
      return change(argument);
    },
  };
  const own = { open: () => inner.open(), close: () => inner.close() };
  return { store: wrapStore(inner, { ...own, schedules }), written };
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

function casesOn(makePlace: () => () => Store): void {
  afterEach(async () => {
    for (const each of opened.splice(0)) await each.close({ grace: 0 });
  });

  describe("schedules in code", () => {
    test("a year of a daily schedule runs once for each day, with the nominal time in id, cause and input", async () => {
      const held = andanteOn(makePlace()(), { daily });
      await held.andante.ready();
      await held.clock.run("365d", held.andante);
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
      const held = andanteOn(makePlace()(), { often: { ...daily, cron: "* * * * *" } });
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
    const place = makePlace();
    const first = andanteOn(place(), { daily });
    await first.andante.ready();
    const before = await first.andante.schedules.get("report:daily");
    await first.andante.close({ grace: 0 });
    const { store, written } = withWrites(place());
    const second = andanteOn(store, { daily });
    await second.andante.ready();
    expect(written).toEqual([]);
    expect(await second.andante.schedules.get("report:daily")).toEqual(before);
    expect((await second.andante.schedules.list()).schedules).toHaveLength(1);
  });

  test("a schedule that the code has no more is removed, and starts from then on when it comes back", async () => {
    const place = makePlace();
    const clock = new TestClock({ start, skipSleeps: false });
    const first = andanteOn(place(), { daily }, clock);
    await first.andante.ready();
    await first.andante.close({ grace: 0 });
    // Of two sets of the same moment neither is the later one.
    clock.advance("1s");
    const second = andanteOn(place(), {}, clock);
    await second.andante.ready();
    expect(await second.andante.schedules.get("report:daily")).toMatchObject({
      state: "removed",
      nextAt: null,
    });
    await pass(second, 3);
    await second.andante.close({ grace: 0 });
    const third = andanteOn(place(), { daily }, clock);
    await third.andante.ready();
    await third.andante.settled();
    expect(third.days).toEqual([]);
    // Where processes share the store, the code of the last one counts until its lease is over.
    const state = async () => (await third.andante.schedules.get("report:daily")).state;
    await expect.poll(state, { timeout: 30_000 }).toBe("active");
    expect(await third.andante.schedules.get("report:daily")).toMatchObject({ revision: 2 });
    await pass(third, 1);
    expect(third.days).toEqual(["2027-03-05"]);
  });

  test("a schedule that was removed from the code leaves the lists after 30 days", async () => {
    const place = makePlace();
    const clock = new TestClock({ start, skipSleeps: false });
    const first = andanteOn(place(), { daily }, clock);
    await first.andante.ready();
    await first.andante.close({ grace: 0 });
    clock.advance("1s");
    const second = andanteOn(place(), {}, clock);
    await second.andante.ready();
    const listed = async () => (await second.andante.schedules.list()).schedules.map(({ state }) => state);
    clock.advance("29d");
    await second.andante.settled();
    expect(await listed()).toEqual(["removed"]);
    clock.advance("1d");
    await second.andante.settled();
    expect(await listed()).toEqual([]);
    expect(second.days).toEqual([]);
  });

  test("after a clock was ahead by days and set back, a schedule goes on, and no occurrence runs twice", async () => {
    const place = makePlace();
    const first = andanteOn(place(), { daily });
    const mine = { workflowId: "report", cron: "0 10 * * *", input: { day: "mine" } };
    await first.andante.schedules.set("mine", mine);
    await pass(first, 2);
    expect(first.days.toSorted()).toEqual(["2027-03-02", "2027-03-03", "mine", "mine"]);
    await first.andante.close({ grace: 0 });
    const second = andanteOn(place(), { daily });
    await second.andante.ready();
    for (const [id, hour] of [
      ["report:daily", "09"],
      ["mine", "10"],
    ] as const)
      expect((await second.andante.schedules.get(id)).nextAt).toBe(`2027-03-02T${hour}:00:00.000Z`);
    const warnings = await second.andante.logs.list({ level: "warn" });
    expect(warnings.map(({ msg }) => msg)).toContain("the clock was set back: schedules go on from now");
    await pass(second, 3);
    expect(second.days.toSorted()).toEqual(["2027-03-04", "mine"]);
    for (const id of ["report:daily", "mine"]) {
      const outcomes = (await second.andante.schedules.occurrences(id)).map(({ outcome }) => outcome);
      expect(outcomes).toEqual(["started", "already-started", "already-started", "started", "started"]);
    }
  });

  test("a changed schedule has another revision and no run at once; its pause stays", async () => {
    const place = makePlace();
    const clock = new TestClock({ start, skipSleeps: false });
    const first = andanteOn(place(), { daily }, clock);
    await first.andante.schedules.pause("report:daily", { reason: "holidays" });
    await first.andante.close({ grace: 0 });
    const second = andanteOn(place(), { daily: { ...daily, cron: "0 10 * * *" } }, clock);
    await second.andante.ready();
    expect(await second.andante.schedules.get("report:daily")).toMatchObject({
      ...{ revision: 2, state: "paused", note: "holidays", nextAt: null },
    });
    await pass(second, 2);
    expect(second.days).toEqual([]);
  });

  test("what was missed is made up once, with its lateness, and the rest is one occurrence with a count", async () => {
    const place = makePlace();
    const clock = new TestClock({ start, skipSleeps: false });
    const first = andanteOn(place(), { daily }, clock);
    await first.andante.ready();
    await first.andante.close({ grace: 0 });
    clock.advance("4d");
    const second = andanteOn(place(), { daily }, clock);
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
    const place = makePlace();
    const clock = new TestClock({ start, skipSleeps: false });
    const first = andanteOn(place(), { daily: { ...daily, catchUp } }, clock);
    await first.andante.ready();
    await first.andante.close({ grace: 0 });
    clock.advance("4d");
    const second = andanteOn(place(), { daily: { ...daily, catchUp } }, clock);
    await second.andante.ready();
    await second.andante.settled();
    expect(second.days).toEqual(expected);
    expect(await second.andante.schedules.get("report:daily")).toMatchObject({ missed: 4 - expected.length });
  });

  test("an occurrence that is older than the window is not made up", async () => {
    const place = makePlace();
    const clock = new TestClock({ start, skipSleeps: false });
    const monthly = { daily: { ...daily, cron: "0 0 2 * *" } };
    const first = andanteOn(place(), monthly, clock);
    await first.andante.ready();
    await first.andante.close({ grace: 0 });
    clock.advance("10d");
    const second = andanteOn(place(), monthly, clock);
    await second.andante.ready();
    await second.andante.settled();
    expect(second.days).toEqual([]);
    expect(await second.andante.schedules.occurrences("report:daily")).toMatchObject([
      { outcome: "missed", count: 1 },
    ]);
    const { times } = await second.andante.schedules.backfill("report:daily", {
      from: start,
      to: clock.now(),
    });
    await second.andante.settled();
    expect([times, second.days]).toEqual([["2027-03-02T00:00:00.000Z"], ["2027-03-02"]]);
  });

  test("a pause makes nothing up; a backfill runs its times in order, once", async () => {
    const held = andanteOn(makePlace()(), { daily });
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
      const andante = createAndante({ workflows: { workflow }, store: makePlace()(), clock });
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
    const place = makePlace();
    const clock = new TestClock({ start, skipSleeps: false });
    const times: string[] = [];
    for (let index = 0; index < 10; index++) {
      const held = andanteOn(place(), { often: { ...daily, cron: undefined, every: "10m" } }, clock);
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
    const held = andanteOn(makePlace()(), { bad, daily });
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

  test("an input that a changed schema refuses breaks its schedule, with a warning, and others fire on time", async () => {
    const place = makePlace();
    const clock = new TestClock({ start, skipSleeps: false });
    const before = andanteOn(place(), { daily }, clock);
    const kept = { workflowId: "report", cron: "0 9 * * *", input: { day: "Monday" } };
    await before.andante.schedules.set("kept", kept);
    await before.andante.close({ grace: 0 });
    const days: number[] = [];
    const changed = createWorkflow({
      id: "report",
      input: z.object({ day: z.number() }),
      schedules: { daily: { cron: "0 9 * * *", input: ({ at }) => ({ day: at.getTime() }) } },
    }).andThen({ id: "write", execute: ({ data }) => days.push(data.day) });
    const logger = new RecordingLogger();
    const andante = createAndante({ workflows: { report: changed }, store: place(), clock, logger });
    opened.push(andante);
    await andante.ready();
    await pass({ andante, clock }, 9);
    const stateOf = async () => (await andante.schedules.get("kept")).state;
    const warned = () =>
      logger
        .of("warn")
        .filter(({ msg }) => msg.includes("broken"))
        .map(({ scheduleId }) => scheduleId);
    expect([await stateOf(), warned()]).toEqual(["active", []]);
    await pass({ andante, clock }, 2);
    expect([await stateOf(), warned()]).toEqual(["broken", ["kept"]]);
    const outcomes = (await andante.schedules.occurrences("kept")).map(({ outcome }) => outcome);
    expect(outcomes).toEqual(Array(10).fill("invalid-input"));
    expect(days).toHaveLength(11);
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
    const andante = createAndante({ workflows: { workflow }, store: makePlace()(), clock });
    opened.push(andante);
    await andante.ready();
    await pass({ andante, clock }, 4);
    expect(await andante.schedules.get("fail:daily")).toMatchObject({
      ...{ state: "paused", started: 2, note: "2 executions in a row have failed" },
    });
  });

  test("jitter is the same each time, never early, and the nominal time is without it", async () => {
    const held = andanteOn(makePlace()(), { daily: { ...daily, jitter: "5m" } });
    await held.andante.ready();
    await held.clock.run("30d", held.andante);
    const decided = await held.andante.schedules.occurrences("report:daily");
    expect(decided).toHaveLength(30);
    expect(decided.every(({ at, late }) => at.endsWith("T09:00:00.000Z") && late === 0)).toBe(true);
    const offsets = new Set(decided.map(({ at, decidedAt }) => Date.parse(decidedAt) - Date.parse(at)));
    expect(offsets.size).toBe(1);
    const [offset = -1] = offsets;
    expect(offset).toBeGreaterThan(0);
    expect(offset).toBeLessThan(300_000);
    const state = await held.andante.find("report:daily@20270302T090000Z");
    expect(state.cause).toMatchObject({ at: "2027-03-02T09:00:00.000Z" });
  });

  test("a daily schedule runs late after 30 hours, and its warning and its metric count a month that was missed", async () => {
    const place = makePlace();
    const clock = new TestClock({ start, skipSleeps: false });
    const both = { daily, monthly: { ...daily, cron: "0 0 2 * *" } };
    const first = andanteOn(place(), both, clock);
    await first.andante.ready();
    await first.andante.close({ grace: 0 });
    clock.advance("30h");
    const second = andanteOn(place(), both, clock);
    await second.andante.ready();
    await second.andante.settled();
    const [occurrence] = await second.andante.schedules.occurrences("report:daily");
    expect(occurrence).toMatchObject({ at: "2027-03-02T09:00:00.000Z", outcome: "started" });
    expect(occurrence?.late).toBe(9 * 3_600_000 + 30_000);
    await second.andante.close({ grace: 0 });
    clock.advance("41d");
    const third = andanteOn(place(), both, clock);
    await third.andante.ready();
    await third.andante.settled();
    expect(await third.andante.schedules.get("report:monthly")).toMatchObject({
      ...{ started: 1, missed: 1, last: { outcome: "missed" } },
    });
    const warnings = await third.andante.logs.list({ level: "warn" });
    expect(warnings.map(({ msg }) => msg)).toContain("occurrences of a schedule were missed");
    expect(await third.andante.metrics.text()).toMatch(/schedule_occurrences_total\{outcome="missed"\} \d/);
  });

  test("of ten processes that start one after the other, the first alone writes the schedule", async () => {
    const place = makePlace();
    for (let index = 0; index < 10; index++) {
      const { store, written } = withWrites(place());
      const held = andanteOn(store, { daily });
      await held.andante.ready();
      expect(await held.andante.schedules.get("report:daily")).toMatchObject({ revision: 1 });
      expect((await held.andante.schedules.list()).schedules).toHaveLength(1);
      expect(written).toEqual(index === 0 ? ["report:daily"] : []);
      await held.andante.close({ grace: 0 });
    }
  });

  test("an execution goes on when its schedule is removed from the code", async () => {
    const place = makePlace();
    const clock = new TestClock({ start, skipSleeps: false });
    const asks = (schedules: Schedules) =>
      createWorkflow({ id: "report", input, schedules }).andThen({
        id: "wait",
        execute: ({ suspend, resumeData }) => resumeData ?? suspend("Waiting"),
      });
    const open = (schedules: Schedules) => {
      const andante = createAndante({ workflows: { report: asks(schedules) }, store: place(), clock });
      opened.push(andante);
      return andante;
    };
    const first = open({ daily });
    await first.ready();
    clock.advance("1d");
    await first.settled();
    await first.close({ grace: 0 });
    const second = open({});
    await second.ready();
    expect(await second.schedules.get("report:daily")).toMatchObject({ state: "removed" });
    const id = "report:daily@20270302T090000Z";
    expect(await second.resume("report", id, { day: "done" })).toMatchObject({ status: "completed" });
    expect((await second.schedules.get("report:daily")).started).toBe(1);
    await expect(second.schedules.trigger("report:daily")).rejects.toMatchObject({ status: 400 });
    await second.schedules.remove("report:daily");
    await expect(second.schedules.get("report:daily")).rejects.toMatchObject({ status: 404 });
  });

  test("a schedule may go to another workflow, and a pause names who has paused it", async () => {
    const days: string[] = [];
    const other = createWorkflow({ id: "other", input }).andThen({
      id: "run",
      execute: () => days.push("other"),
    });
    const clock = new TestClock({ start, skipSleeps: false });
    const workflows = { report: report({}, days), other };
    const andante = createAndante({ workflows, store: makePlace()(), clock });
    opened.push(andante);
    const options = { cron: "0 9 * * *", input: { day: "x" } };
    await andante.schedules.set("mine", { ...options, workflowId: "report" });
    expect(await andante.schedules.set("mine", { ...options, workflowId: "other" })).toMatchObject({
      ...{ workflowId: "other", revision: 2 },
    });
    await clock.run("1d", andante);
    expect(days).toEqual(["other"]);
    const paused = await andante.schedules.pause("mine", { reason: "later", by: "ada" });
    expect(paused).toMatchObject({ note: "later", pausedBy: "ada" });
    expect(await andante.schedules.resume("mine")).toMatchObject({ note: null, pausedBy: null });
  });

  describe("schedules at run time", () => {
    test("are kept, changed with another revision, paused, triggered and removed", async () => {
      const held = andanteOn(makePlace()(), {});
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

    test("a user has as many as the limit, also when callers set them at the same time", async () => {
      const andante = createAndante({
        ...{ workflows: { report: report() }, store: makePlace()(), limits: { schedulesPerUser: 2 } },
        clock: new TestClock({ start, skipSleeps: false }),
      });
      opened.push(andante);
      const set = (id: string, userId?: string) =>
        andante.schedules.set(id, { workflowId: "report", every: "1h", input: { day: "x" }, userId });
      const listed = async () => (await andante.schedules.list({ userId: "Ada" })).schedules.length;
      await Promise.allSettled(["a", "b", "c", "d", "e"].map((id) => set(id, "Ada")));
      expect(await listed()).toBeLessThanOrEqual(2);
      for (const id of ["f", "g"]) await set(id, "Ada").catch(() => undefined);
      expect(await listed()).toBe(2);
      await expect(set("h", "Ada")).rejects.toMatchObject({ status: 409, code: "schedule-limit" });
      expect(await listed()).toBe(2);
      const [kept] = (await andante.schedules.list({ userId: "Ada" })).schedules;
      expect(await set(kept?.scheduleId ?? "", "Ada")).toMatchObject({ revision: 1 });
      await set("of-ben", "Ben");
      for (const id of ["x", "y", "z"]) await set(id);
    });

    test("large inputs of schedules are neither read to count them nor listed in one piece", async () => {
      const store = makePlace()();
      let read = 0;
      const counting: Store = wrapStore(store, {
        ...{ open: () => store.open(), close: () => store.close() },
        schedules: {
          ...store.schedules,
          list: async (query) => {
            const rows = await store.schedules.list(query);
            read = Math.max(read, textLength(rows));
            return rows;
          },
        },
      });
      const { andante } = andanteOn(counting, {});
      const day = "x".repeat(1_500_000);
      for (const id of ["a", "b", "c", "d"])
        await andante.schedules.set(id, {
          ...{ workflowId: "report", cron: "0 9 * * *", input: { day }, userId: "Ada" },
        });
      expect(read).toBeLessThan(10_000);
      const first = await andante.schedules.list({ userId: "Ada" });
      expect(first.schedules.map(({ scheduleId }) => scheduleId)).toEqual(["a", "b", "c"]);
      const { schedules, nextCursor } = await andante.schedules.list({ cursor: first.nextCursor ?? "" });
      expect([schedules.map(({ scheduleId }) => scheduleId), nextCursor]).toEqual([["d"], null]);
    });

    test.each([
      [{}, 0],
      [{ overlap: "allow" }, 0],
      [{ overlap: "queue" }, 1],
      [{ overlap: "queue-one" }, 1],
      [{ pauseOnFailure: 3 }, 1],
    ] as const)("with %j the ends of its executions are due %d times", async (options, count) => {
      const store = makePlace()();
      let handled = 0;
      const counting = wrapStore(store, {
        ...{ open: () => store.open(), close: () => store.close() },
        endHandled: (argument) => {
          handled += 1;
          return store.endHandled(argument);
        },
      });
      const held = andanteOn(counting, { daily: { ...daily, ...options } });
      await held.andante.ready();
      await pass(held, 1);
      expect(held.days).toEqual(["2027-03-02"]);
      await expect.poll(() => handled).toBe(count);
    });

    test("an execution that a caller has given the id of an occurrence keeps it from nothing", async () => {
      const held = andanteOn(makePlace()(), { daily });
      const executionId = "report:daily@20270302T090000Z";
      await held.andante.execute("report", { day: "of a caller" }, { executionId });
      await pass(held, 2);
      expect(held.days).toEqual(["of a caller", "2027-03-02", "2027-03-03"]);
      const occurrences = await held.andante.schedules.occurrences("report:daily");
      expect(occurrences.map(({ outcome }) => outcome)).toEqual(["started", "started"]);
      const started = occurrences[1]?.executionId ?? "";
      expect(started).toMatch(/^report:daily@20270302T090000Z-.{8}$/);
      expect(await held.andante.find(started)).toMatchObject({
        status: "completed",
        cause: { scheduleId: "report:daily", at: "2027-03-02T09:00:00.000Z" },
      });
    });

    test("one that is declared in code cannot be set or removed", async () => {
      const { andante } = andanteOn(makePlace()(), { daily });
      await andante.ready();
      const options = { workflowId: "report", cron: "0 9 * * *", input: { day: "x" } };
      const message =
        'Schedule report:daily is declared in the code of workflow "report", schedule "daily": change it there, or pause it';
      const refused = { status: 409, code: "schedule-conflict", message };
      await expect(andante.schedules.remove("report:daily")).rejects.toMatchObject(refused);
      await expect(andante.schedules.set("report:daily", options)).rejects.toMatchObject(refused);
      for (const id of ["report:other", "report!"])
        await expect(andante.schedules.set(id, options)).rejects.toMatchObject({ status: 400 });
    });

    test.each([
      [{ cron: "0 0 31 2 *" }, /cron.*never fires/],
      [{ cron: "61 * * * *" }, /cron.*"minute"/],
      [{ cron: "0 9 * *" }, /cron.*4 fields/],
      [{ cron: "constructor" }, /cron.*1 fields/],
      [{ cron: "__proto__" }, /cron.*1 fields/],
      [{ cron: "0 9 * * *", zone: "Europe/Nowhere" }, /zone/],
      [{ every: "1d" as const, zone: "UTC" }, /zone/],
      [{ every: 10 }, /every/],
      [{}, /cron/],
      [{ cron: "0 9 * * *", input: { day: 1 } }, /Input validation failed/],
      [{ cron: "0 9 * * *", jitter: JSON.parse('"soon"') }, /jitter/],
      [{ cron: "0 9 * * *", from: "never" }, /from/],
    ])("%j is refused, and nothing is kept", async (options, message) => {
      const { andante } = andanteOn(makePlace()(), {});
      const set = andante.schedules.set("some", { workflowId: "report", input: { day: "x" }, ...options });
      await expect(set).rejects.toThrow(message);
      expect((await andante.schedules.list()).schedules).toEqual([]);
    });

    test("a preview looks no further than 50 years behind its first time", async () => {
      const { andante } = andanteOn(makePlace()(), {});
      const rare = { cron: "0 0 29 2 *", zone: "Europe/Berlin", from: "2400-01-01", count: 100 };
      const { times } = andante.schedules.preview(rare);
      expect([times.length, times[0], times.at(-1)]).toEqual([
        ...[13, "2400-02-28T23:00:00.000Z", "2448-02-28T23:00:00.000Z"],
      ]);
    });

    test("a preview has the next times, and those beside the changes of the zone's clocks", async () => {
      const { andante } = andanteOn(makePlace()(), {});
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
}
