// The changes that the decisions of a group make: collected item by item, written with few statements.
import {
  type BudgetCharge,
  type Changes,
  type ExecutionRecord,
  type FactChange,
  mergeEntries,
  type Outcome,
  rowText,
  type StoredSchedule,
  type Suspension,
  type Timer,
  type UsageEntry,
  type WrittenEvent,
} from "@andante/core/store";
import { writeFreeText } from "../columns.ts";
import type { Statement } from "../connection/parameters.ts";
import { chargeStatement } from "./budgets.ts";
import { updateRows, valuesOf } from "./row.ts";
import { type KeptWork, keptWorkStatement } from "./signal-work.ts";
import { spendStatement } from "./usage.ts";

/** Puts executions into the queue of the index of values. */
export function queueStatement(s: string): string {
  return `insert into ${s}.search_queue (execution_id) select * from unnest($1::text[])`;
}

/** Keeps changes; those that are there already stay as they are. */
export function factStatement(s: string, changes: readonly FactChange[]): Statement {
  return [
    `insert into ${s}.facts (scope, subject, agent_id, at, change_id, patch, changed_by, changes)
     select *, 1 from unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::text[], $6::text[], $7::text[])
     on conflict do nothing`,
    [
      changes.map(({ scope }) => scope),
      changes.map(({ subject }) => subject),
      changes.map(({ agentId }) => agentId),
      changes.map(({ at }) => at),
      changes.map(({ changeId }) => changeId),
      changes.map(({ patch }) => patch),
      changes.map(({ by }) => by),
    ],
  ];
}

/** Keeps deliveries; those that are there already stay as they are. */
function deliveryStatement(s: string, rows: readonly StoredSchedule[]): Statement {
  return [
    `insert into ${s}.schedules (schedule_id, kind, workflow_id, user_id, due_at, version, body, occurrences)
     select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[], $7::text[], $8::text[])
     on conflict do nothing`,
    [
      rows.map(({ scheduleId }) => scheduleId),
      rows.map(({ kind }) => kind),
      rows.map(({ workflowId }) => workflowId),
      rows.map(({ userId }) => userId),
      rows.map(({ dueAt }) => dueAt),
      rows.map(({ version }) => version),
      rows.map(({ body }) => body),
      rows.map(({ occurrences }) => occurrences),
    ],
  ];
}

export class CollectedChanges implements Changes {
  readonly #records: ExecutionRecord[] = [];
  readonly #ends: (Outcome & { readonly executionId: string })[] = [];
  readonly #journal: { executionId: string; sequence: number; events: string; key: string }[] = [];
  readonly #facts: FactChange[] = [];
  readonly #works: KeptWork[] = [];
  readonly #closed: string[] = [];
  readonly #closedAll: string[] = [];
  readonly #opened: { executionId: string; suspension: Suspension; held: boolean }[] = [];
  readonly #cleared: { executionId: string; path: string }[] = [];
  readonly #clearedAll: string[] = [];
  readonly #timers: { executionId: string; timer: Timer }[] = [];
  readonly #held: string[] = [];
  readonly #released: string[] = [];
  readonly #moved = new Map<string, number>();
  readonly #spent: UsageEntry[] = [];
  readonly #charges: BudgetCharge[] = [];
  readonly #deliveries: StoredSchedule[] = [];

  update(record: ExecutionRecord): void {
    this.#records.push(record);
  }

  end(executionId: string, outcome: Outcome): void {
    this.#ends.push({ executionId, ...outcome });
  }

  append(executionId: string, last: number, events: readonly WrittenEvent[], key: string): void {
    this.#journal.push({ executionId, sequence: last + events.length, events: rowText(last, events), key });
  }

  open(executionId: string, suspension: Suspension, held: boolean): void {
    this.#opened.push({ executionId, suspension, held });
  }

  remember(change: FactChange): void {
    this.#facts.push(change);
  }

  keepWork(works: readonly KeptWork[]): void {
    this.#works.push(...works);
  }

  close(suspensionIds: readonly string[]): void {
    this.#closed.push(...suspensionIds);
  }

  closeAll(executionId: string): void {
    this.#closedAll.push(executionId);
  }

  setTimer(executionId: string, timer: Timer): void {
    this.#timers.push({ executionId, timer });
  }

  clearTimer(executionId: string, path: string): void {
    this.#cleared.push({ executionId, path });
  }

  clearTimers(executionId: string): void {
    this.#clearedAll.push(executionId);
  }

