// A rolling deploy of a release with another migration, under load: as docs/deploying.md promises it.
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createRandom } from "../../packages/core/test/support/random.ts";
import { checkAll } from "./checks.ts";
import { Cluster } from "./cluster.ts";
import { type LaterRelease, makeRelease } from "./later-release.ts";
import { type Responded, runLoad } from "./load.ts";
import { NodeProcess } from "./node-process.ts";
import { readRemains } from "./remains.ts";
import { readBodies } from "./side-log.ts";

/** The default: a migration must not cost a node its lease. */
const lease = 10_000;

// The tables in an order in which no write of a node locks them.
const fits = {
  "0901-notes.sql": `-- oldest: 1
alter table journal add column note text;
alter table executions add column note text;
create index executions_noted on executions (note) where note is not null;
`,
};
const demands = { ...fits, "0902-other.sql": "-- oldest: 902\nalter table owners add column note text;\n" };

let cluster: Cluster;
let next: LaterRelease;
let afterNext: LaterRelease;
let client: pg.Client;
beforeAll(async () => {
  [next, afterNext] = [makeRelease(fits), makeRelease(demands)];
  cluster = await Cluster.start({ nodes: 3, lease, settings: { grace: 5000 } });
  client = new pg.Client(cluster.postgres.url);
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await cluster.remove();
  for (const release of [next, afterNext]) release.remove();
});

/** Resolves when the migration waits for a table that is in use; another time than `before`. */
async function waits(before?: string): Promise<string> {
  const select = `select xact_start::text as began from pg_stat_activity
    where wait_event_type = 'Lock' and query ilike '%alter table%note%'`;
  let began: string | undefined;
  const look = async () => {
    began = (await client.query(select)).rows[0]?.began;
    return began !== undefined && began !== before;
  };
  await expect.poll(look, { timeout: 300_000 }).toBe(true);
  return began ?? "";
}

test("old and new nodes work beside each other, callers notice nothing, and each body runs once", {
  timeout: 600_000,
}, async () => {
  let isOver = false;
  const ends = [performance.now()];
  const failures: Responded[] = [];
  const loaded = runLoad({
    cluster,
    random: createRandom(1),
    executions: 60,
    more: () => !isOver,
    clients: 12,
    patience: 300_000,
    onEnd: () => ends.push(performance.now()),
    onResponse: (response) => {
      const isStopping = response.status === 503 && response.retryAfter !== null;
      if (response.status >= 500 && !isStopping) failures.push(response);
    },
  });
  const moreEnd = async (count: number) => {
    const then = ends.length;
    await expect.poll(() => ends.length, { timeout: 300_000 }).toBeGreaterThan(then + count);
  };
  await moreEnd(20);

  // A backup reads the tables, so the migration has to wait; those who write do not wait with it.
  const backup = new pg.Client(cluster.postgres.url);
  await backup.connect();
  await backup.query("begin");
  await backup.query("select count(*) from cluster.executions");
  const first = cluster.replace(3, { ...cluster.node(0).settings, postgres: next.postgres });
  const tried = await waits();
  await moreEnd(12);
  await waits(tried);
  await moreEnd(12);
  await backup.query("commit");
  await backup.end();
  await first;
  const { rows } = await client.query("select number from cluster.migrations where number > 900");
  expect(rows).toEqual([{ number: 901 }]);

  // An old node may even start again on the database that the new one has migrated.
  const old = [cluster.node(0), cluster.node(1), cluster.node(2), await cluster.replace(4)];
  expect(old.at(-1)?.settings.postgres).not.toBe(next.postgres);
  for (const [place, node] of [...old.slice(0, 3).entries(), [4, old[3]] as const]) {
    await cluster.replace(place, { postgres: next.postgres });
    await node?.stop();
    await moreEnd(12);
  }
  isOver = true;
  const started = await loaded;
  const longest = Math.max(...ends.slice(1).map((at, index) => at - (ends[index] ?? at)));
  process.stdout.write(
    `${started.length} executions; the longest without an end of one: ${Math.round(longest)} ms\n`,
  );
  expect(failures).toEqual([]);
  expect(longest).toBeLessThan(lease);
  const bodies = readBodies(cluster.log);
  expect(checkAll(started, await readRemains(cluster.postgres.url), bodies)).toEqual([]);
  const runs = bodies.map(({ executionId, path, attempt }) => `${executionId} ${path} ${attempt}`);
  expect(runs.filter((run, index) => runs.indexOf(run) !== index)).toEqual([]);
});

test("a node for which the schema is too new refuses to start with the reason; running ones continue", {
  timeout: 600_000,
}, async () => {
  const running = cluster.node(0);
  await cluster.replace(1, { postgres: afterNext.postgres });
  for (const postgres of ["@andante/postgres", next.postgres]) {
    const start = NodeProcess.start({ ...running.settings, postgres }, 1);
    await expect(start).rejects.toThrow(/has the migration 902, .* use a newer release/);
  }
  const loaded = { random: createRandom(2), more: () => false, clients: 10, patience: 300_000 };
  const workflows = ["long"];
  const started = await runLoad({ ...loaded, cluster, executions: 10, workflows });
  expect(started.map(({ told }) => told?.status)).toEqual(started.map(() => "completed"));
});
