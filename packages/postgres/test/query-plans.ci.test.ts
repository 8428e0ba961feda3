// Every read uses an index: with many rows none scans a table or sorts a large part of it.
import { postgresStore } from "@andante/postgres";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { walking } from "../src/connection/readers.ts";
import { fastStatement } from "../src/group/fast-commit.ts";
import { beginGroup } from "../src/group/transaction.ts";
import { abandonedStatement, deadOwnersStatement } from "../src/operations/claim-abandoned.ts";
import { claimsStatement } from "../src/operations/claims.ts";
import { conversationsStatement } from "../src/operations/conversations/reads.ts";
import { dueStatement } from "../src/operations/due.ts";
import { listStatement } from "../src/operations/list.ts";
import { logsStatement } from "../src/operations/observations/logs.ts";
import { spansElsewhereStatement, tracesStatement } from "../src/operations/observations/traces.ts";
import { longerStatement, wholeStatement } from "../src/operations/search.ts";
import { type PostgresServer, startPostgres } from "./postgres-server.ts";

const s = "plans";
/** Rows that one statement may sort, or that a table may have to be walked: those of one workflow are 500. */
const few = 600;

let server: PostgresServer;
let client: pg.Client;
beforeAll(async () => {
  server = await startPostgres();
  const store = postgresStore({ url: server.url, schema: s });
  await store.open();
  await store.close();
  client = new pg.Client(server.url);
  await client.connect();
  await client.query(fill);
});
afterAll(async () => {
  await client.end();
  await server.remove();
});

// Ten thousand executions: one in a hundred runs or is suspended, half of the suspended have a deadline, some sleep.
const fill = `set search_path to ${s};
  insert into executions (execution_id, kind, workflow_id, status, context, user_id, conversation_id, agent_id, start_at,
    timeout_at, end_at, sequence, owner, token, idle, trace, parked, replay_of)
  select 'id-' || lpad(n::text, 6, '0'), case when n % 10 = 7 then 'turn' else 'workflow' end, 'workflow-' || n % 20,
    case when n % 100 = 0 then 'running' when n % 100 = 1 then 'suspended' when n % 50 = 2 then 'error' else 'completed' end,
    '{}', 'user-' || n % 500, 'talk-' || n, 'agent', n, case when n % 100 < 2 then n + 1000000 end,
    case when n % 100 < 2 then null else n + 10 end, 3, case when n % 100 = 0 then 'owner-' || n % 3 end,
    case when n % 100 = 0 then 'token' end, n % 100 = 1, case when n % 4 = 0 then 'trace-' || n when n % 4 = 1 then '' end, null,
    case when n % 10 = 3 then 'id-' || lpad((n % 1000)::text, 6, '0') end
  from generate_series(1, 10000) n;
  insert into journal select 'id-' || lpad(n::text, 6, '0'), m, '[]', null from generate_series(1, 10000) n, generate_series(1, 3) m;
  insert into suspensions (suspension_id, execution_id, step_index, reason, suspended_at, deadline)
  select 's-' || n, 'id-' || lpad(n::text, 6, '0'), 0, '""', 1, case when n % 200 = 1 then n end
  from generate_series(1, 10000, 100) n;
  insert into suspensions (suspension_id, execution_id, step_index, reason, suspended_at, deadline)
  select 'x-' || n, 'id-' || lpad((n * 100 + 1)::text, 6, '0'), 0, '""', 1, n from generate_series(0, 99) n, generate_series(1, 1);
  insert into timers select 'id-' || lpad(n::text, 6, '0'), 'nap-' || m, n * m
  from generate_series(1, 10000, 100) n, generate_series(1, 50) m;
  insert into owners values ('owner-0', now() + interval '1 hour'), ('owner-1', now() - interval '1 hour');
  insert into execution_tags select 'tag-' || n % 10, n, 'id-' || lpad(n::text, 6, '0') from generate_series(1, 10000) n;
  insert into search_values select case when n % 2 = 0 then 'order-' || n else 'paid' end, n, 'id-' || lpad(n::text, 6, '0'),
    'input', 'user-' || n % 500 from generate_series(1, 10000) n;
  insert into conversations (conversation_id, agent_id, user_id, created_at, updated_at)
  select 'talk-' || n, 'agent-' || n % 5, 'user-' || n % 500, n, n from generate_series(1, 10000) n;
  insert into messages select 'talk-' || n % 200, n, 'm-' || n, 'user', '{}', false, n from generate_series(1, 10000) n;
  insert into logs (id, node, timestamp, level, workflow_id, execution_id, agent_id, conversation_id, user_id, record)
  select n, 'node', n, case when n % 100 = 0 then 3 else 1 end, 'workflow-' || n % 20, 'id-' || n % 1000, 'agent-' || n % 5,
    'talk-' || n % 1000, 'user-' || n % 500, '{}' from generate_series(1, 10000) n;
  insert into trace_roots select 'trace-' || n, 'span-' || n, 'agent', 'agent-' || n % 20, 'id-' || n, 'user-' || n % 500, null,
    n, n, 'completed' from generate_series(1, 10000) n;
  insert into span_chunks (trace_id, root_span_id, timestamp, spans, node, number)
  select 'trace-' || n, 'span-' || n, n, '[]', 'node-' || n % 3, n from generate_series(1, 10000) n;
  reset search_path`;

