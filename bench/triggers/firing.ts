// Schedules that are all due at once, beside a few that fire every second; and the lateness on an idle server.
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as wait } from "node:timers/promises";
import { type Andante, createAndante, createLogger, type Store } from "@andante/core";
import { percentile, throughput } from "../measure.ts";
import type { Budget } from "../results.ts";
import { atLeast, atMost } from "../slowness.ts";
import { tick } from "./workflows.ts";

export interface Firing {
  readonly name: string;
  /** How many are due at once. */
  readonly count: number;
  /** The least that may start in a second. */
  readonly perSecond: number;
}

function open(store: Store, everySecond: number): Andante {
  const names = Array.from({ length: everySecond }, (_, index): [string, { every: "1s" }] => [
    `s${index}`,
    { every: "1s" },
  ]);
  return createAndante({
    ...{ workflows: { tick: tick(Object.fromEntries(names)) }, store },
    logger: createLogger({ level: "silent" }),
  });
}

/** The schedules of `due` are due when this begins; `empty` has none. */
export async function firing(
  { due, empty }: { readonly due: Store; readonly empty: Store },
  { name, count, perSecond }: Firing,
): Promise<Budget[]> {
  const starts = await throughputOf(empty);
  const andante = open(due, 10);
  const loop = monitorEventLoopDelay({ resolution: 1 });
  await andante.ready();
  const begun = performance.now();
  const processor = process.cpuUsage();
  loop.enable();
  let fired = 0;
  while (fired < count) {
    await wait(20);
    fired = firedOf(await andante.metrics.text());
  }
  const seconds = (performance.now() - begun) / 1000;
  loop.disable();
  const { user, system } = process.cpuUsage(processor);
  const punctual = Array.from({ length: 10 }, (_, index) => `tick:s${index}`);
  const late = await latenessOf(andante, punctual);
  await andante.settled();
  await andante.close();
  const rate = count / seconds;
  return [
    {
      name: `schedules that are due at once and start in a second, on ${name}`,
      value: rate.toFixed(0),
      ...atLeast(rate, perSecond),
      note: `${count} in ${seconds.toFixed(1)} s, ${((user + system) / count).toFixed(0)} µs of the processor each; plain starts of the same workflow, 50 at once: ${starts.toFixed(0)} in a second`,
    },
    {
      name: `delay of the event loop meanwhile on ${name}, p99`,
      value: `${(loop.percentile(99) / 1e6).toFixed(0)} ms`,
      ...atMost(loop.percentile(99) / 1e6, 20, "ms"),
    },
    {
      name: `punctual schedules beside them on ${name}, late by (p99)`,
      value: `${percentile(late, 0.99).toFixed(0)} ms`,
      ...atMost(percentile(late, 0.99), 250, "ms"),
      note: `${late.length} occurrences`,
    },
  ];
}

/** Plain starts of the same workflow: the floor of this machine. */
async function throughputOf(store: Store): Promise<number> {
  const quiet = open(store, 0);
  await quiet.ready();
  const rate = await throughput(2000, 50, () => quiet.execute("tick", {}));
  await quiet.close();
  return rate;
}

function firedOf(metrics: string): number {
  const [, fired = "0"] = /schedule_occurrences_total\{outcome="started"\} (\d+)/.exec(metrics) ?? [];
  return Number(fired);
}

/** Milliseconds from the nominal times of schedules to the starts of their executions; of a missed one, to its record. */
async function latenessOf(andante: Andante, scheduleIds: readonly string[]): Promise<number[]> {
  const late: number[] = [];
  for (const scheduleId of scheduleIds)
    for (const { at, executionId, decidedAt } of await andante.schedules.occurrences(scheduleId)) {
      const startAt = executionId === null ? decidedAt : (await andante.find(executionId)).startAt;
      late.push(Date.parse(startAt) - Date.parse(at));
    }
  return late;
}

/** A schedule that a node has set which is gone since; the other one hears of nothing and polls. */
export async function latenessOfPoll(makeStore: () => Store, rounds: number): Promise<Budget> {
  const store = makeStore();
  const quiet = { lease: 2000, clockOffset: 0, listen: () => () => undefined, askToStop: () => undefined };
  const other = open(
    { ...store, open: () => store.open(), close: () => store.close(), clusterChannel: quiet },
    0,
  );
  await other.ready();
  const late: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const setter = open(makeStore(), 0);
    const at = new Date(Date.now() + 1000);
    const scheduleId = `once-${round}`;
    await setter.schedules.set(scheduleId, { workflowId: "tick", every: "1h", from: at, input: {} });
    await setter.close();
    for (;;) {
      const [occurrence] = await other.schedules.occurrences(scheduleId);
      if (occurrence?.executionId != null) {
        const { startAt } = await other.find(occurrence.executionId);
        late.push(Date.parse(startAt) - at.getTime());
        break;
      }
      await wait(20);
    }
  }
  await other.close();
  const most = Math.max(...late);
  return {
    name: "a schedule that another node has set, without hints, late by (at most)",
    value: `${most} ms`,
    budget: "at most 2100 ms",
    held: most <= 2100,
    note: `${rounds} schedules`,
  };
}

/** Nothing else runs. One schedule is due every fifty milliseconds. */
export async function idleLateness(store: Store, name: string, seconds: number): Promise<Budget> {
  const andante = open(store, 0);
  await andante.ready();
  const scheduleIds = Array.from({ length: seconds * 20 }, (_, index) => `once-${index}`);
  const first = Date.now() + 10_000;
  for (const [index, scheduleId] of scheduleIds.entries()) {
    const from = new Date(first + index * 50);
    await andante.schedules.set(scheduleId, { workflowId: "tick", every: "1d", from, input: {} });
  }
  await wait(first - Date.now() + seconds * 1000);
  const late = await latenessOf(andante, scheduleIds);
  await andante.close();
  return {
    name: `a schedule on an idle server on ${name}, late by (p99)`,
    value: `${percentile(late, 0.99)} ms`,
    ...atMost(percentile(late, 0.99), 20, "ms"),
    note: `p50 ${percentile(late, 0.5)} ms, ${late.length} occurrences`,
  };
}
