// Brings the schema up to date: numbered SQL files, each once, under one lock, however many nodes start at the same time.
import { readdirSync, readFileSync } from "node:fs";
import { integer } from "./columns.ts";
import { begin, type Query } from "./connection/client.ts";
import { wasLockedOut } from "./connection/trouble.ts";

const folder = new URL("./migrations/", import.meta.url);

interface Migration {
  readonly number: number;
  readonly name: string;
  readonly statements: string;
  /** The number of the newest migration that older code has to know in order to work beside this one. */
  readonly oldest: number;
}

export interface MigrateOptions {
  /** The name of the schema, and the same quoted. */
  readonly name: string;
  readonly schema: string;
  /** False: only reports the missing migrations. */
  readonly migrate: boolean;
  /** Default: those of this package. */
  readonly migrations?: readonly Migration[];
  /** Milliseconds after which the database ends a node that has frozen between two statements. Default: 10 000. */
  readonly frozenAfter?: number;
  /** Milliseconds that a table is waited for at a time, and for how long that is tried. Default: 2 000 and 60 000. */
  readonly lockPatience?: number;
  readonly patience?: number;
}

/** The advisory lock that is held while migrations run; the second number is the schema's. */
const lockName = 1_634_624_116;

/** Settings that would abort a migration; `transaction_timeout` is known from PostgreSQL 17 on. */
const roleLimits = ["statement_timeout", "lock_timeout", "transaction_timeout"];

/** Milliseconds until a table that was locked is tried again. */
const pause = 500;

export async function migrate(query: Query, options: MigrateOptions): Promise<void> {
  const known = options.migrations ?? readMigrations();
  const applied = await readApplied(query, options);
  if (applied !== undefined && missing(known, applied).length === 0) return checkNewer(known, applied);
  if (!options.migrate) {
    const numbers = missing(known, applied ?? []).map(({ number }) => number);
    throw new Error(
      `its schema lacks the migrations ${numbers.join(", ")}, and \`migrate\` is false: open it once with a user who may create tables`,
    );
  }
  const { patience = 60_000 } = options;
  const until = performance.now() + patience;
  while (!(await attempt(query, options, known, performance.now() >= until)))
    await new Promise((resolve) => setTimeout(resolve, pause));
}

/** False when another client keeps a table locked, or both wait for each other: then the others come first. */
async function attempt(
  query: Query,
  options: MigrateOptions,
  known: readonly Migration[],
  isLast: boolean,
): Promise<boolean> {
  // Its locks keep every other node from starting, and from working where tables are altered.
  const { frozenAfter = 10_000, lockPatience = 2_000 } = options;
  await query(`${begin}; set local idle_in_transaction_session_timeout = ${frozenAfter}`);
  try {
    // Limits of a role are for requests: a migration walks whole tables, and waits for other nodes.
    await query("select set_config(name, '0', true) from pg_settings where name = any($1)", [roleLimits]);
    await query("select pg_advisory_xact_lock($1, hashtext($2))", [lockName, options.name]);
    await query(`set local lock_timeout = ${lockPatience}`);
    await apply(query, options, known);
    await query("commit");
    return true;
  } catch (error) {
    await query("rollback").catch(() => {});
    if (isLast || !wasLockedOut(error)) throw error;
    return false;
  }
}

async function apply(query: Query, options: MigrateOptions, known: readonly Migration[]): Promise<void> {
  const { schema, name } = options;
  // Not `if not exists`: that needs the privilege to create schemas also when there is nothing to create.
  const { count } = await query("select from pg_namespace where nspname = $1", [name]);
  if (count === 0) await query(`create schema ${schema}`);
  await query(`set local search_path to ${schema}`);
  let applied = await readApplied(query, options);
  if (applied === undefined) {
    await query(`create table migrations (
      number integer primary key,
      name text not null,
      oldest integer not null,
      applied_at timestamptz not null default now())`);
    applied = [];
  }
  checkNewer(known, applied);
  for (const { number, name: file, statements, oldest } of missing(known, applied)) {
    await query(statements);
    await query("insert into migrations (number, name, oldest) values ($1, $2, $3)", [number, file, oldest]);
  }
}

type Applied = readonly { readonly number: number; readonly oldest: number }[];

/** Undefined when the schema holds no tables of ours. */
async function readApplied(query: Query, { name, schema }: MigrateOptions): Promise<Applied | undefined> {
  const { count } = await query(
    `select from pg_class join pg_namespace on pg_namespace.oid = relnamespace
     where nspname = $1 and relname = 'migrations'`,
    [name],
  );
  if (count === 0) return undefined;
  const { rows } = await query(`select number, oldest from ${schema}.migrations order by number`);
  return rows.map((row) => ({ number: integer(row, "number"), oldest: integer(row, "oldest") }));
}

function missing(known: readonly Migration[], applied: Applied): readonly Migration[] {
  const numbers = new Set(applied.map(({ number }) => number));
  return known.filter(({ number }) => !numbers.has(number));
}

/** A later release has migrated the schema: this one works beside it, unless a migration forbids it. */
function checkNewer(known: readonly Migration[], applied: Applied): void {
  const newest = known.at(-1)?.number ?? 0;
  const tooNew = applied.find(({ number, oldest }) => number > newest && oldest > newest);
  if (tooNew === undefined) return;
  throw new Error(
    `its schema has the migration ${tooNew.number}, which works only with releases of Andante that know migration ${tooNew.oldest}; this one knows ${newest}: use a newer release`,
  );
}

export function readMigrations(): readonly Migration[] {
  return readdirSync(folder)
    .filter((name) => /^\d{4}-.*\.sql$/.test(name))
    .sort()
    .map((name) => {
      const statements = readFileSync(new URL(name, folder), "utf8");
      const oldest = Number(/^-- oldest: (\d+)$/m.exec(statements)?.[1]);
      return { number: Number.parseInt(name, 10), name, statements, oldest };
    });
}
