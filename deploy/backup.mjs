// Copies Andante's SQLite file while the server runs:
//
//   node backup.mjs andante.db backups/andante-2026-11-15.db
//
// The copy is one moment of the database, however much is written meanwhile. It appears under its name when it is whole
// and was checked; one that is there already is not replaced. Its folder is made where it is missing, and only the user
// who runs this may read what is made. Plain JavaScript for Node 22.13 or later, without packages.
import {
  createReadStream,
  createWriteStream,
  existsSync,
  mkdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { open } from "node:fs/promises";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { pipeline } from "node:stream/promises";

const [given, target] = process.argv.slice(2);
if (given === undefined || target === undefined) fail("Usage: node backup.mjs <database> <copy>");
if (!existsSync(given)) fail(`There is no database at ${given}`);
// The file itself: what is written beside it is beside that, not beside a link to it.
const from = realpathSync(given);
// Whole paths: SQLite reads one that begins with "file:" as an address.
const to = path.resolve(target);
if (existsSync(to)) fail(`${to} exists: a backup does not replace another one`);

process.umask(0o077);
const unfinished = `${to}.unfinished`;
try {
  mkdirSync(path.dirname(to), { recursive: true });
  removeUnfinished();
  if (!(await copyClosed())) copyOpen();
  const copy = new DatabaseSync(unfinished);
  // Otherwise whoever only reads the copy would leave files beside it.
  copy.exec("pragma journal_mode = delete");
  const { integrity_check: integrity } = copy.prepare("pragma integrity_check").get() ?? {};
  copy.close();
  if (integrity !== "ok") throw new Error(`The copy is damaged: ${integrity}`);
  const file = await open(unfinished, "r+");
  await file.sync();
  await file.close();
  renameSync(unfinished, to);
} catch (error) {
  removeUnfinished();
  fail(`${from} could not be copied: ${error instanceof Error ? error.message : error}`);
}
console.log(`${to}: ${statSync(to).size} bytes`);

function removeUnfinished() {
  for (const beside of ["", "-wal", "-shm", "-journal"]) rmSync(unfinished + beside, { force: true });
}

/**
 * Without `-wal` nobody has the database open and the file is all of it. SQLite would make `-wal` and `-shm` to read it
 * and leave them behind, and a server that runs as another user could not write them at its next start. False when it
 * is open, or was opened meanwhile.
 */
async function copyClosed() {
  const before = closedState();
  if (before === undefined) return false;
  await pipeline(createReadStream(from), createWriteStream(unfinished));
  if (closedState() === before) return true;
  rmSync(unfinished);
  return false;
}

function closedState() {
  if (existsSync(`${from}-wal`) || existsSync(`${from}-journal`)) return undefined;
  const { ino, size, mtimeNs } = statSync(from, { bigint: true });
  return `${ino} ${size} ${mtimeNs}`;
}

/** Not SQLite's step-by-step backup: that starts over whenever something is written, and under load never ends. */
function copyOpen() {
  const source = new DatabaseSync(from, { readOnly: true });
  source.prepare("vacuum into ?").run(unfinished);
  source.close();
}

function fail(problem) {
  console.error(problem);
  process.exit(1);
}
