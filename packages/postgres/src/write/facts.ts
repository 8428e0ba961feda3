// What the operations of a group need to know beyond the rows of their executions: asked for together, read in one go.
import { integer, type Row, text } from "../columns.ts";
import type { Query } from "../connection/client.ts";

/** A write that stands in the journal already. */
export interface RecordedWrite {
  /** The number of its last event. */
  readonly sequence: number;
  readonly events: string;
  readonly key: string;
}

/** Events that others may have written since a write that is repeated. */
const farBack = 1_000;

export class Facts {
  readonly #schema: string;
  readonly #suspensionIds: string[] = [];
  readonly #containers: { readonly executionId: string; readonly path: string }[] = [];
  readonly #owners: string[] = [];
  readonly #sleepers: string[] = [];
  readonly #keys: { readonly executionId: string; readonly key: string }[] = [];
  readonly #open = new Map<string, { readonly executionId: string; readonly path: string | null }>();
  readonly #below = new Map<string, Set<string>>();
  readonly #alive = new Set<string>();
  readonly #dueAt = new Map<string, number>();
  readonly #recorded = new Map<string, RecordedWrite>();
  readonly #ends: string[] = [];
  readonly #lastAt = new Map<string, number>();
  readonly #wantedTimes: { readonly executionId: string; readonly sequence: number }[] = [];
  readonly #times = new Map<string, number>();

  constructor(schema: string) {
    this.#schema = schema;
  }

  /** Asks which of these suspensions are open. */
  askOpen(suspensionIds: readonly string[]): void {
    this.#suspensionIds.push(...suspensionIds);
  }

  /** Asks which suspensions of an execution are open at or below these steps. */
  askBelow(executionId: string, paths: readonly string[]): void {
    for (const path of paths) this.#containers.push({ executionId, path });
  }

  askAlive(owner: string): void {
    this.#owners.push(owner);
  }

  /** Asks for the earliest timer of an execution. */
  askDueAt(executionId: string): void {
    this.#sleepers.push(executionId);
  }

  /** Asks for the last write to a journal with one of these keys. */
  askRecorded(executionId: string, keys: readonly string[]): void {
    for (const key of keys) this.#keys.push({ executionId, key });
  }

  /** Asks for the time of the last event of a journal. */
  askLastAt(executionId: string): void {
    this.#ends.push(executionId);
  }

  /** Asks for the time of one event of a journal. */
  askTime(executionId: string, sequence: number): void {
    this.#wantedTimes.push({ executionId, sequence });
  }

  openSuspension(suspensionId: string) {
    return this.#open.get(suspensionId);
  }

  /** The suspensions that were asked for with `askBelow`. */
  below(executionId: string): readonly string[] {
    return [...(this.#below.get(executionId) ?? [])];
  }

  isAlive(owner: string): boolean {
    return this.#alive.has(owner);
  }

  dueAt(executionId: string): number | undefined {
    return this.#dueAt.get(executionId);
  }

  lastAt(executionId: string): number {
    return this.#lastAt.get(executionId) ?? 0;
  }

  /** The time of the event that was asked for with `askTime`; undefined where the journal has no such event. */
  time(executionId: string): number | undefined {
    return this.#times.get(executionId);
  }

  recorded(executionId: string): RecordedWrite | undefined {
    return this.#recorded.get(executionId);
  }

  /** Reads what was asked for, and nothing when nothing was. */
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
      // Only the time crosses the connection: a row may hold megabytes. `json` leaves what \u escapes stand for as it is.
      ask(
        this.#ends,
        `select execution_id, (journal.events::json -> -1 -> 1)::text::float8 as last_at
         from ${s}.executions join ${s}.journal using (execution_id, sequence) where execution_id = any($1)`,
        [this.#ends],
        (row) => {
          if (row.last_at !== null) this.#lastAt.set(text(row, "execution_id"), integer(row, "last_at"));
        },
      ),
      // The row that holds an event is the first that ends at or after its number; a negative index counts from the end.
      ask(
        this.#wantedTimes,
        `select wanted.execution_id,
           (found.events::json -> (wanted.sequence - found.sequence - 1)::integer -> 1)::text::float8 as at
         from unnest($1::text[], $2::bigint[]) as wanted (execution_id, sequence)
         cross join lateral (
           select journal.sequence, journal.events from ${s}.journal
           where journal.execution_id = wanted.execution_id and journal.sequence >= wanted.sequence
           order by journal.sequence limit 1) as found`,
        [this.#wantedTimes.map((each) => each.executionId), this.#wantedTimes.map((each) => each.sequence)],
        (row) => {
          if (row.at !== null) this.#times.set(text(row, "execution_id"), integer(row, "at"));
        },
      ),
      // Among the last: whoever repeats a write has made none since.
      ask(
        this.#keys,
        `select journal.execution_id, journal.sequence, journal.events, journal.write_key
         from unnest($1::text[], $2::text[]) as wanted (execution_id, write_key)
         join ${s}.executions using (execution_id)
         join ${s}.journal on journal.execution_id = wanted.execution_id and journal.write_key = wanted.write_key
           and journal.sequence > executions.sequence - ${farBack}
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
