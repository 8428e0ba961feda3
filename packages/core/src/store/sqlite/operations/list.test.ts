// Lists of executions: the rows of every combination of filters, and the index that a page is read from.
import { DatabaseSync } from "node:sqlite";
import { afterAll, expect, test, vi } from "vitest";
import type { ExecutionStatus, ListQuery } from "../../store.ts";
import { migrate } from "../migrate.ts";
import { list } from "./list.ts";

const database = new DatabaseSync(":memory:");
migrate(database);
afterAll(() => database.close());
const read = list(database);

interface Listed {
  readonly executionId: string;
  readonly workflowId: string;
  readonly status: ExecutionStatus;
  readonly userId: string;
  readonly startAt: number;
  readonly tags: readonly string[];
  readonly trace: string | null;
}

const choose = <Value>(values: readonly [Value, ...Value[]], number: number): Value =>
  values.at(number % values.length) ?? values[0];

/** Several have the same time; ids are in another order than times. */
const rows: readonly Listed[] = Array.from({ length: 48 }, (_, number) => ({
  executionId: `${choose(["a", "a%", "b"], number)}${(number * 7) % 48}`,
  workflowId: choose(["w", "v"], number),
  status: choose(["running", "suspended", "completed", "error", "cancelled"] as const, number),
  userId: choose(["ada", "bob", "cy"], Math.floor(number / 2)),
  startAt: 100 + Math.floor(number / 3),
  tags: choose([[], ["red"], ["red", "blue"]], Math.floor(number / 3)),
  trace: choose([null, "", "t1", "t2"], Math.floor(number / 5)),
}));

const insert = database.prepare(
  `insert into executions (execution_id, workflow_id, status, context, user_id, start_at, sequence, tags, trace, kind)
   values (?, ?, ?, '{}', ?, ?, 1, ?, ?, ?)`,
);
const tag = database.prepare("insert into execution_tags (tag, start_at, execution_id) values (?, ?, ?)");
for (const { executionId, workflowId, status, userId, startAt, tags, trace } of rows) {
  insert.run(executionId, workflowId, status, userId, startAt, JSON.stringify(tags), trace, "workflow");
  for (const each of tags) tag.run(each, startAt, executionId);
}
insert.run("a-turn", "w", "running", "ada", 105, null, null, "turn");

const fits = (row: Listed, query: ListQuery): boolean =>
  (query.workflowId === undefined || row.workflowId === query.workflowId) &&
  (query.status === undefined || row.status === query.status) &&
  (query.userId === undefined || row.userId === query.userId) &&
  (query.tag === undefined || row.tags.includes(query.tag)) &&
  (query.idPrefix === undefined || row.executionId.startsWith(query.idPrefix)) &&
  (query.executionId === undefined || row.executionId === query.executionId) &&
  (query.traced === undefined || row.trace !== null) &&
  (query.traceId === undefined || (row.trace === query.traceId && row.trace !== "")) &&
  (query.from === undefined || row.startAt >= query.from) &&
  (query.to === undefined || row.startAt < query.to);

/** Ids that begin alike are in their own order, unless another filter leaves fewer. */
const isById = ({ idPrefix, tag: tagged, userId, executionId, traceId }: ListQuery) =>
  idPrefix !== undefined &&
  tagged === undefined &&
  (userId === undefined || executionId !== undefined || traceId !== undefined);

function expected(query: ListQuery): string[] {
  const byId = (one: Listed, other: Listed) => (one.executionId < other.executionId ? 1 : -1);
  const byTime = (one: Listed, other: Listed) => other.startAt - one.startAt || byId(one, other);
  const order = isById(query) ? byId : byTime;
  const { before } = query;
  const sorted = rows.filter((row) => fits(row, query)).sort(order);
  const left = sorted.filter((row) => before === undefined || order({ ...row, ...before }, row) < 0);
  return left.slice(0, query.limit).map(({ executionId }) => executionId);
}

const filters: readonly Omit<ListQuery, "limit">[] = [
  ...[{}, { workflowId: "w" }, { status: "running" }, { status: "suspended" }, { status: "completed" }],
  ...[{ userId: "ada" }, { tag: "red" }, { tag: "blue" }, { idPrefix: "a%" }, { idPrefix: "a" }],
  ...[{ executionId: "a7" }, { traced: true }, { traceId: "t1" }, { traceId: "" }],
  ...[{ from: 105 }, { to: 105 }, { from: 103, to: 110 }, { before: { startAt: 106, executionId: "a%5" } }],
] as const;

test("a page has the rows that fit all filters, newest first", () => {
  const differences: unknown[] = [];
  for (const one of filters) {
    for (const two of filters) {
      for (const limit of [3, 100]) {
        const query = { ...one, ...two, limit };
        const found = read(query).map(({ executionId }) => executionId);
        if (JSON.stringify(found) !== JSON.stringify(expected(query)))
          differences.push([query, found, expected(query)]);
      }
    }
  }
  expect(differences).toEqual([]);
  expect(expected({ limit: 100 })).toHaveLength(48);
});

test("a page ends with the row that makes it long enough", () => {
  expect(read({ limit: 10, length: 1 })).toHaveLength(1);
  expect(read({ limit: 10 })).toHaveLength(10);
});

const long = "0123456789012";

test.each<[string, Omit<ListQuery, "limit">]>([
  ["executions indexed by executions_by_start", {}],
  ["executions indexed by executions_by_start", { from: 1, to: 2, traced: true }],
  ["executions indexed by executions_by_workflow", { workflowId: "w" }],
  ["executions indexed by executions_by_workflow", { workflowId: "w", status: "completed" }],
  ["executions indexed by executions_by_status", { status: "completed" }],
  ["executions indexed by executions_by_status", { workflowId: "w", status: "error" }],
  ["executions indexed by executions_running", { workflowId: "w", status: "running" }],
  ["executions indexed by executions_by_trace", { traceId: "t", status: "running" }],
  ["executions indexed by executions_by_trace", { traceId: "t", userId: "ada" }],
  ["executions indexed by sqlite_autoindex_executions_1", { idPrefix: "a", traceId: "t" }],
  ["executions indexed by sqlite_autoindex_executions_1", { executionId: "a", status: "running" }],
  ["executions indexed by sqlite_autoindex_executions_1", { executionId: "a", userId: "ada" }],
  ["executions indexed by sqlite_autoindex_executions_1", { idPrefix: long, userId: "ada" }],
  ["executions indexed by executions_by_user", { idPrefix: long.slice(1), userId: "ada" }],
  ["executions indexed by executions_by_user", { userId: "ada", tag: "red", status: "running" }],
  ["execution_tags cross join executions using (start_at, execution_id)", { tag: "red", idPrefix: "a" }],
  ["execution_tags cross join executions using (start_at, execution_id)", { tag: "red", workflowId: "w" }],
])("the rows come from %s for %o", (source, query) => {
  const prepare = vi.spyOn(database, "prepare");
  read({ ...query, limit: 1 });
  const statement = String(prepare.mock.calls[0]?.[0]);
  prepare.mockRestore();
  expect(statement).toContain(` from ${source} where `);
});
