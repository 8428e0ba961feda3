// The quick statements, and the statement that claims executions, do the same as the decisions: same result, same rows.
// Where a quick statement does nothing, no row has changed.
import { DatabaseSync } from "node:sqlite";
import { afterAll, expect, test } from "vitest";
import { type Decision, decisions, isAbandoned, noteWork, takeOver } from "../../src/store/decide/index.ts";
import { rowText } from "../../src/store/sql/journal-row.ts";
import { insertRow } from "../../src/store/sqlite/journal-rows.ts";
import { migrate } from "../../src/store/sqlite/migrate.ts";
import { claimAbandoned } from "../../src/store/sqlite/operations/claim-abandoned.ts";
import { openSuspension, performDecision, recordOf } from "../../src/store/sqlite/perform-decision.ts";
import { quickCommit, quickResume } from "../../src/store/sqlite/quick-statements.ts";
import { SearchFrontier } from "../../src/store/sqlite/search-frontier.ts";
import { createRandom } from "../support/random.ts";
import { type RandomExecution, randomWrites } from "../support/random-writes.ts";

const database = new DatabaseSync(":memory:");
migrate(database);
afterAll(() => database.close());
const perform = performDecision(database);
const open = openSuspension(database, new SearchFrontier(database));

function insert(of: RandomExecution): void {
  database
    .prepare(
      `insert into executions (execution_id, workflow_id, status, context, start_at, sequence, step_index,
         open_suspensions, paused, resumes, owner, token, commits, idle, recoveries, usage, end_at, parked, timeout_at)
       values (?, 'w', ?, '{}', 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    )
    .run(
      of.executionId,
      of.status,
      of.sequence,
      of.stepIndex,
      of.suspensions.length,
      Number(of.paused),
      of.resumes,
      of.owner,
      of.token,
      of.commits,
      Number(of.idle),
      of.recoveries,
      of.usage,
      of.endAt,
      of.parked,
      of.timeoutAt,
    );
  const event = { type: "emitted", path: null, stepIndex: null, stepType: null, value: null, detail: null };
  const first = Array.from({ length: of.sequence }, () => ({ ...event, timestamp: of.lastAt }));
  insertRow(database).run(of.executionId, of.sequence, rowText(0, first), null);
  for (const suspension of of.suspensions) open(of.executionId, suspension, of.paused);
  const timer = database.prepare("insert into timers (execution_id, path, due_at, held) values (?, ?, 5, ?)");
  for (const path of of.timers) timer.run(of.executionId, path, Number(of.paused));
}

const tables = ["executions", "journal", "suspensions", "timers"];
const rows = () => tables.map((table) => database.prepare(`select * from ${table} order by 1, 2`).all());

/** Runs both ways on the same rows; returns whether the quick one did it. */
function compare<Argument extends { readonly executionId: string }, Result>(
  of: RandomExecution,
  argument: Argument,
  quick: (argument: Argument) => Result | undefined,
  decision: Decision<Argument, Result>,
): boolean {
  const apart = <Value>(work: () => Value): Value => {
    database.exec("begin");
    try {
      insert(of);
      return work();
    } finally {
      database.exec("rollback");
    }
  };
  const before = apart(rows);
  const done = apart(() => ({ result: quick(argument), rows: rows() }));
  if (done.result === undefined) {
    expect(done.rows).toEqual(before);
    return false;
  }
  expect(done).toEqual(apart(() => ({ result: perform(decision, argument), rows: rows() })));
  return true;
}

const seed = Number(process.env.ANDANTE_PROPERTIES_SEED ?? Date.now() % 1_000_000);
const trials = 1_000;

test(`commits, seed ${seed}`, () => {
  const { execution, commit } = randomWrites(createRandom(seed).next);
  const quick = quickCommit(database);
  let done = 0;
  for (let trial = 0; trial < trials; trial++) {
    const of = execution();
    if (compare(of, commit(of), quick, decisions.commit)) done++;
  }
  expect(done).toBeGreaterThan(trials / 20);
});

test("a commit with a field that the quick statements do not know is left to the decision", () => {
  const { execution, commit } = randomWrites(createRandom(seed).next);
  const quick = quickCommit(database);
  for (let trial = 0; trial < trials / 10; trial++) {
    const of = execution();
    expect(compare(of, Object.assign(commit(of), { later: true }), quick, decisions.commit)).toBe(false);
  }
});

test(`resumes, seed ${seed}`, () => {
  const { execution, resume } = randomWrites(createRandom(seed).next);
  const quick = quickResume(database);
  let done = 0;
  for (let trial = 0; trial < trials; trial++) {
    const of = execution();
    if (compare(of, resume(of), quick, decisions.resume)) done++;
  }
  expect(done).toBeGreaterThan(trials / 100);
});

test("a resume with an effect of an event is left to the decision", () => {
  const { execution, resume } = randomWrites(createRandom(seed).next);
  const quick = quickResume(database);
  const note = noteWork("wait", "w", { seq: 1, effect: { kind: "woken", id: "e" }, dueAt: 1 });
  for (let trial = 0; trial < trials; trial++) {
    const of = execution();
    expect(compare(of, { ...resume(of), note }, quick, decisions.resume)).toBe(false);
  }
});

test(`claims of abandoned executions, seed ${seed}`, () => {
  const random = createRandom(seed);
  const { execution } = randomWrites(random.next);
  const claim = claimAbandoned(database);
  const read = recordOf(database);
  let claimed = 0;
  for (let trial = 0; trial < trials / 10; trial++) {
    database.exec("begin");
    const made = Array.from({ length: 8 }, execution);
    for (const each of made) insert(each);
    const [isKnown, isAlive] = [random.chance(0.7), random.chance(0.3)];
    const expiresAt = isAlive ? Number.MAX_SAFE_INTEGER : 0;
    if (isKnown) database.prepare("insert into owners (owner, expires_at) values ('here', ?)").run(expiresAt);
    const suspects = random.chance(0.3);
    const expected = made
      .flatMap(({ executionId }) => read(executionId) ?? [])
      .filter((record) => isAbandoned(record, isKnown && isAlive) && record.recoveries >= 2 === suspects)
      .sort((a, b) => a.recoveries - b.recoveries || (a.executionId < b.executionId ? -1 : 1));
    if (!suspects) expected.sort((a, b) => (a.executionId < b.executionId ? -1 : 1));
    for (const [index, record] of expected.entries())
      takeOver(record, { owner: "there", token: `key.${index}` }, isKnown);
    const query = { owner: "there", key: "key", workflowIds: ["w"], suspects, suspectAfter: 2, limit: 8 };
    const result = claim(query).map(({ row }) => read(row.executionId));
    expect(result).toEqual(expected);
    claimed += result.length;
    database.exec("rollback");
  }
  expect(claimed).toBeGreaterThan(trials / 20);
});
