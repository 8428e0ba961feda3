// Copies Andante's SQLite file while the server runs:
//
//   node backup.mjs andante.db backups/andante-2026-11-15.db
//
// The copy is one moment of the database, however much is written meanwhile. It appears under its name when it is whole
// and was checked; one that is there already is not replaced. Plain JavaScript for Node 22.13 or later, without packages.
import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync, statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";

const [from, to] = process.argv.slice(2);
if (from === undefined || to === undefined) fail("Usage: node backup.mjs <database> <copy>");
if (!existsSync(from)) fail(`There is no database at ${from}`);
if (existsSync(to)) fail(`${to} exists: a backup does not replace another one`);

const unfinished = `${to}.unfinished`;
rmSync(unfinished, { force: true });
try {
  // Not SQLite's step-by-step backup: that starts over whenever something is written, and under load never ends.
  const source = new DatabaseSync(from, { readOnly: true });
  source.prepare("vacuum into ?").run(unfinished);
  source.close();
  const copy = new DatabaseSync(unfinished, { readOnly: true });
  const { integrity_check: integrity } = copy.prepare("pragma integrity_check").get() ?? {};
  copy.close();
  if (integrity !== "ok") throw new Error(`The copy is damaged: ${integrity}`);
  const file = openSync(unfinished, "r+");
  fsyncSync(file);
  closeSync(file);
  renameSync(unfinished, to);
} catch (error) {
  rmSync(unfinished, { force: true });
  fail(`${from} could not be copied: ${error instanceof Error ? error.message : error}`);
}
console.log(`${to}: ${statSync(to).size} bytes`);

function fail(problem) {
  console.error(problem);
  process.exit(1);
}
