// Notifications between nodes are lost: changes of one node to executions of another take effect all the same, soon.
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { type Andante, andThen, createAndante, createWorkflow } from "@andante/core";
import { postgresStore } from "@andante/postgres";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { type PostgresServer, startPostgres } from "./postgres-server.ts";
import { startProxy } from "./switching-proxy.ts";

let server: PostgresServer;
let admin: pg.Client;
beforeAll(async () => {
  server = await startPostgres({ max_connections: 100 });
  admin = new pg.Client(server.url);
  await admin.connect();
});
afterAll(async () => {
  await admin.end();
  await server.remove();
});

/** Passes on every message of a connection but notifications. */
async function startDeafProxy(): Promise<number> {
  const proxy = createServer((client) => {
    const database = connect(server.port, "127.0.0.1");
    client.pipe(database);
    let rest = Buffer.alloc(0);
    database.on("data", (data) => {
      rest = Buffer.concat([rest, data]);
      // A message is one letter, its length without the letter in four bytes, and its text.
      for (let end = 5; rest.length >= 5; ) {
        end = 1 + rest.readUInt32BE(1);
        if (rest.length < end) return;
        if (rest.at(0) !== "A".charCodeAt(0)) client.write(rest.subarray(0, end));
        rest = rest.subarray(end);
      }
    });
    for (const [socket, other] of [
      [client, database],
      [database, client],
    ] as const) {
      socket.on("error", () => {});
      socket.once("close", () => other.destroy());
    }
  }).listen(0, "127.0.0.1");
  await once(proxy, "listening");
  onTestFinished(() => void proxy.close());
  const address = proxy.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

interface Fault {
  /** Where nodes listen. */
  readonly port: number;
  /** Loses hints from now on, until the function that it returns is called. */
  begin(): () => void;
  /** Whether hints come again after that. */
  readonly heals: boolean;
}

const nothing = () => undefined;
const faults: Readonly<Record<string, () => Promise<Fault>>> = {
  "are dropped": async () => ({ port: await startDeafProxy(), begin: () => nothing, heals: false }),
  "come on a connection that was cut in silence": async () => {
    const proxy = await startProxy(server.port);
    onTestFinished(() => proxy.close());
    const begin = () => {
      proxy.silence();
      return nothing;
    };
    return { port: proxy.port, begin, heals: true };
  },
  "come on connections that are ended again and again": async () => {
    const listening = "select pg_terminate_backend(pid) from pg_stat_activity where query like 'listen%'";
    const begin = () => {
      let going = true;
      const endAll = async () => {
        for (; going; await wait(20)) await admin.query(listening);
      };
      endAll().catch(nothing);
      return () => {
        going = false;
      };
    };
    return { port: server.port, begin, heals: true };
  },
};

/** Bodies of an execution wait for it to be opened. */
class Doors {
  readonly #doors = new Map<string, PromiseWithResolvers<void>>();
  readonly reached = new Set<string>();
  /** Executions whose signal was aborted. */
  readonly aborted = new Set<string>();
  of(name: string): PromiseWithResolvers<void> {
    const door = this.#doors.get(name) ?? Promise.withResolvers<void>();
    this.#doors.set(name, door);
    return door;
  }
  async pass(name: string): Promise<void> {
    this.reached.add(name);
    await this.of(name).promise;
  }
}

function workflowsOf(doors: Doors, ran: string[]) {
  const body = andThen({
    id: "body",
    execute: async ({ executionId, signal }) => {
      signal.addEventListener("abort", () => doors.aborted.add(executionId));
      await doors.pass(executionId);
      return "body";
    },
  });
  const gate = andThen({
    id: "gate",
    execute: ({ resumeData, suspend }) => resumeData ?? suspend(),
  });
  const input = z.unknown();
  return {
    /** Its owner keeps it, because a body runs while it waits. */
    both: createWorkflow({ id: "both", input }).andAll({ id: "all", steps: [body, gate] }),
    chain: createWorkflow({ id: "chain", input })
      .andThen({ id: "first", execute: ({ executionId }) => doors.pass(executionId) })
      .andThen({ id: "second", execute: ({ executionId }) => void ran.push(executionId) }),
    rounds: createWorkflow({ id: "rounds", input }).andForEach({
      id: "each",
      items: () => Array.from({ length: 100 }, (_, index) => index),
      step: (chain) => chain.andThen({ id: "one", execute: ({ data }) => data }),
    }),
  };
}

interface Bench {
  readonly doors: Doors;
  /** Executions whose second step ran. */
  readonly ran: readonly string[];
  /** Executions of `a` are changed on `b`. */
  readonly a: Andante;
  readonly b: Andante;
}

/** Starts one whose body waits. */
async function begin({ doors }: Bench, node: Andante, workflowId: "both" | "chain"): Promise<string> {
  const { executionId } = await node.start(workflowId, {});
  await expect.poll(() => doors.reached).toContain(executionId);
  return executionId;
}

/** Its owner takes the gate's outcome up while its own body still runs. */
async function resumeOfOther({ a, b, doors }: Bench, id: string): Promise<void> {
  const resuming = b.resume("both", id, "gate");
  const outcomes = async () =>
    (await a.events("both", id)).map(({ type, stepPath }) => `${type} ${stepPath}`);
  await expect.poll(outcomes).toContain("step-complete all/gate");
  doors.of(id).resolve();
  expect(await resuming).toMatchObject({ status: "completed", result: ["body", "gate"] });
}

async function cancelOfOther({ b, doors }: Bench, id: string): Promise<void> {
  await b.cancel("both", id);
  await expect.poll(() => doors.aborted).toContain(id);
}

async function pauseOfOther({ a, b, doors, ran }: Bench, id: string): Promise<void> {
  await b.suspend("chain", id);
  doors.of(id).resolve();
  await expect.poll(() => a.state("chain", id)).toMatchObject({ status: "suspended" });
  expect(ran).not.toContain(id);
  expect(await b.resume("chain", id, {})).toMatchObject({ status: "completed" });
  expect(ran).toContain(id);
}

/** Another node takes over the executions that a node releases at its end. */
async function leave({ b, doors }: Bench, leaving: Andante, id: string): Promise<void> {
  doors.reached.delete(id);
  await leaving.close({ grace: 0 });
  await expect.poll(() => doors.reached).toContain(id);
  doors.of(id).resolve();
  await expect.poll(() => b.state("chain", id)).toMatchObject({ status: "completed" });
}

/** Follows one of the other node from its start to its end. */
async function streamOfOther({ a, b }: Bench): Promise<void> {
  const { executionId } = await a.start("rounds", {});
  const stream = await b.attach("rounds", executionId);
  const types: string[] = [];
  for await (const { type } of stream?.events ?? []) types.push(type);
  const journal = (await a.events("rounds", executionId)).map(({ type }) => type);
  expect(types).toEqual([...journal, "workflow-result"]);
}

/** The feed of all executions shows those of the other node. */
async function changesOfOther({ a, b }: Bench): Promise<void> {
  const shown = new Set<string>();
  const { changes } = b.live;
  const stop = changes.follow({ receive: (change) => shown.add(change.executionId), stop: () => undefined });
  const heard = async () => shown.has((await a.execute("rounds", {})).executionId);
  await expect.poll(heard).toBe(true);
  // From now on none is missed.
  const ids = Array.from({ length: 20 }, async () => (await a.execute("rounds", {})).executionId);
  for (const id of await Promise.all(ids)) await expect.poll(() => shown).toContain(id);
  stop();
}

describe.each(Object.entries(faults))("hints that %s", (name, fault) => {
  test("lose no resume, cancel, pause, event or execution", { timeout: 120_000 }, async () => {
    const { port, begin: lose, heals } = await fault();
    const listenUrl = server.url.replace(`:${server.port}/`, `:${port}/`);
    const nodes: Andante[] = [];
    onTestFinished(async () => {
      for (const node of nodes) await node.close({ grace: 0 });
    });
    const doors = new Doors();
    const ran: string[] = [];
    const open = async () => {
      const store = postgresStore({ url: server.url, listenUrl, schema: name, readers: 2 });
      nodes.push(createAndante({ store, workflows: workflowsOf(doors, ran), logs: { level: "error" } }));
      await nodes.at(-1)?.ready();
      return nodes.at(-1) ?? expect.unreachable();
    };
    const [a, b, leaving] = [await open(), await open(), await open()];
    const bench: Bench = { doors, ran, a, b };
    const resumed = await begin(bench, a, "both");
    await expect.poll(() => b.state("both", resumed)).toMatchObject({ status: "suspended" });
    const cancelled = await begin(bench, a, "both");
    const paused = await begin(bench, a, "chain");
    const given = await begin(bench, leaving, "chain");
    const end = lose();
    onTestFinished(end);
    await Promise.all([
      resumeOfOther(bench, resumed),
      cancelOfOther(bench, cancelled),
      pauseOfOther(bench, paused),
      streamOfOther(bench),
    ]);
    await leave(bench, leaving, given);
    end();
    if (heals) await changesOfOther(bench);
  });
});
