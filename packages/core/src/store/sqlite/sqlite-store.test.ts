// The SQLite store: the shared cases, in memory and in a file.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll } from "vitest";
import { describeStore } from "../../store-cases/index.ts";
import { memoryStore, sqliteStore } from "./sqlite-store.ts";

const folder = mkdtempSync(path.join(tmpdir(), "andante-store-"));
afterAll(() => rmSync(folder, { recursive: true }));

let files = 0;
const fileStore = () => sqliteStore({ path: path.join(folder, `${++files}.db`) });
describeStore("sqliteStore", fileStore);
describeStore("memoryStore", memoryStore);