interface Plan {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Actual Rows": number;
  readonly "Actual Loops": number;
  readonly "Rows Removed by Filter"?: number;
  readonly Plans?: readonly Plan[];
}

/** The nodes that walk a table or sort much. */
function problemsOf(plan: Plan): string[] {
  const { Plans: inside = [] } = plan;
  const type = plan["Node Type"];
  const walked = (plan["Actual Rows"] + (plan["Rows Removed by Filter"] ?? 0)) * plan["Actual Loops"];
  const sorted = inside.reduce((total, each) => total + each["Actual Rows"] * each["Actual Loops"], 0);
  return [
    ...(type === "Seq Scan" && walked > few ? [`walks ${plan["Relation Name"]}: ${walked} rows`] : []),
    ...(type === "Sort" && sorted > few ? [`sorts ${sorted} rows`] : []),
    ...inside.flatMap(problemsOf),
  ];
}

async function explain(statement: string, values: readonly unknown[]): Promise<string[]> {
  const { rows } = await client.query(`explain (analyze, format json) ${statement}`, [...values]);
  const [{ Plan: plan }] = rows[0]["QUERY PLAN"];
  return problemsOf(plan).map(
    (problem) => `${problem}: ${statement.replaceAll(/\s+/g, " ")} ${JSON.stringify(values)}`,
  );
}

/** Combinations of filters: each alone, and each pair. */
function pairs(filters: Readonly<Record<string, unknown>>): Record<string, unknown>[] {
  const names = Object.keys(filters);
  const pick = (...chosen: string[]) => Object.fromEntries(chosen.map((each) => [each, filters[each]]));
  return [{}, ...names.flatMap((one, index) => names.slice(index).map((two) => pick(one, two)))];
}

test("lists are read off an index", async () => {
  await client.query("analyze");
  const problems: string[] = [];
  const limit = 20;
  const at = { startAt: 5_000, executionId: "id-005000" };
  for (const status of ["running", "suspended", "error", "completed"]) {
    const filters = {
      status,
      workflowId: "workflow-3",
      userId: "user-7",
      tag: "tag-3",
      idPrefix: "id-004",
      from: 4_000,
      replayOf: "id-000403",
      parked: true,
    };
    for (const filter of pairs({ ...filters, to: 6_000, before: at, traced: true, traceId: "trace-400" })) {
      const { statement, values } = listStatement(s, { ...filter, limit });
      problems.push(...(await explain(statement, values)));
    }
  }
  const who = { workflowId: "workflow-3", executionId: "id-7", agentId: "agent-1", conversationId: "talk-3" };
  for (const filter of pairs({ ...who, userId: "user-7", level: 2, from: 4_000, upTo: 6_000 })) {
    const { statement, values } = logsStatement(s, { ...filter, limit });
    problems.push(...(await explain(statement, values)));
  }
  const root = {
    entityType: "agent",
    entityId: "agent-3",
    executionId: "id-7",
    userId: "user-7",
    status: "completed",
  };
  for (const filter of pairs({ ...root, from: 4_000, before: { startAt: 5_000, rootSpanId: "span-1" } })) {
    const { statement, values } = tracesStatement(s, { ...filter, limit });
    problems.push(...(await explain(statement, values)));
  }
  const before = { updatedAt: 5_000, conversationId: "talk-5000" };
  for (const filter of pairs({ userId: "user-7", agentId: "agent-1", before })) {
    const { statement, values } = conversationsStatement(s, { ...filter, limit });
    problems.push(...(await explain(statement, values)));
  }
  expect(problems).toEqual([]);
});

test("a search reads the first entries of a range off an index, those of one user off an index of its own", async () => {
  await client.query("analyze");
  await client.query(walking);
  const problems: string[] = [];
  const used = new Set<string>();
  for (const filter of pairs({ userId: "user-7", before: { startAt: 5_000, executionId: "id-005000" } })) {
    const query = { text: "order", limit: 20, ...filter };
    const range = { after: "order-1", before: "order-1\u{10ffff}" };
    for (const [statement, values] of [wholeStatement(s, query, "paid"), longerStatement(s, query, range)]) {
      problems.push(...(await explain(statement, values)));
      const { rows } = await client.query(`explain (format json) ${statement}`, [...values]);
      const plan = JSON.stringify(rows[0]["QUERY PLAN"]);
      used.add(`${"userId" in filter} ${/"Index Name":"(\w+)"/.exec(plan)?.[1]}`);
    }
  }
  await client.query("rollback");
  expect(problems).toEqual([]);
  expect([...used].sort()).toEqual(["false search_values_newest", "true search_values_by_user"]);
});

