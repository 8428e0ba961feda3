// A new file is made in one go: it has to be what the migrations make of an empty one.
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { apply, migrate, migrations } from "./migrate.ts";

/** Everything in the database's schema in the order that it was made in, without how its text was laid out. */
function schemaOf(database: DatabaseSync) {
  const rows = database.prepare("select type, name, tbl_name, sql from sqlite_schema order by rowid").all();
  return rows.map((row) => ({ ...row, sql: typeof row.sql === "string" ? words(row.sql) : row.sql }));
}

function words(sql: string): string {
  return sql
    .replace(/--.*/g, "")
    .replace(/\s+/g, " ")
    .replace(/ ?([(),]) ?/g, "$1")
    .replace(/^CREATE (TABLE|INDEX|UNIQUE INDEX) "?(\w+)"?/, "CREATE $1 $2")
    .trim();
}

test("schema.sql makes what the migrations make", () => {
  const migrated = new DatabaseSync(":memory:");
  for (const [index, name] of migrations().entries()) apply(migrated, name, index + 1);
  const made = new DatabaseSync(":memory:");
  migrate(made);
  expect(schemaOf(made)).toEqual(schemaOf(migrated));
  expect(made.prepare("pragma user_version").get()).toEqual(migrated.prepare("pragma user_version").get());
});

test("migrations put no rows into an empty file, so schema.sql needs none", () => {
  const database = new DatabaseSync(":memory:");
  for (const [index, name] of migrations().entries()) apply(database, name, index + 1);
  const tables = database.prepare("select name from sqlite_schema where type = 'table'").all();
  for (const { name } of tables) {
    expect(database.prepare(`select count(*) as rows from "${name}"`).get(), `${name}`).toEqual({ rows: 0 });
  }
});

test("an older file is migrated from where it is", () => {
  const older = new DatabaseSync(":memory:");
  for (const [index, name] of migrations().slice(0, 3).entries()) apply(older, name, index + 1);
  migrate(older);
  const made = new DatabaseSync(":memory:");
  migrate(made);
  expect(schemaOf(older)).toEqual(schemaOf(made));
});
