// Every statement of the store is answered by an index: none walks a table, none sorts.
import { DatabaseSync } from "node:sqlite";
import { expect, test, vi } from "vitest";
import { migrate } from "./migrate.ts";
import { ownReads, reads, writes } from "./operations/index.ts";
import type { Bind } from "./operations/late.ts";
import { performDecision } from "./perform-decision.ts";

/** Statements that walk or sort on purpose, with the reason. */
const exceptions: readonly { readonly statement: RegExp; readonly why: string }[] = [
  {
    statement: /indexed by executions_with_work[\s\S]*order by recoveries \* \?/,
    why: "walks what has work to do, which is little; suspects, which are fewer still, are sorted",
  },
  { statement: /indexed by executions_with_work[\s\S]*substr\(token/, why: "walks what has work to do" },
  { statement: /indexed by executions_with_work[\s\S]*owner is null/, why: "walks what has work to do" },
  {
    statement: /indexed by executions_with_work[\s\S]*order by start_at, execution_id/,
    why: "walks what has work to do; what started in the same millisecond is sorted",
  },
  { statement: /from owners\s+left join/, why: "walks the processes, and the executions with work" },
  {
    statement: /from workflow_definitions where workflow_id = \?/,
    why: "sorts the definitions of one workflow",
  },
  { statement: /from (trace_roots|span_chunks) where trace_id = \?/, why: "sorts the rows of one trace" },
  { statement: /from trace_roots where .*execution_id = \?/, why: "sorts the roots of one execution" },
  {
    statement: /^select (\*|id) from logs +(where level >= \? )?order by id desc/,
    why: "walks from the newest line",
  },
  { statement: /^select start_at from trace_roots order by/, why: "walks the index from the newest trace" },
  { statement: /indexed by executions_by_start/, why: "walks the index from the newest execution" },
  { statement: /indexed by executions_running/, why: "walks what is running" },
  { statement: /indexed by executions_parked_by_start/, why: "walks what is parked" },
  { statement: /indexed by messages_queued/, why: "walks and sorts the messages that wait, which are few" },
  { statement: /from timers cross join/, why: "walks the index from the first time" },
  {
    statement: /from signals (where data is not null )?order by seq limit/,
    why: "walks from the oldest event",
  },
  { statement: /from signal_work order by due_at limit/, why: "walks the index from the first time" },
  {
    statement: /from trace_roots +(where [^x]*)?order by start_at desc/,
    why: "walks the index from the newest trace",
  },
  { statement: /indexed by suspensions_by_time/, why: "walks the index from the oldest suspension" },
  { statement: /suspension_id in \(select value/, why: "sorts a page of suspensions" },
  { statement: /indexed by executions_waiting/, why: "sorts what waits for one user" },
  { statement: /from rollups where[\s\S]* group by/, why: "sums up the minutes of a range" },
  { statement: /from conversations +order by/, why: "walks the index from the latest change" },
];

/** Combinations of filters: each alone, and each pair. */
function pairs(filters: Readonly<Record<string, unknown>>): Record<string, unknown>[] {
  const names = Object.keys(filters);
  const pick = (...chosen: string[]) => Object.fromEntries(chosen.map((each) => [each, filters[each]]));
  return [
    {},
    ...names.map((one) => pick(one)),
    ...names.flatMap((one) => names.map((two) => pick(one, two))),
  ];
}

function statementsOf(database: DatabaseSync): string[] {
  const seen = new Set<string>();
  const recording = new Proxy(database, {
    get: (target, name) => {
      if (name !== "prepare") return Reflect.get(target, name).bind(target);
      return (statement: string) => {
        seen.add(statement);
        return target.prepare(statement);
      };
    },
  });
  // All at once, not when they are called.
  const now: Bind = (database, make) => make(database);
  writes(recording, now);
  performDecision(recording);
  ownReads(recording, now);
  const { list, logs, traces, listConversations, rollupsOverTime, rollupTotals, waiting, findValues } = reads(
    recording,
    now,
  );
  for (const filter of pairs({ userId: "a", before: { startAt: 1, executionId: "a" } }))
    findValues({ text: "order", ...filter, limit: 10 });
  for (const workflowId of ["a", undefined]) {
    rollupsOverTime({ from: 1, to: 2, width: 1, workflowId });
    rollupTotals({ from: 1, to: 2, of: "steps", workflowId });
  }
  const at = { startAt: 1, executionId: "a" };
  for (const status of ["running", "suspended", "completed"]) {
    const filters = {
      workflowId: "a",
      status,
      userId: "a",
      tag: "a",
      idPrefix: "a",
      from: 1,
      to: 2,
      before: at,
      traced: true,
      traceId: "a",
      replayOf: "a",
      parked: true,
    };
    for (const filter of pairs(filters)) list({ ...filter, limit: 10 });
    for (const filter of pairs({ ...filters, executionId: "a", idPrefix: undefined }))
      list({ executionId: "a", ...filter, limit: 10 });
  }
  const after = { suspendedAt: 1, suspensionId: "a" };
  const some = { suspensionIds: ["a"], brief: true };
  for (const filter of pairs({ userId: "a", workflowId: "a", after, ...some }))
    waiting({ ...filter, limit: 10 });
  const who = { workflowId: "a", executionId: "a", agentId: "a", conversationId: "a" };
  for (const filter of pairs({ ...who, level: 1, from: 1, upTo: 2 })) logs({ ...filter, limit: 10 });
  const before = { startAt: 1, rootSpanId: "a" };
  const root = { entityType: "agent", entityId: "a", executionId: "a", userId: "a", status: "a" };
  for (const filter of pairs({ ...root, from: 1, to: 2, before })) traces({ ...filter, limit: 10 });
  const change = { updatedAt: 1, conversationId: "a" };
  for (const filter of pairs({ userId: "a", agentId: "a", before: change }))
    listConversations({ ...filter, limit: 10 });
  return [...seen];
}

test("no statement scans a table or sorts its rows", () => {
  const database = new DatabaseSync(":memory:");
  migrate(database);
  const problems: string[] = [];
  for (const statement of statementsOf(database)) {
    if (exceptions.some((each) => each.statement.test(statement))) continue;
    // A statement is explained without its values: the plan needs only the schema.
    const plan = database.prepare(`explain query plan ${statement}`).all();
    for (const { detail } of plan) {
      const line = String(detail);
      const scans = /^SCAN (?!json_each|CONSTANT)/.test(line);
      if (scans || line.includes("TEMP B-TREE"))
        problems.push(`${line}: ${statement.replaceAll(/\s+/g, " ")}`);
    }
  }
  database.close();
  expect(problems).toEqual([]);
});

test("a list of one user's executions is read from that user's own, however many others there are", () => {
  const database = new DatabaseSync(":memory:");
  migrate(database);
  const { list } = reads(database);
  const asked = vi.spyOn(database, "prepare");
  const filters = { workflowId: "a", status: "completed", tag: "a", idPrefix: "01", from: 1, traced: true };
  for (const filter of pairs(filters)) list({ ...filter, userId: "a", limit: 10 });
  const sources = asked.mock.calls.map(([statement]) => / from (\w+( indexed by \w+)?)/.exec(statement)?.[1]);
  expect(new Set(sources)).toEqual(new Set(["executions indexed by executions_by_user"]));
  // So much of an id is of one millisecond: few others can have it.
  asked.mockClear();
  list({ idPrefix: "01a1e1c9-cca2", userId: "a", limit: 10 });
  expect(asked.mock.calls[0]?.[0]).toContain("indexed by sqlite_autoindex_executions_1");
  database.close();
});

test("no statement numbers its parameters: Node 22.13 binds values to names and to plain places alone", () => {
  const database = new DatabaseSync(":memory:");
  migrate(database);
  expect(statementsOf(database).filter((statement) => /\?\d/.test(statement))).toEqual([]);
  database.close();
});
