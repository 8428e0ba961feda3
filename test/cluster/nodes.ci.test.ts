// Three nodes on one PostgreSQL: each continues the executions of the others when one of them dies, stops or is replaced.
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import type { EventReader } from "../support/event-reader.ts";
import { errorOf, type Fields } from "../support/responses.ts";
import { SocketClient } from "../support/socket-client.ts";
import { checkAll } from "./checks.ts";
import { bodiesUntil, endOn, followOn, type Named, resumeOn, startOn, stateOn } from "./client.ts";
import { Cluster } from "./cluster.ts";
import { readRemains } from "./remains.ts";
import { type BodyLine, readBodies } from "./side-log.ts";

const lease = 3000;
/** The delay that other load on the machine may add to a time. */
const busy = 1500;

let cluster: Cluster;
beforeAll(async () => {
  // A node that stops has the time to finish its bodies.
  cluster = await Cluster.start({ nodes: 3, lease, settings: { grace: 5000 } });
});
afterAll(() => cluster.remove());

const many = (workflowId: string, prefix: string, count: number): Named[] =>
  Array.from({ length: count }, (_, n) => ({ workflowId, executionId: `${prefix}-${n}` }));

/** The faults of these executions once they have ended, as a node sees them. */
async function wrongIn(all: readonly Named[], place: number): Promise<string[]> {
  const ended = await endOn(cluster.node(place), all);
  return checkAll(ended, await readRemains(cluster.postgres.url), readBodies(cluster.log));
}

const linesOf = (all: readonly Named[]) => {
  const ids = new Set(all.map(({ executionId }) => executionId));
  return readBodies(cluster.log).filter(({ executionId }) => ids.has(executionId));
};

/** Resolves when so many bodies of each have run; usually where they were started, unless that node was kept from its lease. */
const ran = (all: readonly Named[], bodies: number) =>
  bodiesUntil(cluster, (lines) =>
    all.every(({ executionId }) => lines.filter((line) => line.executionId === executionId).length >= bodies),
  );

test("of a hundred resumes on three nodes one wins, and the others are 404", async () => {
  const named: Named = { workflowId: "gate", executionId: "hundred" };
  await startOn(cluster.node(0), named, 0);
  await expect
    .poll(() => stateOn(cluster.node(0), named))
    .toMatchObject({
      status: "suspended",
    });
  const tries = Array.from({ length: 100 }, (_, n) => resumeOn(cluster.node(n % 3), named, n));
  const responses = await Promise.all(tries);
  const won = responses.filter(({ status }) => status === 200);
  expect(won).toHaveLength(1);
  for (const lost of responses.filter((each) => !won.includes(each))) errorOf(lost, 404);
  expect(await wrongIn([named], 1)).toEqual([]);
});

/** Reads to the end, attaching again at the next place whenever the stream breaks off. */
async function readThrough(named: Named, places: readonly number[], reached: (sequence: number) => void) {
  const events: Fields[] = [];
  for (let turn = 0; events.at(-1)?.type !== "workflow-result"; turn++) {
    const last = events.at(-1)?.sequence;
    const place = places[turn % places.length] ?? 0;
    const stream = await followOn(
      cluster.node(place),
      named,
      last === undefined ? undefined : String(last),
    ).catch(() => undefined);
    if (stream !== undefined) await readOne(stream, events, reached);
  }
  return events;
}

async function readOne(stream: EventReader, events: Fields[], reached: (sequence: number) => void) {
  try {
    for (let event = await stream.next(); event !== undefined; event = await stream.next()) {
      events.push(event);
      reached(Number(event.sequence));
    }
  } catch {
    // The node is gone: the connection breaks off.
  }
}

test("streams attached on one node show every event once, in order, though the nodes that run it and show it are killed", async () => {
  const all = many("long", "shown", 6);
  const runner = cluster.node(0);
  await Promise.all(all.map((named) => startOn(runner, named, 100)));
  let seen = 0;
  const half = Promise.withResolvers<void>();
  const reached = () => {
    if (++seen === 20 * all.length) half.resolve();
  };
  const reading = Promise.all(all.map((named) => readThrough(named, [1, 2], reached)));
  await ran(all, 3);
  await runner.kill();
  await half.promise;
  // Now the one that shows them: the clients attach again at the third with the number of the last event.
  await cluster.node(1).kill();
  const shown = await reading;
  await Promise.all([cluster.replace(0), cluster.replace(1)]);
  for (const events of shown) {
    const numbers = events.slice(0, -1).map(({ sequence }) => sequence);
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
    expect(events.at(-1)).toMatchObject({ type: "workflow-result", status: "completed" });
    expect(events.at(-2)).toMatchObject({ type: "workflow-complete" });
  }
  expect(new Set(linesOf(all).map(({ pid }) => pid)).size).toBeGreaterThan(1);
  expect(await wrongIn(all, 2)).toEqual([]);
});

