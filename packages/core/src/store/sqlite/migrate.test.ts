// Upgrades a database from older versions, which these tests make up: no release has left one yet.
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { migrate, readMigrations } from "./migrate.ts";

const first = "create table notes (id integer primary key, body text not null) strict";
const second = "alter table notes add column author text; create index notes_by_author on notes (author)";
const third = "update notes set author = 'unknown' where author is null; create table tags (name text)";

function versionOf(database: DatabaseSync): unknown {
  return database.prepare("pragma user_version").get()?.user_version;
}

function schemaOf(database: DatabaseSync) {
  return database.prepare("select type, name, tbl_name, sql from sqlite_schema order by name").all();
}

/** A file of the first made-up version, with a row. */
function olderDatabase(): DatabaseSync {
  const database = new DatabaseSync(":memory:");
  migrate(database, [first]);
  database.exec("insert into notes (body) values ('kept')");
  return database;
}

test("an older file keeps its rows and gets the tables of a new one", () => {
  const older = olderDatabase();
  migrate(older, [first, second, third]);
  const made = new DatabaseSync(":memory:");
  migrate(made, [first, second, third]);
  expect(schemaOf(older)).toEqual(schemaOf(made));
  expect([versionOf(older), versionOf(made)]).toEqual([3, 3]);
  expect(older.prepare("select * from notes").all()).toMatchObject([{ body: "kept", author: "unknown" }]);
});

test("an upgrade that fails leaves the last version that was complete, and the next start continues there", () => {
  const older = olderDatabase();
  const broken = "create table halfway (name text); insert into missing values (1)";
  expect(() => migrate(older, [first, second, broken])).toThrow("no such table: missing");
  expect(versionOf(older)).toBe(2);
  expect(schemaOf(older).map(({ name }) => name)).toEqual(["notes", "notes_by_author"]);
  migrate(older, [first, second, third]);
  expect(versionOf(older)).toBe(3);
});

test("a file of the newest version is left as it is", () => {
  const older = olderDatabase();
  migrate(older, [first, second]);
  const before = schemaOf(older);
  migrate(older, [first, second]);
  expect(schemaOf(older)).toEqual(before);
});

test("a file of a later release is refused", () => {
  const later = new DatabaseSync(":memory:");
  migrate(later, [...readMigrations(), second.replaceAll("notes", "logs")]);
  expect(() => migrate(later)).toThrow("its version is 2, but this release of Andante knows 1");
});

test("the migrations of this release put no rows into a new file", () => {
  const database = new DatabaseSync(":memory:");
  migrate(database);
  const tables = database.prepare("select name from sqlite_schema where type = 'table'").all();
  for (const { name } of tables)
    expect(database.prepare(`select count(*) as rows from "${name}"`).get(), `${name}`).toEqual({ rows: 0 });
});
