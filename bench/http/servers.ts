// The servers of the HTTP benchmarks that are ours: Andante on a SQLite file, and the bare route with the same commits.
import { existsSync } from "node:fs";
import path from "node:path";
import { createAndante, createLogger, sqliteStore } from "@andante/core";
import { type Contender, startContender } from "./contender.ts";

const here = import.meta.dirname;

/** How all of them are started and called; without a condition Node loads the built packages. */
export const ours = {
  folder: here,
  nodeArguments: [],
  path: (id: string) => `/workflows/${id}/execute`,
  body: '{"input":{"n":1}}',
  resume: (id: string) => ({
    path: `/workflows/gate/executions/${id}/resume`,
    body: '{"resumeData":{"ok":true}}',
  }),
} as const;

export function requireBuiltPackages(): void {
  if (existsSync(path.join(here, "../../packages/server/dist"))) return;
  throw new Error("this measures the built packages: run `npm run build` first");
}

export function startAndante(folder: string, without?: "untraced" | "unsearched"): Promise<Contender> {
  const database = path.join(folder, `${without ?? "andante"}.db`);
  const more = without === undefined ? [] : [without];
  return startContender({ ...ours, name: "Andante, SQLite file", script: "andante.ts", database, more });
}

/** On a file that has the store's tables. */
export async function startBare(folder: string): Promise<Contender> {
  const database = path.join(folder, "bare.db");
  const logger = createLogger({ level: "error" });
  const empty = createAndante({ store: sqliteStore({ path: database }), logger });
  await empty.ready();
  await empty.close();
  return startContender({ ...ours, name: "bare Hono route, same commits", script: "bare-hono.ts", database });
}
