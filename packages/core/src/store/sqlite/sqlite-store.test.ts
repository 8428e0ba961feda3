// The SQLite store: the shared cases, in memory and in a file.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll } from "vitest";
import { conversationCases } from "../../../test/store-cases/conversation-cases.ts";
import { definitionCases } from "../../../test/store-cases/definition-cases.ts";
import { observationCases } from "../../../test/store-cases/observation-cases.ts";
import { storeCases } from "../../../test/store-cases/store-cases.ts";
import { timerCases } from "../../../test/store-cases/timer-cases.ts";
import { memoryStore, sqliteStore } from "./sqlite-store.ts";

const folder = mkdtempSync(path.join(tmpdir(), "andante-store-"));
afterAll(() => rmSync(folder, { recursive: true }));

let files = 0;
const fileStore = () => sqliteStore({ path: path.join(folder, `${++files}.db`) });
for (const cases of [storeCases, timerCases, definitionCases, conversationCases, observationCases]) {
  cases("sqliteStore", fileStore);
  cases("memoryStore", memoryStore);
}
