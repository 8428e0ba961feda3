// Measures a node on one Restate server beside the same on PostgreSQL and SQLite, and a kill of one of three servers.
import { randomUUID } from "node:crypto";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type Andante, createAndante, createLogger, type ListOptions, type Store } from "@andante/core";
import type { Commit } from "@andante/core/store";
import { postgresStore } from "@andante/postgres";
import { restateStore } from "@andante/restate";
import { freePort } from "../../examples/cluster/src/free-ports.ts";
import { startServers } from "../../examples/cluster/src/restate.ts";
import { type RestateServer, startRestate } from "../../packages/restate/test/restate-server.ts";
import { median, throughput } from "../measure.ts";
import { paced } from "../pace.ts";
import type { Budget } from "../results.ts";
import { atMost } from "../slowness.ts";
import type { Contender } from "./contender.ts";
import { processorTime } from "./processor.ts";
import { gate, items, large, loop, three } from "./workflows.ts";

const seconds = paced({ quick: 2, short: 3, full: 6 });
const rounds = paced({ quick: 1, short: 3, full: 5 });
const width = 50;

type StartNode = (args: readonly string[]) => Promise<Contender>;

/** A store in place of the server's own default: one shard, the fastest choice for one node. */
function storeOn(server: RestateServer, namespace: string): Store {
  return restateStore({ ...server.options(namespace), shards: 1 });
}