  hold(executionId: string, held: boolean): void {
    (held ? this.#held : this.#released).push(executionId);
  }

  moveTimeout(executionId: string, by: number): void {
    this.#moved.set(executionId, (this.#moved.get(executionId) ?? 0) + by);
  }

  spend(_: string, entries: readonly UsageEntry[]): void {
    this.#spent.push(...entries);
  }

  deliver(row: StoredSchedule): void {
    this.#deliveries.push(row);
  }

  charge(charges: readonly BudgetCharge[]): void {
    this.#charges.push(...charges);
  }

  /** The statements, in the order in which they have to run. */
  statements(s: string): Statement[] {
    const found: Statement[] = [];
    const add = (what: readonly unknown[], statement: string, values: readonly unknown[]) => {
      if (what.length > 0) found.push([statement, values]);
    };
    add(this.#closedAll, `delete from ${s}.suspensions where execution_id = any($1)`, [this.#closedAll]);
    add(this.#closed, `delete from ${s}.suspensions where suspension_id = any($1)`, [this.#closed]);
    if (this.#opened.length > 0) found.push(this.#openStatement(s));
    if (this.#facts.length > 0) found.push(factStatement(s, this.#facts));
    if (this.#works.length > 0) found.push(keptWorkStatement(s, this.#works));
    add(this.#clearedAll, `delete from ${s}.timers where execution_id = any($1)`, [this.#clearedAll]);
    add(
      this.#cleared,
      `delete from ${s}.timers using unnest($1::text[], $2::text[]) as gone (execution_id, path)
       where timers.execution_id = gone.execution_id and timers.path = gone.path`,
      [this.#cleared.map((each) => each.executionId), this.#cleared.map((each) => each.path)],
    );
    add(
      this.#timers,
      `insert into ${s}.timers (execution_id, path, due_at)
       select * from unnest($1::text[], $2::text[], $3::bigint[])
       on conflict (execution_id, path) do update set due_at = excluded.due_at`,
      [
        this.#timers.map((each) => each.executionId),
        this.#timers.map((each) => each.timer.path),
        this.#timers.map((each) => each.timer.dueAt),
      ],
    );
    for (const [ids, held] of [
      [this.#held, true],
      [this.#released, false],
    ] as const) {
      add(ids, `update ${s}.timers set held = ${held} where execution_id = any($1)`, [ids]);
      add(ids, `update ${s}.suspensions set held = ${held} where execution_id = any($1)`, [ids]);
    }
    add(
      [...this.#moved],
      `update ${s}.executions set timeout_at = timeout_at + moved.by
       from unnest($1::text[], $2::bigint[]) as moved (execution_id, by)
       where executions.execution_id = moved.execution_id and timeout_at is not null`,
      [[...this.#moved.keys()], [...this.#moved.values()]],
    );
    add(this.#records, updateRows(s), valuesOf(this.#records));
    add(
      this.#ends,
      `update ${s}.executions set result = ended.result, result_at = ended.result_at, error = ended.error
       from unnest($1::text[], $2::text[], $3::bigint[], $4::text[]) as ended (execution_id, result, result_at, error)
       where executions.execution_id = ended.execution_id`,
      [
        this.#ends.map((each) => each.executionId),
        this.#ends.map((each) => each.result),
        this.#ends.map((each) => each.resultAt),
        this.#ends.map((each) => each.error),
      ],
    );
    add(
      this.#journal,
      `insert into ${s}.journal (execution_id, sequence, events, write_key)
       select * from unnest($1::text[], $2::bigint[], $3::text[], $4::text[])`,
      [
        this.#journal.map((each) => each.executionId),
        this.#journal.map((each) => each.sequence),
        this.#journal.map((each) => each.events),
        this.#journal.map((each) => each.key),
      ],
    );
    const changed = [...this.#opened, ...this.#ends].map(({ executionId }) => executionId);
    add(changed, queueStatement(s), [changed]);
    if (this.#deliveries.length > 0) found.push(deliveryStatement(s, this.#deliveries));
    // Last, because other connections change the same rows.
    if (this.#spent.length > 0) found.push(spendStatement(s, mergeEntries(this.#spent)));
    if (this.#charges.length > 0) found.push(chargeStatement(s, this.#charges));
    return found;
  }

  #openStatement(s: string): Statement {
    const opened = this.#opened;
    return [
      `insert into ${s}.suspensions (suspension_id, execution_id, path, step_index, reason, data, suspended_at, deadline,
         on_deadline, held, resume_schema, awaits, recipient)
       select * from unnest($1::text[], $2::text[], $3::text[], $4::integer[], $5::text[], $6::text[], $7::bigint[],
         $8::bigint[], $9::text[], $10::boolean[], $11::text[], $12::text[],
         $13::text[])`,
      [
        opened.map(({ suspension }) => suspension.suspensionId),
        opened.map(({ executionId }) => executionId),
        opened.map(({ suspension }) => suspension.path),
        opened.map(({ suspension }) => suspension.stepIndex),
        opened.map(({ suspension }) => writeFreeText(suspension.reason)),
        opened.map(({ suspension }) => suspension.data),
        opened.map(({ suspension }) => suspension.suspendedAt),
        opened.map(({ suspension }) => suspension.deadline),
        opened.map(({ suspension }) => suspension.onDeadline),
        opened.map(({ held }) => held),
        opened.map(({ suspension }) => suspension.resumeSchema ?? null),
        opened.map(({ suspension }) => suspension.awaits ?? null),
        opened.map(({ suspension }) => suspension.to ?? null),
      ],
    ];
  }
}
