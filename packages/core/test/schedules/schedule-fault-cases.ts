// Schedules on one store when something goes wrong: outages, executions that were deleted, a store without room, missing code.
import { afterEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { StoreUnavailableError } from "../../src/errors/index.ts";
import { type Andante, type AndanteOptions, createAndante, createWorkflow } from "../../src/index.ts";
import type { Store } from "../../src/store/store.ts";
import { TestClock } from "../../src/test-kit/test-clock.ts";
import type { WorkflowOptions } from "../../src/workflow/create-workflow.ts";
import { wrapStore } from "../support/wrapped-store.ts";

/** `makePlace`: a new database, and the stores that processes open on it one after the other. */
export function scheduleFaultCases(name: string, makePlace: () => () => Store): void {
  describe(`faults of schedules on ${name}`, () => casesOn(makePlace));
}

const start = Date.parse("2027-03-01T12:00:30Z");
const input = z.object({ at: z.string() });
type Schedules = NonNullable<WorkflowOptions<typeof input>["schedules"]>;
type Endpoints = NonNullable<AndanteOptions["endpoints"]>;

const inputOf = ({ at }: { at: Date }) => ({ at: at.toISOString() });
const daily = { daily: { cron: "0 9 * * *", input: inputOf } };

const opened: Pick<Andante, "close">[] = [];

/** A process that records the times of its occurrences. */
function processOn(
  store: Store,
  {
    clock,
    schedules = {},
    ...options
  }: { clock: TestClock; schedules?: Schedules; retention?: { maxAge?: "1h" }; endpoints?: Endpoints },
) {
  const times: string[] = [];
  const report = createWorkflow({ id: "report", input, schedules }).andThen({
    id: "write",
    execute: ({ data }) => times.push(data.at),
  });
  const andante = createAndante({ workflows: { report }, store, clock, ...options });
  opened.push(andante);
  return { andante, times };
}

const clockAt = () => new TestClock({ start, skipSleeps: false });
const within = { timeout: 60_000 };

function casesOn(makePlace: () => () => Store): void {
  afterEach(async () => {
    for (const each of opened.splice(0)) await each.close({ grace: 0 });
  });

  test.each([
    ["latest", 1],
    ["all", 100],
  ] as const)(
    "of 1000 occurrences that were missed, catchUp %s starts the newest %i in order",
    {
      timeout: 120_000,
    },
    async (catchUp, count) => {
      const [place, clock] = [makePlace(), clockAt()];
      const schedules = { often: { cron: "* * * * *", catchUp, input: inputOf } };
      const first = processOn(place(), { clock, schedules });
      await first.andante.ready();
      await first.andante.close({ grace: 0 });
      clock.advance("1000m");
      const { andante, times } = processOn(place(), { clock, schedules });
      await andante.ready();
      await expect.poll(() => times.length, within).toBe(count);
      await andante.settled();
      const last = Date.parse("2027-03-02T04:40:00Z");
      const newest = Array.from({ length: count }, (_, index) => last - (count - 1 - index) * 60_000);
      expect(times).toEqual(newest.map((at) => new Date(at).toISOString()));
      expect(await andante.schedules.get("report:often")).toMatchObject({
        ...{ started: count, missed: 1000 - count, waiting: 0, nextAt: "2027-03-02T04:41:00.000Z" },
      });
      const [oldest] = (await andante.schedules.occurrences("report:often")).slice(-1);
      // The list has the last 100 outcomes: those of the executions come after the one for all that were missed.
      if (catchUp === "latest") expect(oldest).toMatchObject({ outcome: "missed", count: 999 });
      const warnings = await andante.logs.list({ level: "warn" });
      expect(warnings).toContainEqual(
        expect.objectContaining({ msg: "occurrences of a schedule were missed", missed: 1000 - count }),
      );
    },
  );

  test("a backfill does not repeat an occurrence whose execution was deleted, while the schedule has its outcome", {
    timeout: 120_000,
  }, async () => {
    const [place, clock] = [makePlace(), clockAt()];
    const first = processOn(place(), { clock, schedules: daily });
    await first.andante.ready();
    clock.advance("1d");
    await first.andante.settled();
    expect(first.times).toEqual(["2027-03-02T09:00:00.000Z"]);
    await first.andante.close({ grace: 0 });
    clock.advance("2h");
    const { andante, times } = processOn(place(), { clock, schedules: daily, retention: { maxAge: "1h" } });
    await andante.ready();
    const executions = async () => (await andante.list({ workflowId: "report" })).executions;
    await expect.poll(executions, within).toEqual([]);
    const days = { from: "2027-03-02T00:00:00Z", to: "2027-03-02T23:00:00Z" };
    expect(await andante.schedules.backfill("report:daily", days)).toEqual({ times: [] });
    expect(await andante.schedules.get("report:daily")).toMatchObject({ started: 1, waiting: 0 });
    for (let day = 0; day < 100; day++) {
      clock.advance("1d");
      await expect.poll(() => times.length, within).toBe(day + 1);
      await andante.settled();
    }
    expect(await andante.schedules.backfill("report:daily", days)).toEqual({
      times: ["2027-03-02T09:00:00.000Z"],
    });
    await expect.poll(() => times.at(-1), within).toBe("2027-03-02T09:00:00.000Z");
    await andante.settled();
    expect(await andante.schedules.get("report:daily")).toMatchObject({ started: 102, waiting: 0 });
  });

  test("a schedule and an endpoint are removed when the result of the first try was lost", async () => {
    const [store, clock] = [makePlace()(), clockAt()];
    const repeating = wrapStore(store, {
      ...{ open: () => store.open(), close: () => store.close() },
      schedules: {
        ...store.schedules,
        change: async (change) => {
          if (change.row === null) await store.schedules.change(change);
          return store.schedules.change(change);
        },
      },
    });
    const { andante } = processOn(repeating, { clock, endpoints: {} });
    await andante.schedules.set("mine", { workflowId: "report", cron: "0 9 * * *", input: { at: "x" } });
    await andante.schedules.remove("mine");
    await expect(andante.schedules.get("mine")).rejects.toMatchObject({ code: "schedule-not-found" });
    await andante.endpoints.set("crm", { url: "https://example.com/hook" });
    await andante.endpoints.remove("crm");
    await expect(andante.endpoints.get("crm")).rejects.toMatchObject({ code: "endpoint-not-found" });
  });

  test("an occurrence that is due while the store takes no writes starts once, when it does again", async () => {
    const [store, clock] = [makePlace()(), clockAt()];
    let refused = 0;
    let isFull = false;
    const filling = wrapStore(store, {
      ...{ open: () => store.open(), close: () => store.close() },
      schedules: {
        ...store.schedules,
        change: async (change) => {
          if (!isFull) return store.schedules.change(change);
          refused++;
          throw new StoreUnavailableError({ cause: new Error("no room") });
        },
      },
    });
    const { andante, times } = processOn(filling, { clock, schedules: daily });
    await andante.ready();
    isFull = true;
    clock.advance("1d");
    await expect.poll(() => refused, within).toBeGreaterThan(0);
    const before = refused;
    clock.advance("1m");
    await expect.poll(() => refused, within).toBeGreaterThan(before);
    expect(times).toEqual([]);
    isFull = false;
    clock.advance("1m");
    await expect.poll(() => times, within).toEqual(["2027-03-02T09:00:00.000Z"]);
    await andante.settled();
    const [occurrence, ...others] = await andante.schedules.occurrences("report:daily");
    expect([occurrence?.outcome, others]).toEqual(["started", []]);
    expect(occurrence?.late).toBeGreaterThan(60_000);
    clock.advance("1d");
    await expect.poll(() => times.length, within).toBe(2);
  });

  test("a schedule whose workflow no process registers waits, and makes up its latest occurrence", async () => {
    const [place, clock] = [makePlace(), clockAt()];
    const first = processOn(place(), { clock });
    const options = { workflowId: "report", cron: "0 9 * * *", input: { at: "of a user" } };
    await first.andante.schedules.set("mine", options);
    await first.andante.close({ grace: 0 });
    const other = createWorkflow({ id: "other", input: z.object({}) });
    const without = createAndante({ workflows: { other }, store: place(), clock });
    opened.push(without);
    await without.ready();
    for (let day = 0; day < 3; day++) {
      clock.advance("1d");
      await without.settled();
    }
    const waiting = { state: "active", started: 0, missed: 0, nextAt: "2027-03-02T09:00:00.000Z" };
    expect(await without.schedules.get("mine")).toMatchObject(waiting);
    await expect(without.schedules.trigger("mine")).rejects.toMatchObject({ status: 404 });
    expect(await without.schedules.get("mine")).toMatchObject(waiting);
    await without.close({ grace: 0 });
    const { andante, times } = processOn(place(), { clock });
    await andante.ready();
    await expect.poll(() => times, within).toEqual(["of a user"]);
    await andante.settled();
    expect(await andante.schedules.get("mine")).toMatchObject({ started: 1, missed: 2 });
    expect((await andante.schedules.get("mine")).lastAt).toBe("2027-03-04T09:00:00.000Z");
  });
}
