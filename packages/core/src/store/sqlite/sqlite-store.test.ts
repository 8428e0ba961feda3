// The SQLite store: the shared cases, in memory and in a file.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, expect, test } from "vitest";
import { describeStore } from "../../store-cases/index.ts";
import type { Commit, EndTurn, Store } from "../store.ts";
import { memoryStore, sqliteStore } from "./sqlite-store.ts";

const folder = mkdtempSync(path.join(tmpdir(), "andante-store-"));
afterAll(() => rmSync(folder, { recursive: true }));

let files = 0;
const fileStore = () => sqliteStore({ path: path.join(folder, `${++files}.db`) });
describeStore("sqliteStore", fileStore);
describeStore("memoryStore", memoryStore);

/** Passes the expected sequence with every commit, as an engine does: most commits then take one statement. */
function sequencedStore(): Store {
  const store = memoryStore();
  const sequenced = async (commit: Commit): Promise<Commit> => {
    if (commit.after !== undefined) return commit;
    const after = (await store.state(commit.executionId))?.execution.sequence;
    return after === undefined ? commit : { ...commit, after };
  };
  const [commit, endTurn] = [store.commit.bind(store), store.endTurn.bind(store)];
  return Object.assign(store, {
    commit: async (bare: Commit) => commit(await sequenced(bare)),
    endTurn: async (end: EndTurn) => endTurn({ ...end, commit: await sequenced(end.commit) }),
  });
}
describeStore("memoryStore, with the expected sequence in every commit", sequencedStore);

test("the health of a store that is not open names this problem", async () => {
  const closed = { problem: "the store is not open", bytes: null };
  const store = memoryStore();
  expect(await store.health()).toMatchObject(closed);
  await store.open();
  await store.close();
  expect(await store.health()).toMatchObject(closed);
});
