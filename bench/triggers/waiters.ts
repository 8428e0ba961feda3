// A million executions that wait, each for the event of its key: the one that an event finds, and events that find none.
import { spawnSync } from "node:child_process";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { type Andante, createAndante, createLogger, type Store } from "@andante/core";
import { matchKey, targetOf } from "@andante/core/internal";
import { median, percentile, throughput } from "../measure.ts";
import type { Budget } from "../results.ts";
import { atLeast, atMost } from "../slowness.ts";
import { copyRows, type Filled } from "./copies.ts";
import { everyone, noted, onLine, paid, takesAny, takesOwn, tick } from "./workflows.ts";

export interface Waiters {
  readonly name: string;
  readonly count: number;
  /** Those that are woken. */
  readonly woken: number;
  /** Events that a second takes at least, where none waits; undefined for no such budget. */
  readonly perSecond: number | undefined;
}

export function openWith(store: Store): Andante {
  return createAndante({
    ...{ workflows: { takesOwn, takesAny, tick: tick() }, events: { noted }, store, tracing: false },
    logger: createLogger({ level: "silent" }),
  });
}

/** Executions of a workflow that wait, for the keys `key-1`, `key-2` and so on. The first ones have a journal and can continue. */
export async function fillWaiters(
  store: Store,
  open: () => Filled | Promise<Filled>,
  {
    workflowId,
    count,
    complete,
  }: { readonly workflowId: "takesOwn" | "takesAny"; readonly count: number; readonly complete: number },
): Promise<void> {
  const andante = openWith(store);
  await andante.ready();
  const { executionId } = await andante.execute(
    workflowId,
    { key: "key-template" },
    { executionId: "template" },
  );
  const [waiting] = (await store.state(executionId))?.suspensions ?? [];
  await andante.close();
  const filled = await open();
  const texts = { [waiting?.suspensionId ?? ""]: "wait-{n}", template: "{n}" };
  const ids = { execution_id: "'copy-' || each" };
  const isSqlite = filled.dialect === "sqlite";
  const where = `execution_id = '${executionId}'`;
  await filled.run(isSqlite ? "begin" : "set session_replication_role = replica");
  const columns = { ...ids, ...(isSqlite && { id: "1000 + each" }) };
  await copyRows(filled, { table: "executions", where, count, texts, columns });
  const ofJournal = isSqlite ? `execution = (select id from executions where ${where})` : where;
  const journal = isSqlite ? { execution: "1000 + each" } : ids;
  await copyRows(filled, { table: "journal", where: ofJournal, count: complete, texts, columns: journal });
  await copyRows(filled, { table: "suspensions", where, count, texts, columns: ids });
  if (!isSqlite) await copyRows(filled, { table: "waits", where, count, texts, columns: ids });
  // They have looked for earlier events long ago.
  await filled.run("delete from signal_work");
  await filled.run(isSqlite ? "commit" : "analyze");
  await filled.close();
}

