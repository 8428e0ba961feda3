// Two definitions of the same workflows at once, on nodes that are killed: each execution ends by the rules of
// docs/workflows.md, "When a definition changes".
import { afterAll, beforeAll, expect, test } from "vitest";
import { createRandom } from "../../packages/core/test/support/random.ts";
import { checkAll, outcomesIn } from "./checks.ts";
import { bodiesUntil } from "./client.ts";
import { Cluster } from "./cluster.ts";
import { type Responded, runLoad } from "./load.ts";
import { readRemains } from "./remains.ts";
import { type BodyLine, readBodies } from "./side-log.ts";

const seed = Number(process.env.ANDANTE_CHAOS_SEED ?? Math.floor(Math.random() * 2 ** 31));
/** Longer than other work on the machine holds a node up: one that lives has its lease. */
const lease = 6000;
const kills = 8;

let cluster: Cluster;
/** The release that each process has. */
const releases = new Map<number, string>();
/** When each was killed. */
const killedAt = new Map<number, number>();

async function start(place: number, release: "old" | "new"): Promise<void> {
  const { pid } = await cluster.replace(place, { release });
  releases.set(pid, release);
}

beforeAll(async () => {
  cluster = await Cluster.start({ nodes: 0, lease });
  await Promise.all([start(0, "old"), start(1, "old"), start(2, "new"), start(3, "new")]);
});
afterAll(() => cluster.remove());

test(`executions end by the definition that they fit, and none is mixed or run twice (ANDANTE_CHAOS_SEED=${seed})`, {
  timeout: 600_000,
}, async () => {
  let isOver = false;
  const refused: Responded[] = [];
  const loaded = runLoad({
    cluster,
    random: createRandom(seed),
    executions: 60,
    more: () => !isOver,
    clients: 16,
    patience: 300_000,
    workflows: ["release", "asked", "grown"],
    onResponse: (response) => {
      if (response.status >= 400) refused.push(response);
    },
  });
  const random = createRandom(seed + 1);
  for (let kill = 0; kill < kills; kill++) {
    const ran = readBodies(cluster.log).length;
    const wanted = ran + random.integer(5, 25);
    await bodiesUntil(cluster, (lines) => lines.length >= wanted);
    const place = random.integer(0, 3);
    const node = cluster.node(place);
    await node.kill();
    killedAt.set(node.pid, Date.now());
    await start(place, node.settings.release);
  }
  isOver = true;
  const started = await loaded;

  const remains = await readRemains(cluster.postgres.url);
  const bodies = readBodies(cluster.log);
  expect(checkAll(started, remains, bodies)).toEqual([]);
  const byExecution = Map.groupBy(bodies, ({ executionId }) => executionId);
  for (const { executionId, workflowId, told } of started) {
    const lines = byExecution.get(executionId) ?? [];
    const outcomes = outcomesIn(remains.get(executionId)?.writes ?? []);
    const [last, run] = [...outcomes].at(-1) ?? [];
    expect([executionId, told?.result]).toMatchObject([executionId, { run }]);
    const by = releases.get(lines.find((line) => line.run === run)?.pid ?? 0);
    if (workflowId === "grown")
      expect([executionId, by]).toEqual([executionId, last === "c" ? "new" : "old"]);
    else expect([executionId, new Set(lines.map(releaseOf)).size]).toEqual([executionId, 1]);
  }
  expect(bodies.flatMap(againOf(bodies))).toEqual([]);

  // Some were taken over, and some resumes came to a node that they do not fit.
  const moved = [...byExecution.values()].filter((lines) => new Set(lines.map(({ pid }) => pid)).size > 1);
  process.stdout.write(`${started.length} executions, ${moved.length} ran on more than one node\n`);
  expect(moved.length).toBeGreaterThan(0);
  const changed = refused.filter(({ status, text }) => status === 409 && /has changed since/.test(text));
  expect(changed.length).toBeGreaterThan(0);
  const others = refused.filter((each) => !changed.includes(each) && each.status !== 503);
  expect(others).toEqual([]);
});

const releaseOf = ({ pid }: BodyLine) => releases.get(pid);

/** A body that ran again though the process that ran it first was alive. */
const againOf = (bodies: readonly BodyLine[]) => (line: BodyLine) => {
  const isSame = (other: BodyLine) =>
    other.executionId === line.executionId && other.path === line.path && other.attempt === line.attempt;
  const before = bodies.filter((other) => isSame(other) && other.at < line.at);
  const wrong = before.filter(
    ({ pid, at }) => (killedAt.get(pid) ?? Infinity) > line.at && line.at - at < lease,
  );
  return wrong.map(({ executionId, path, pid }) => `${executionId} ${path} ran on ${pid} and on ${line.pid}`);
};