test("due timers are read off the indexes of times", async () => {
  await client.query("analyze");
  const workflows = Array.from({ length: 20 }, (_, n) => `workflow-${n}`);
  await client.query(walking);
  expect(await explain(dueStatement(s), [workflows, 20, workflows, -1])).toEqual([]);
  await client.query("rollback");
});

test("they are joined by id in tables that have grown since they were analyzed", async () => {
  const store = postgresStore({ url: server.url, schema: "grown" });
  await store.open();
  await store.close();
  await client.query(`begin; alter table grown.executions set (autovacuum_enabled = false);
    alter table grown.timers set (autovacuum_enabled = false);
    insert into grown.timers select 'other-' || n, 'nap', n from generate_series(1, 1000) n; analyze grown.timers;
    delete from grown.timers; commit; analyze grown.executions`);
  await client.query(`insert into grown.executions (execution_id, kind, workflow_id, status, context, start_at, sequence, idle)
    select 'id-' || n, 'workflow', 'workflow', 'running', '{}', n, 1, true from generate_series(1, 5000) n`);
  await client.query(
    "insert into grown.timers select execution_id, 'nap', start_at from grown.executions limit 200",
  );
  await client.query(walking);
  const { rows } = await client.query(`explain (analyze, format json) ${dueStatement("grown")}`, [
    ["workflow"],
    1000,
    [],
    -1,
  ]);
  await client.query("rollback");
  const [{ Plan: plan }] = rows[0]["QUERY PLAN"];
  expect(readBy(plan, "executions")).toBe(200);
});

/** Rows that a plan reads from a table. */
function readBy(plan: Plan, table: string): number {
  const own =
    plan["Relation Name"] === table ? plan["Actual Rows"] + (plan["Rows Removed by Filter"] ?? 0) : 0;
  return (plan.Plans ?? []).reduce((sum, each) => sum + readBy(each, table), own * plan["Actual Loops"]);
}

test("a fast commit finds its rows one after the other, in the order in which they are given", async () => {
  await client.query("analyze");
  await client.query(beginGroup({ idle: 1_000, lock: 1_000 }));
  const ids = Array.from({ length: 50 }, (_, n) => `id-${String((n + 1) * 100).padStart(6, "0")}`);
  const same = (value: unknown) => ids.map(() => value);
  const values = [
    ids,
    ...["token", 1, 3, 4, 0, true, "[]", "key", "running", null, null, null, null].map(same),
  ];
  const { rows } = await client.query(`explain (format json) ${fastStatement(s)}`, values);
  const plan = JSON.stringify(rows[0]["QUERY PLAN"]);
  expect(plan).toContain('"Node Type":"Nested Loop"');
  expect(plan).not.toMatch(/Hash Join|Merge Join|Seq Scan/);
  const { rows: moved } = await client.query(fastStatement(s), values);
  expect(moved).toHaveLength(50);
  await client.query("rollback");
});

test("abandoned executions and the rows of one execution are found without walking", async () => {
  await client.query("analyze");
  const workflows = Array.from({ length: 20 }, (_, n) => `workflow-${n}`);
  const id = "id-000101";
  const statements: [string, unknown[]][] = [
    [deadOwnersStatement(s), []],
    [claimsStatement(s), ["owner-0", 0, "", 1000]],
    [abandonedStatement(s), [["owner-1"], 2, false, workflows, ["agent"], [], 20]],
    [`select from ${s}.executions where execution_id = any($1)`, [[id, "id-2"]]],
    [
      `select from ${s}.executions where conversation_id = $1 and kind = 'turn' and end_at is null`,
      ["talk-7"],
    ],
    [
      `select from ${s}.journal where execution_id = $1 and sequence > $2 order by sequence limit $3`,
      [id, 1, 9],
    ],
    [`select from ${s}.suspensions where execution_id = $1 order by suspended_at, suspension_id`, [id]],
    [`select from ${s}.timers where execution_id = $1`, [id]],
    [`select from ${s}.messages where conversation_id = $1 order by sequence desc limit 20`, ["talk-7"]],
    [`select from ${s}.span_chunks where trace_id = $1`, ["trace-7"]],
    [
      `select from ${s}.executions where end_at is not null and kind = 'workflow' and (end_at, execution_id) <= ($1, $2)
       order by end_at, execution_id limit $3 for update skip locked`,
      [5_000, "id", 20],
    ],
    [spansElsewhereStatement(s), [5_000, "node", 20]],
    [`select from ${s}.logs where id < $1 order by id limit $2`, [5_000, 20]],
    [`select from ${s}.trace_roots where start_at < $1 order by start_at limit $2`, [5_000, 20]],
    [`select from ${s}.span_chunks where timestamp < $1 order by timestamp limit $2`, [5_000, 20]],
    [
      `select from ${s}.executions where status = 'suspended' and status <> 'running' and kind = 'workflow'`,
      [],
    ],
  ];
  const problems: string[] = [];
  for (const [statement, values] of statements) problems.push(...(await explain(statement, values)));
  expect(problems).toEqual([]);
});