/** `many`: the store with the waiters; `file`: of a store on SQLite, which another process opens. */
export async function oneOfMany(
  stores: {
    readonly many: Store;
    readonly empty: Store;
    readonly files?: readonly [many: string, empty: string];
  },
  { name, count, woken, perSecond }: Waiters,
): Promise<Budget[]> {
  const { many, empty, files } = stores;
  const quiet = openWith(empty);
  await quiet.ready();
  const starts = await throughput(4000, 50, () => quiet.execute("tick", {}));
  const none = await throughput(4000, 50, (index) => quiet.send(noted, { key: `${index}` }));
  await quiet.close();
  const andante = openWith(many);
  await andante.ready();
  const finds: number[] = [];
  const place = { scope: "", name: paid.name, target: targetOf({ workflowId: "takesOwn" }), limit: 200 };
  for (let index = 0; index < 300; index++) {
    const key = `key-${1 + Math.floor((index * count) / 300)}`;
    const begun = performance.now();
    const found = await many.signals.waits({ ...place, key });
    finds.push(performance.now() - begun);
    if (found.length !== 1) throw new Error(`${key} has ${found.length} waits of ${matchKey(key)}`);
  }
  const lines: number[] = [];
  for (let index = 1; index <= woken; index++) {
    const begun = performance.now();
    const line = onLine(`key-${index}`);
    await andante.send(paid, { key: `key-${index}` });
    lines.push((await line) - begun);
  }
  const beside = await throughput(4000, 50, (index) => andante.send(noted, { key: `${index}` }));
  await andante.close();
  const budgets: Budget[] = [
    {
      name: `an event finds its one waiter among ${count}, in the store on ${name}`,
      value: `${median(finds).toFixed(2)} ms`,
      ...atMost(median(finds), 1, "ms"),
      note: `p99 ${percentile(finds, 0.99).toFixed(2)} ms`,
    },
    {
      name: `from sending it to the first line of the body on ${name}, p50`,
      value: `${median(lines).toFixed(1)} ms`,
      ...atMost(median(lines), 10, "ms"),
      note: `${woken} events, one after the other`,
    },
    {
      name: "the same, p99",
      value: `${percentile(lines, 0.99).toFixed(1)} ms`,
      ...atMost(percentile(lines, 0.99), 50, "ms"),
    },
    {
      name: `events that no execution waits for, on ${name}`,
      value: `${none.toFixed(0)} in a second, ${((none / starts) * 100).toFixed(0)} % of the starts of a workflow with one step`,
      budget: `at least 60 %${perSecond === undefined ? "" : `, and ${perSecond} in a second`}`,
      held: none >= starts * 0.6 && none >= (perSecond ?? 0),
      note: `50 at once; ${beside.toFixed(0)} in a second beside ${count} waiters`,
    },
  ];
  return files === undefined ? budgets : [...budgets, memoryOf(files, count)];
}

/** The best of three starts of a process on each file. */
function memoryOf([many, empty]: readonly [string, string], count: number): Budget {
  const [full, none] = [many, empty].map((file) => {
    const runs = [1, 2, 3].map(() => {
      const script = path.join(import.meta.dirname, "idle.ts");
      const args = ["--conditions=andante-source", "--expose-gc", script, file, "waiters"];
      const { stdout, stderr, status } = spawnSync(process.execPath, args, { encoding: "utf8" });
      if (status !== 0) throw new Error(stderr);
      const { memory }: { memory: number } = JSON.parse(stdout.trim().split("\n").at(-1) ?? "");
      return memory;
    });
    return Math.min(...runs);
  });
  const more = (full ?? 0) - (none ?? 0);
  return {
    name: `memory of a process with ${count} waiters`,
    value: `${more.toFixed(0)} MB more`,
    budget: "within 40 MB of none",
    held: more <= 40,
    note: "the page cache of SQLite takes up to 32",
  };
}

/** One event for all of them, while others are sent. */
export async function fanOut(
  store: Store,
  { name, count, perSecond }: { readonly name: string; readonly count: number; readonly perSecond: number },
): Promise<Budget[]> {
  const andante = openWith(store);
  await andante.ready();
  // Lines of other stores in this run.
  const before = onLine.passed;
  const begun = performance.now();
  let isOver = false;
  const others: number[] = [];
  const beside = (async () => {
    while (!isOver) {
      const sent = performance.now();
      await andante.send(noted, { key: "beside" });
      others.push(performance.now() - sent);
      await wait(20);
    }
  })();
  await andante.send(everyone, {});
  while (onLine.passed - before < count) await wait(20);
  const rate = count / ((performance.now() - begun) / 1000);
  isOver = true;
  await beside;
  await andante.settled();
  await andante.close();
  return [
    {
      name: `executions that one event for ${count} waiters wakes in a second, on ${name}`,
      value: rate.toFixed(0),
      ...atLeast(rate, perSecond),
    },
    {
      name: `other events sent meanwhile on ${name}, p99`,
      value: `${percentile(others, 0.99).toFixed(0)} ms`,
      ...atMost(percentile(others, 0.99), 100, "ms"),
      note: `p50 ${median(others).toFixed(1)} ms, ${others.length} events`,
    },
  ];
}
