// Lists, state, due times and claims with very many executions in the file, against few: operation by operation, on the
// thread that calls them, so that nothing but the database is measured.
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { migrate } from "../../packages/core/src/store/sqlite/migrate.ts";
import { ownReads, reads, writes } from "../../packages/core/src/store/sqlite/operations/index.ts";
import { median } from "../measure.ts";
import { paced } from "../pace.ts";
import type { Budget } from "../results.ts";

const workflowIds = ["w0", "w1", "w2", "w3"];
const few = 1000;
const calls = 200;

/**
 * Of a hundred executions 88 have completed and 4 failed, 3 wait at a gate with a deadline, 2 sleep, 3 are paused while
 * they sleep. Ten have work to do and no owner, however many there are.
 */
function fill(file: string, count: number): void {
  const database = new DatabaseSync(file);
  migrate(database);
  database.exec(`
    begin;
    create temp table made as
      with recursive number(n) as (select 0 union all select n + 1 from number where n + 1 < ${count})
      select n, printf('e-%07d', n) as id, 1700000000000 + n as start_at, n % 100 as part,
        'w' || (n % 4) as workflow_id, 'u' || (n / 4 % 4) as user_id, 't' || (n / 16 % 4) as tag
      from number;
    insert into executions (execution_id, workflow_id, status, input, context, user_id, start_at, end_at, result, sequence,
        open_suspensions, paused, idle, tags, timeout_at)
      select id, workflow_id,
        case when part < 88 then 'completed' when part < 92 then 'error' when part in (95, 96) then 'running'
          else 'suspended' end,
        '{"n":1}', '{}', user_id, start_at, iif(part < 92, start_at + 5, null), iif(part < 88, '{"n":2}', null), 5,
        part between 92 and 94 or part >= 97, part >= 97, part >= 92, '["' || tag || '"]', null
      from made;
    insert into execution_tags (tag, start_at, execution_id) select tag, start_at, id from made;
    insert into suspensions (suspension_id, execution_id, path, step_index, reason, suspended_at, deadline)
      select 's-' || id, id, 'gate', 0, 'gate', start_at, start_at + 1000000000 from made where part between 92 and 94;
    insert into timers (execution_id, path, due_at, held)
      select id, 'sleep', start_at + 2000000000, part >= 97 from made where part >= 95;
    insert into executions (execution_id, workflow_id, status, context, start_at, sequence)
      select 'x-' || n, workflow_id, 'running', '{}', start_at, 3 from made limit 10;
    drop table made;
    commit;
    analyze;
  `);
  database.close();
}

interface Question {
  readonly name: string;
  readonly ask: () => unknown;
}

function questions(file: string): { readonly asked: readonly Question[]; close(): void } {
  const database = new DatabaseSync(file);
  const { list, state, due, claimAbandoned } = {
    ...reads(database),
    ...ownReads(database),
    ...writes(database),
  };
  const page = { limit: 20 };
  let key = 0;
  const poll = { owner: "bench", workflowIds, suspects: false, suspectAfter: 2, limit: 10 };
  const asked = [
    { name: "list", ask: () => list(page) },
    { name: "list of a workflow", ask: () => list({ ...page, workflowId: "w1" }) },
    { name: "list of a status", ask: () => list({ ...page, status: "suspended" }) },
    { name: "list of a user", ask: () => list({ ...page, userId: "u1" }) },
    { name: "list of a tag", ask: () => list({ ...page, tag: "t1" }) },
    { name: "list of a tag and a workflow", ask: () => list({ ...page, tag: "t1", workflowId: "w1" }) },
    {
      name: "list of a workflow and a status",
      ask: () => list({ ...page, workflowId: "w0", status: "error" }),
    },
    { name: "list by the beginning of an id", ask: () => list({ ...page, idPrefix: "e-0000" }) },
    { name: "state", ask: () => state("e-0000094") },
    { name: "due", ask: () => due({ workflowIds, ...page }) },
    { name: "claim", ask: () => claimAbandoned({ ...poll, key: `key-${key++}` }) },
  ];
  return { asked, close: () => database.close() };
}

export async function rows(folder: string): Promise<Budget[]> {
  const many = paced({ quick: 20_000, short: 1_000_000, full: 1_000_000 });
  const [small, large] = [few, many].map((count) => {
    const file = path.join(folder, `rows-${count}.db`);
    fill(file, count);
    return questions(file);
  });
  if (small === undefined || large === undefined) return [];
  const ratios = small.asked.map(({ name, ask }, index) => {
    const other = large.asked[index];
    if (other === undefined) throw new Error(`${name} is asked of one file alone`);
    const times: [number[], number[]] = [[], []];
    for (let call = 0; call < calls; call++) {
      times[0].push(time(ask));
      times[1].push(time(other.ask));
    }
    return { name, few: median(times[0]), many: median(times[1]) };
  });
  small.close();
  large.close();
  const all = ratios.map(({ name, few: one, many: other }) => ({ name, one, other, ratio: other / one }));
  return all.map(({ name, one, other, ratio }) => ({
    name: `${name}, with ${many} executions against ${few}`,
    value: `${ratio.toFixed(2)} ×`,
    budget: "at most 2 ×",
    held: ratio <= 2,
    note: `${other.toFixed(3)} against ${one.toFixed(3)} ms`,
  }));
}

function time(ask: () => unknown): number {
  const start = performance.now();
  ask();
  return performance.now() - start;
}