async function opened(store: Store): Promise<Andante> {
  const andante = createAndante({
    workflows: { three, gate, loop, items, large },
    store,
    logger: createLogger({ level: "silent" }),
    limits: { output: 12_000_000 },
  });
  await andante.ready();
  return andante;
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

export async function onRestate(url: string, folder: string, startNode: StartNode): Promise<Budget[]> {
  const begun = performance.now();
  const server = await startRestate();
  const ready = performance.now() - begun;
  try {
    return [
      ...(await fiftyAtOnce(server, url, folder, startNode)),
      ...(await besidePostgres(server, url)),
      ...(await ofOneExecution(server)),
      await longJournal(server),
      ...(await lists(server)),
      await idle(server),
      {
        name: "a Restate server is ready",
        value: `${(ready / 1000).toFixed(1)} s`,
        budget: "at most 3 s",
        held: ready <= 3_000,
      },
    ];
  } finally {
    await server.remove();
  }
}

/** Throughput and processor time of three steps, in turn in every round. */
async function fiftyAtOnce(
  { ingressUrl, adminUrl, endpointPort }: RestateServer,
  url: string,
  folder: string,
  startNode: StartNode,
): Promise<Budget[]> {
  const nodes = {
    sqlite: await startNode(["sqlite", path.join(folder, "beside-restate.db")]),
    postgres: await startNode(["postgres", url, "beside_restate"]),
    restate: await startNode(["restate", ingressUrl, "bench", adminUrl, String(endpointPort)]),
  };
  const rates: Record<string, number[]> = {};
  const costs: Record<string, number[]> = {};
  try {
    for (let round = -1; round < rounds; round++)
      for (const [name, node] of Object.entries(nodes)) {
        const before = processorTime() ?? Number.NaN;
        let rate = 0;
        const time = await timed(async () => {
          rate = await node.perSecond(seconds, width);
        });
        const cost = ((processorTime() ?? Number.NaN) - before) / ((rate * time) / 1000);
        // The first round only warms up.
        if (round < 0) continue;
        rates[name] = [...(rates[name] ?? []), rate];
        costs[name] = [...(costs[name] ?? []), cost];
      }
  } finally {
    for (const node of Object.values(nodes)) await node.kill();
  }
  const rateOf = (name: keyof typeof nodes) => median(rates[name] ?? []);
  const costOf = (name: keyof typeof nodes) => median(costs[name] ?? []);
  const share = rateOf("restate") / rateOf("postgres");
  const cost = costOf("restate");
  const each = (of: (name: keyof typeof nodes) => number, digits: number) =>
    `${of("restate").toFixed(digits)} against ${of("postgres").toFixed(digits)}, ${of("sqlite").toFixed(digits)} on SQLite`;
  return [
    {
      name: "one node on Restate against the same on PostgreSQL",
      value: `${(100 * share).toFixed(0)} %`,
      budget: "at least 20 %",
      held: share >= 0.2,
      note: `${each(rateOf, 0)}: executions/s of three steps, ${width} at once`,
    },
    {
      name: "the processor time of such an execution on Restate",
      value: Number.isNaN(cost) ? "not measured here" : `${cost.toFixed(2)} ms`,
      ...atMost(cost || 0, 3.5, "ms"),
      note: `${each(costOf, 2)}: of all processes`,
    },
  ];
}

/** One execution at a time, and pairs of suspend and resume, in turn in every round. */
async function besidePostgres(server: RestateServer, url: string): Promise<Budget[]> {
  const nodes = {
    restate: await opened(storeOn(server, "pairs")),
    postgres: await opened(postgresStore({ url, schema: "pairs_beside_restate" })),
  };
  const singles: Record<string, number[]> = {};
  const rates: Record<string, number[]> = {};
  for (let round = -1; round < rounds; round++)
    for (const [name, andante] of Object.entries(nodes)) {
      const times: number[] = [];
      for (let count = 0; count < 40; count++)
        times.push(await timed(() => andante.execute("three", { n: 1 })));
      const rate = await throughput(paced({ quick: 200, short: 400, full: 800 }), width, async () => {
        const { executionId } = await andante.execute("gate", { n: 1 });
        await andante.resume("gate", executionId, { ok: true });
      });
      // The first round only warms up.
      if (round < 0) continue;
      singles[name] = [...(singles[name] ?? []), ...times];
      rates[name] = [...(rates[name] ?? []), rate];
    }
  for (const andante of Object.values(nodes)) await andante.close();
  const of = (name: keyof typeof nodes) => ({
    single: median(singles[name] ?? []),
    pairs: median(rates[name] ?? []),
  });
  const [restate, postgres] = [of("restate"), of("postgres")];
  const [slower, share] = [restate.single / postgres.single, restate.pairs / postgres.pairs];
  return [
    {
      name: "three steps one at a time on Restate against PostgreSQL, p50",
      value: `${slower.toFixed(1)} ×`,
      budget: "at most 10 ×",
      held: slower <= 10,
      note: `${restate.single.toFixed(1)} against ${postgres.single.toFixed(1)} ms`,
    },
    {
      name: "suspend and resume on Restate against PostgreSQL",
      value: `${(100 * share).toFixed(0)} %`,
      budget: "at least 35 %",
      held: share >= 0.35,
      note: `${restate.pairs.toFixed(0)} against ${postgres.pairs.toFixed(0)} pairs/s, ${width} at once`,
    },
  ];
}

/** Long executions, many resumes of one, and large outputs. */
async function ofOneExecution(server: RestateServer): Promise<Budget[]> {
  const andante = await opened(storeOn(server, "one"));
  try {
    const count = paced({ quick: 60, short: 400, full: 400 });
    const { executionId } = await andante.execute("loop", { n: 0 });
    const resumes: number[] = [];
    for (let number = 0; number < count; number++)
      resumes.push(await timed(() => andante.resume("loop", executionId, { ok: true })));
    const growth = median(resumes.slice(-20)) / median(resumes.slice(0, 20));

    const gated = (await andante.execute("gate", { n: 1 })).executionId;
    let won = 0;
    const hundred = await timed(() =>
      Promise.all(
        Array.from({ length: 100 }, async () => {
          const resumed = await andante.resume("gate", gated, { ok: true }).catch(() => undefined);
          if (resumed !== undefined) won++;
        }),
      ),
    );
    if (won !== 1) throw new Error(`${won} of 100 resumes succeeded`);

    const [few, many] = paced({ quick: 1, short: 0, full: 0 }) ? [200, 1_000] : [1_000, 5_000];
    const perItem = async (n: number) => (await timed(() => andante.execute("items", { n }))) / n;
    const [first, last] = [await perItem(few), await perItem(many)];

    const megabytes = await timed(() => andante.execute("large", { n: 5_000_000 }));
    const fifty = () =>
      timed(() => Promise.all(Array.from({ length: 50 }, () => andante.execute("three", { n: 1 }))));
    const alone = await fifty();
    const [, beside] = await Promise.all([andante.execute("large", { n: 9_000_000 }), fifty()]);
    return [
      {
        name: `resume number ${count} of an execution against the first`,
        value: `${growth.toFixed(2)} ×`,
        budget: "at most 1.3 ×",
        held: growth <= 1.3,
        note: `medians of 20: ${median(resumes.slice(0, 20)).toFixed(0)} ms first`,
      },
      {
        name: "100 resumes at once on Restate, of which one succeeds",
        value: `${(hundred / 1000).toFixed(1)} s`,
        ...atMost(hundred / 1000, 3, "s"),
      },
      {
        name: `an item of ${many} against one of ${few}`,
        value: `${(last / first).toFixed(2)} ×`,
        budget: "at most 1.5 ×",
        held: last / first <= 1.5,
        note: `${last.toFixed(2)} ms`,
      },
      {
        name: "an output of 5 MB on Restate",
        value: `${(megabytes / 1000).toFixed(1)} s`,
        ...atMost(megabytes / 1000, 3, "s"),
      },
      {
        name: "50 executions beside an output of 9 MB on Restate: the delay",
        value: `${((beside - alone) / 1000).toFixed(1)} s`,
        ...atMost((beside - alone) / 1000, 2, "s"),
        note: `${alone.toFixed(0)} ms without it`,
      },
    ];
  } finally {
    await andante.close();
  }
}

/** An execution of `three` that the benchmark writes itself. */
const claim = { owner: "bench", token: "bench" };
const madeOf = (executionId: string, startAt: number) => {
  const who = { userId: null, conversationId: null, timeoutAt: null };
  return { executionId, workflowId: "three", input: "1", context: "{}", startAt, ...who, claim, events: [] };
};

function commitOf(executionId: string, number: number, fields: Partial<Commit>): Commit {
  const nothing = { open: [], following: [], closeBelow: [], timers: [], clear: [], end: null, idle: null };
  const rest = { usage: null, stepIndex: 0, progress: true, events: [] };
  return { executionId, token: claim.token, number, ...nothing, ...rest, ...fields };
}

/** Pages of a list, which are searches through all executions. */
async function lists(server: RestateServer): Promise<Budget[]> {
  const store = storeOn(server, "lists");
  const andante = await opened(store);
  const kept = paced({ quick: 1_000, short: 20_000, full: 100_000 });
  try {
    const end = { status: "completed", result: "1", error: null } as const;
    await throughput(kept, 400, async (index) => {
      const executionId = randomUUID();
      await store.create(madeOf(executionId, index));
      await store.commit(commitOf(executionId, 1, { end }));
    });
    const time = async (query: ListOptions) => {
      const pages: number[] = [];
      for (let round = 0; round < 5; round++) pages.push(await timed(() => andante.list(query)));
      return median(pages);
    };
    const newest = await time({ limit: 50 });
    const filtered = await time({ limit: 50, workflowId: "three", status: "completed" });
    const most = kept > 80_000 ? 400 : 300;
    return [
      {
        name: `the newest 50 of ${kept} executions on Restate`,
        value: `${newest.toFixed(0)} ms`,
        ...atMost(newest, most, "ms"),
        note: `${filtered.toFixed(0)} ms for a page with a filter`,
      },
    ];
  } finally {
    await andante.close();
  }
}

/** The reads and the write of a resume in a long journal. The folds of the engine are the same on every store. */
async function longJournal(server: RestateServer): Promise<Budget> {
  const store = storeOn(server, "journal");
  await store.open();
  const event = {
    timestamp: 1,
    type: "step-complete",
    path: "a",
    stepIndex: 0,
    stepType: null,
    detail: null,
  };
  const resumeAfter = async (executionId: string, count: number) => {
    await store.create(madeOf(executionId, 0));
    const size = Math.min(count, 1_000);
    const events = Array.from({ length: size }, () => ({ ...event, value: "1" }));
    let number = 0;
    for (let written = 0; written < count; written += size)
      await store.commit(commitOf(executionId, ++number, { events }));
    const times: number[] = [];
    let token = claim.token;
    for (let round = 0; round < 21; round++) {
      const fixed = { path: "a", stepIndex: 0, reason: "", data: null, deadline: null, onDeadline: null };
      const suspension = { ...fixed, suspensionId: `${executionId}-${round}`, suspendedAt: 1 };
      const idle = { resumes: round, event: null };
      await store.commit(commitOf(executionId, ++number, { token, open: [suspension], idle }));
      [number, token] = [0, randomUUID()];
      times.push(
        await timed(async () => {
          const sequence = (await store.state(executionId))?.execution.sequence ?? 0;
          await store.events({ executionId, after: sequence - 1, limit: 1, length: 1 });
          const { kind } = await store.resume({
            executionId,
            suspensionIds: [suspension.suspensionId],
            rewind: null,
            events: [{ ...event, type: "workflow-resumed", value: "1" }],
            claim: { ...claim, token },
            byDeadline: false,
          });
          if (kind !== "claimed") throw new Error(`a resume was ${kind}`);
        }),
      );
    }
    return median(times);
  };
  try {
    const long = paced({ quick: 10_000, short: 100_000, full: 100_000 });
    const [few, many] = [await resumeAfter("short", 100), await resumeAfter("long", long)];
    return {
      name: `the calls of a resume at ${long} events against 100`,
      value: `${(many / few).toFixed(2)} ×`,
      budget: "at most 1.5 ×",
      held: many / few <= 1.5,
      note: `${many.toFixed(0)} against ${few.toFixed(0)} ms`,
    };
  } finally {
    await store.close();
  }
}

/** The calls of a node without work. */
async function idle(server: RestateServer): Promise<Budget> {
  const andante = await opened(storeOn(server, "idle"));
  const before = globalThis.fetch;
  let calls = 0;
  globalThis.fetch = (...request) => {
    calls++;
    return before(...request);
  };
  const time = paced({ quick: 5, short: 30, full: 30 });
  await pause(time * 1000);
  globalThis.fetch = before;
  await andante.close();
  const rate = calls / time;
  return {
    name: "calls of Restate by an idle node",
    value: `${rate.toFixed(1)}/s`,
    budget: "at most 2/s",
    held: rate <= 2,
  };
}

/** The longest time between two ends of executions while one of three servers is killed. */
export async function killOfAServer(): Promise<Budget[]> {
  const port = await freePort();
  const { servers, ingressUrls, adminUrl, endpointUrl, remove } = await startServers([port]);
  try {
    const andante = await opened(
      restateStore({ ingressUrl: ingressUrls, adminUrl, endpoint: { port, url: endpointUrl } }),
    );
    let [last, longest, isOver] = [performance.now(), 0, false];
    const client = async () => {
      while (!isOver) {
        // While no server responds a start fails, and is made again.
        const done = await andante.execute("three", { n: 1 }).catch(() => undefined);
        if (done === undefined) continue;
        longest = Math.max(longest, performance.now() - last);
        last = performance.now();
      }
    };
    const clients = Array.from({ length: 10 }, client);
    await pause(3_000);
    const usual = longest;
    longest = 0;
    await servers[1]?.kill();
    await pause(8_000);
    isOver = true;
    await Promise.all(clients);
    await andante.close();
    return [
      {
        name: "a kill of one of three Restate servers: the pause",
        value: `${(longest / 1000).toFixed(1)} s`,
        budget: "at most 5 s",
        held: longest <= 5_000,
        note: `${usual.toFixed(0)} ms at most before it`,
      },
    ];
  } finally {
    await remove();
  }
}
