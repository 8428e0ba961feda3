// The quick statement of commits does the same as the decision, on random rows and commits: same result, same rows. Where
// it does nothing, no row has changed.
import { decisions, rowText } from "@andante/core/store";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createRandom } from "../../core/test/support/random.ts";
import { type RandomExecution, randomWrites } from "../../core/test/support/random-writes.ts";
import type { Query } from "../src/connection/client.ts";
import { inText } from "../src/connection/parameters.ts";
import { canBeFast, fastCommits, isExpected, sequenceAfter } from "../src/group/fast-commit.ts";
import { migrate } from "../src/migrate.ts";
import { CollectedChanges } from "../src/write/changes.ts";
import { GroupFacts } from "../src/write/facts.ts";
import { lockedColumns, toRecord } from "../src/write/row.ts";
import { type PostgresServer, startPostgres } from "./postgres-server.ts";

let server: PostgresServer;
let client: pg.Client;
const query: Query = async (statement, values) => {
  const { rows, rowCount } = await client.query(statement, values && [...values]);
  return { rows, count: rowCount ?? 0 };
};
beforeAll(async () => {
  server = await startPostgres();
  const types = { getTypeParser: (id: number) => (id === 20 ? Number : pg.types.getTypeParser(id)) };
  client = new pg.Client({ connectionString: server.url, types });
  await client.connect();
  await migrate(query, { name: "s", schema: "s", migrate: true });
});
afterAll(async () => {
  await client.end();
  await server.remove();
});

async function insert(of: RandomExecution): Promise<void> {
  await query(
    `insert into s.executions (execution_id, kind, workflow_id, status, context, start_at, sequence, step_index,
       open_suspensions, paused, resumes, owner, token, commits, idle, recoveries, usage, end_at, parked, timeout_at)
     values ($1, 'workflow', 'w', $2, '{}', 1, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)`,
    [
      of.executionId,
      of.status,
      of.sequence,
      of.stepIndex,
      of.suspensions.length,
      of.paused,
      of.resumes,
      of.owner,
      of.token,
      of.commits,
      of.idle,
      of.recoveries,
      of.usage,
      of.endAt,
      of.parked,
      of.timeoutAt,
    ],
  );
  const event = { type: "emitted", path: null, stepIndex: null, stepType: null, value: null, detail: null };
  const first = Array.from({ length: of.sequence }, () => ({ ...event, timestamp: of.lastAt }));
  await query("insert into s.journal (execution_id, sequence, events) values ($1, $2, $3)", [
    of.executionId,
    of.sequence,
    rowText(0, first),
  ]);
  const opened = new CollectedChanges();
  for (const suspension of of.suspensions) opened.open(of.executionId, suspension, of.paused);
  await run(opened);
  for (const path of of.timers)
    await query("insert into s.timers values ($1, $2, 5, $3)", [of.executionId, path, of.paused]);
}

async function run(changes: CollectedChanges): Promise<void> {
  for (const [statement, values] of inText(changes.statements("s"))) await query(statement, values);
}

async function rows(): Promise<unknown[]> {
  const tables = ["executions", "journal", "suspensions", "timers"];
  const read: unknown[] = [];
  for (const table of tables) read.push((await query(`select * from s.${table} order by 1, 2`)).rows);
  return read;
}

/** Does work on rows that nothing else has changed, and takes it back. */
async function apart<Value>(of: RandomExecution, work: () => Promise<Value>): Promise<Value> {
  await query("begin");
  try {
    await insert(of);
    return await work();
  } finally {
    await query("rollback");
  }
}

// The same commits each time, so that a failure points to the change.
const seed = Number(process.env.ANDANTE_PROPERTIES_SEED ?? 1);
/** Commits that are done by one statement, and random commits that are tried at most until there are as many. */
const wanted = 15;
const maxTrials = 20_000;

test(`commits, seed ${seed}`, async () => {
  const { execution, commit: randomCommit } = randomWrites(createRandom(seed).next);
  let done = 0;
  for (let trial = 0; done < wanted && trial < maxTrials; trial++) {
    const of = execution();
    const commit = randomCommit(of);
    const expected = { fast: { commit, resolve: () => undefined }, before: of.sequence };
    if (!canBeFast(commit) || !isExpected(expected.fast, of.sequence)) continue;
    const before = await apart(of, rows);
    const fast = await apart(of, async () => {
      const [statement, values] = inText([fastCommits("s", [expected])])[0] ?? [""];
      const moved = await query(statement, values);
      const sequence = sequenceAfter(expected);
      const result = moved.count === 1 ? { kind: "ok", sequence, idle: false } : undefined;
      return { result, rows: await rows() };
    });
    if (fast.result === undefined) {
      expect(fast.rows).toEqual(before);
      continue;
    }
    done++;
    const decided = await apart(of, async () => {
      const select = `select ${lockedColumns} from s.executions where execution_id = $1`;
      const [row] = (await query(select, [of.executionId])).rows;
      const record = row && toRecord(row);
      const facts = new GroupFacts("s");
      decisions.commit.request?.(commit, record, facts.requests);
      await facts.read(query);
      const changes = new CollectedChanges();
      const result = decisions.commit.decide(commit, record, facts.facts, changes);
      await run(changes);
      return { result, rows: await rows() };
    });
    expect(fast).toEqual(decided);
  }
  expect(done).toBe(wanted);
});