test("an observability socket of one node shows the spans of another, in order", async () => {
  const client = await SocketClient.connect(cluster.node(1), "/ws/observability?entityId=fan");
  const named: Named = { workflowId: "fan", executionId: "observed" };
  await startOn(cluster.node(0), named, 0);
  const messages = await client.until(
    (message) => spanNamed(message, "invoke_workflow fan")?.endTime !== null,
  );
  const shown = messages.map((message) => {
    const { type, span } = eventIn(message);
    return `${type} ${span.name}`;
  });
  const paths = ["before", "all", "all/a", "all/b", "all/c", "after"].map((path) => `step ${path}`);
  for (const name of [...paths, "invoke_workflow fan"]) {
    expect(shown.filter((each) => each === `span-start ${name}`)).toHaveLength(1);
    expect(shown.filter((each) => each === `span-end ${name}`)).toHaveLength(1);
    expect(shown.indexOf(`span-start ${name}`)).toBeLessThan(shown.indexOf(`span-end ${name}`));
  }
  expect(shown.at(0)).toBe("span-start invoke_workflow fan");
  expect(await wrongIn([named], 2)).toEqual([]);
  client.socket.close();
});

const eventSchema = z.object({
  type: z.string(),
  span: z.object({ name: z.string(), endTime: z.string().nullable() }),
});

const eventIn = (message: Fields) => eventSchema.parse(message.data);

const spanNamed = (message: Fields, name: string) => {
  const { span } = eventIn(message);
  return span.name === name ? span : { endTime: null };
};

test("executions of a killed node are taken over within the lease and a second", async () => {
  const all = many("long", "killed", 4);
  const runner = cluster.node(0);
  await Promise.all(all.map((named) => startOn(runner, named, 50)));
  await ran(all, 2);
  await runner.kill();
  const at = Date.now();
  expect(await wrongIn(all, 1)).toEqual([]);
  await cluster.replace(0);
  const first = all.map((named) => linesOf([named]).find(({ pid }) => pid !== runner.pid)?.at ?? Infinity);
  const longest = Math.max(...first) - at;
  process.stdout.write(`taken over ${longest} ms after the kill, with a lease of ${lease} ms\n`);
  expect(longest).toBeLessThan(lease + 1000 + busy);
});

test("timers, retries and deadlines fire once though the node that set them is dead", async () => {
  const all = [...many("nap", "nap", 6), ...many("deadline", "deadline", 6)];
  const runner = cluster.node(0);
  await Promise.all(all.map((named) => startOn(runner, named, 0)));
  await ran(all, 1);
  await runner.kill();
  await cluster.replace(0);
  expect(await wrongIn(all, 2)).toEqual([]);
  const remains = await readRemains(cluster.postgres.url);
  for (const { executionId, workflowId } of all) {
    const events = remains.get(executionId)?.writes.flatMap((write) => write.events) ?? [];
    const fired = events.filter(({ fields: [type] }) => type === "workflow-resumed").length;
    expect([executionId, fired]).toEqual([executionId, workflowId === "deadline" ? 1 : 0]);
  }
});

test("a rolling restart under load loses nothing and holds nothing up", async () => {
  const work = 100;
  const batches = [0, 1, 2].map((place) => many("long", `rolling-${place}`, 6));
  for (const [place, batch] of batches.entries()) {
    const node = cluster.node(place);
    await Promise.all(batch.map((named) => startOn(node, named, work)));
    await ran(batch, 2);
    await node.stop();
    await cluster.replace(place);
  }
  const all = batches.flat();
  expect(await wrongIn(all, 0)).toEqual([]);
  const gaps = all.flatMap((named) => gapsIn(linesOf([named]), work));
  const moves = gaps.filter(({ moved }) => moved).map(({ milliseconds }) => milliseconds);
  // How long the machine itself keeps a node waiting between two bodies.
  const stall = Math.max(...gaps.filter(({ moved }) => !moved).map(({ milliseconds }) => milliseconds));
  const longest = Math.max(...moves);
  process.stdout.write(
    `${moves.length} moves, the longest took ${longest} ms; on one node at most ${stall} ms\n`,
  );
  expect(moves.length).toBeGreaterThanOrEqual(all.length);
  // A move has two nodes.
  expect(longest).toBeLessThan(1000 + 2 * stall);
  // Nothing ran twice: a node finished its running steps.
  const runs = linesOf(all).map(({ executionId, path }) => `${executionId} ${path}`);
  expect(new Set(runs).size).toBe(runs.length);
});

/** The gap between two bodies of an execution, and whether it moved to another node there. */
function gapsIn(lines: readonly BodyLine[], work: number) {
  return lines.slice(1).map((line, index) => {
    const before = lines[index] ?? line;
    return { moved: before.pid !== line.pid, milliseconds: line.at - before.at - work };
  });
}

test("during a rolling deploy a node with another definition parks executions that do not fit, and one with the fitting definition continues them", async () => {
  const all = many("release", "deploy", 3);
  for (const place of [1, 2]) {
    await cluster.node(place).stop();
    await cluster.replace(place, { release: "old" });
  }
  const runner = cluster.node(0);
  await Promise.all(all.map((named) => startOn(runner, named, 300)));
  await ran(all, 2);
  await runner.kill();
  for (const named of all) {
    await expect
      .poll(() => stateOn(cluster.node(1), named))
      .toMatchObject({ status: "running", parked: { reason: expect.stringContaining("first") } });
  }
  await cluster.replace(0);
  expect(await wrongIn(all, 1)).toEqual([]);
});
