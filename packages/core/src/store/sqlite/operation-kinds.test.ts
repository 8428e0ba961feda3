// Which operations are refused while the storage is in trouble or busy, and which may be repeated: all but a few.
import { expect, test } from "vitest";
import { openForWriting } from "./open-database.ts";
import { forCallers, intake, repeatable } from "./operation-kinds.ts";
import { ownReads, reads, writes } from "./operations/index.ts";

const { database, close } = openForWriting({ path: ":memory:", maxBytes: null });
const written = Object.keys(writes(database)).sort();
const read = [...Object.keys(reads(database)), ...Object.keys(ownReads(database))].sort();
close();

const except = (names: readonly string[], ...others: string[]) => {
  expect(names).toEqual(expect.arrayContaining(others));
  return names.filter((name) => !others.includes(name));
};

test("every write that its caller can repeat is refused at once while the storage is in trouble", () => {
  expect([...intake].sort()).toEqual(except(written, "commit", "endTurn", "release"));
});

test("every operation may be repeated, except where the second result would differ", () => {
  const all = [...written, ...read, "health"].sort();
  expect([...repeatable].sort()).toEqual(except(all, "deleteFinished", "approvalSecret"));
});

test("reads for callers are refused while too many wait, those of the engine are not", () => {
  const ofEngine = ["claims", "countUnfinished", "due", "endedBeyond", "events", "heads", "keepFrom"];
  const ofEvents = ["findSignals", "signalWaits", "signalWork", "readSignal", "signalBySeq"];
  expect([...forCallers].sort()).toEqual(
    except(
      read,
      ...ofEngine,
      ...ofEvents,
      "declaredSets",
      "leftQueues",
      "outline",
      "readSchedule",
      "snapshot",
    ),
  );
});
