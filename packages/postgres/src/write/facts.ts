// The facts that the decisions of a group request, read together.
import { type FactRequests, type Facts, lookback, type RecordedWrite } from "@andante/core/store";
import { integer, type Row, text } from "../columns.ts";
import type { Query } from "../connection/client.ts";

export class GroupFacts {
  readonly #schema: string;
  readonly #suspensionIds: string[] = [];
  readonly #containers: { readonly executionId: string; readonly path: string }[] = [];
  readonly #owners: string[] = [];
  readonly #sleepers: string[] = [];
  readonly #keys: { readonly executionId: string; readonly key: string }[] = [];
  readonly #events: { readonly executionId: string; readonly sequence: number }[] = [];
  readonly #open = new Map<string, { readonly executionId: string; readonly path: string | null }>();
  readonly #below = new Map<string, Set<string>>();
  readonly #alive = new Set<string>();
  readonly #dueAt = new Map<string, number>();
  readonly #recorded = new Map<string, RecordedWrite>();
  readonly #times = new Map<string, number>();

  readonly requests: FactRequests = {
    openSuspensions: (suspensionIds) => this.#suspensionIds.push(...suspensionIds),
    below: (executionId, paths) => {
      for (const path of paths) this.#containers.push({ executionId, path });
    },
    isAlive: (owner) => this.#owners.push(owner),
    dueAt: (executionId) => this.#sleepers.push(executionId),
    timeOf: (executionId, sequence) => this.#events.push({ executionId, sequence }),
    recorded: (executionId, keys) => {
      for (const key of keys) this.#keys.push({ executionId, key });
    },
  };

  /** Those that were requested before `read`. A group holds one write of an execution, so its id is enough of a key. */
  readonly facts: Facts = {
    openSuspension: (suspensionId) => this.#open.get(suspensionId),
    below: (executionId) => [...(this.#below.get(executionId) ?? [])],
    isAlive: (owner) => this.#alive.has(owner),
    dueAt: (executionId) => this.#dueAt.get(executionId),
    timeOf: (executionId) => this.#times.get(executionId),
    recorded: (executionId) => this.#recorded.get(executionId),
  };

  constructor(schema: string) {
    this.#schema = schema;
  }

  /** Reads the requested facts, with one statement for each kind that was requested. */
  async read(query: Query): Promise<void> {
    const reads: Promise<void>[] = [];
    const ask = async (wanted: unknown[], statement: string, values: unknown[], keep: (row: Row) => void) => {
      if (wanted.length === 0) return;
      for (const row of (await query(statement, values)).rows) keep(row);
    };
    const s = this.#schema;
    reads.push(
      ask(
        this.#suspensionIds,
        `select suspension_id, execution_id, path from ${s}.suspensions where suspension_id = any($1)`,
        [this.#suspensionIds],
        (row) =>
          this.#open.set(text(row, "suspension_id"), {
            executionId: text(row, "execution_id"),
            path: row.path === null ? null : text(row, "path"),
          }),
      ),
      // A path is below a step when the step's path and a "/", "[" or "#" begin it; `left` needs no escaping.
      ask(
        this.#containers,
        `select suspension_id, execution_id from unnest($1::text[], $2::text[]) as container (execution_id, path)
         join ${s}.suspensions using (execution_id)
         where suspensions.path = container.path or left(suspensions.path, length(container.path) + 1)
           in (container.path || '/', container.path || '[', container.path || '#')`,
        [this.#containers.map((each) => each.executionId), this.#containers.map((each) => each.path)],
        (row) => {
          const executionId = text(row, "execution_id");
          const ids = this.#below.get(executionId) ?? new Set();
          this.#below.set(executionId, ids.add(text(row, "suspension_id")));
        },
      ),
      ask(
        this.#owners,
        `select owner from ${s}.owners where owner = any($1) and expires_at > clock_timestamp()`,
        [this.#owners],
        (row) => this.#alive.add(text(row, "owner")),
      ),
      ask(
        this.#sleepers,
        `select execution_id, min(due_at) as due_at from ${s}.timers where execution_id = any($1) group by execution_id`,
        [this.#sleepers],
        (row) => this.#dueAt.set(text(row, "execution_id"), integer(row, "due_at")),
      ),
      // Only the time crosses the connection: a row may hold megabytes. `json` does not interpret \u escapes.
      // The row that holds an event is the first that ends at or after its number; a negative index counts from the end.
      ask(
        this.#events,
        `select wanted.execution_id,
           (found.events::json -> (wanted.sequence - found.sequence - 1)::integer -> 1)::text::float8 as at
         from unnest($1::text[], $2::bigint[]) as wanted (execution_id, sequence)
         cross join lateral (
           select journal.sequence, journal.events from ${s}.journal
           where journal.execution_id = wanted.execution_id and journal.sequence >= wanted.sequence
           order by journal.sequence limit 1) as found`,
        [this.#events.map((each) => each.executionId), this.#events.map((each) => each.sequence)],
        (row) => {
          if (row.at !== null) this.#times.set(text(row, "execution_id"), integer(row, "at"));
        },
      ),
      // Among the last events: a caller that repeats a write has made none since.
      ask(
        this.#keys,
        `select journal.execution_id, journal.sequence, journal.events, journal.write_key
         from unnest($1::text[], $2::text[]) as wanted (execution_id, write_key)
         join ${s}.executions using (execution_id)
         join ${s}.journal on journal.execution_id = wanted.execution_id and journal.write_key = wanted.write_key
           and journal.sequence > executions.sequence - ${lookback}
         order by journal.sequence`,
        [this.#keys.map((each) => each.executionId), this.#keys.map((each) => each.key)],
        (row) =>
          this.#recorded.set(text(row, "execution_id"), {
            sequence: integer(row, "sequence"),
            events: text(row, "events"),
            key: text(row, "write_key"),
          }),
      ),
    );
    const results = await Promise.allSettled(reads);
    for (const result of results) if (result.status === "rejected") throw result.reason;
  }
}
