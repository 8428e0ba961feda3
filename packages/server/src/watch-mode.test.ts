// `node --watch` on a host: it serves, restarts when its file changes, and serves again from the same database.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { expect, onTestFinished, test } from "vitest";

/** The source of a host whose workflow multiplies by this number. */
function hostSource(factor: number, database: string): string {
  const from = (name: string) => JSON.stringify(import.meta.resolve(name));
  return `
    import { createLogger, createWorkflow, sqliteStore } from ${from("@andante/core")};
    import { serve } from ${from("@andante/server")};
    import { z } from ${from("zod")};
    const multiply = createWorkflow({ id: "multiply", input: z.number() })
      .andThen({ id: "times", execute: ({ data }) => data * ${factor} });
    const store = sqliteStore({ path: ${JSON.stringify(database)} });
    const logger = createLogger({ level: "silent" });
    const { url } = await serve({ workflows: { multiply }, store, logger, port: 0 });
    console.log("ready", url);
  `;
}

interface Executed {
  readonly data: { readonly executionId: string; readonly result: unknown };
}

async function multiply(url: string, input: number): Promise<Executed["data"]> {
  const response = await fetch(`${url}/workflows/multiply/execute`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ input }),
  });
  expect(response.status).toBe(200);
  const { data }: Executed = JSON.parse(await response.text());
  return data;
}

test("a host under node --watch serves, restarts on a change, and serves again", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "andante-watch-"));
  const host = path.join(folder, "host.mjs");
  const database = path.join(folder, "watched.db");
  writeFileSync(host, hostSource(2, database));
  const child = spawn(process.execPath, [...process.execArgv, "--watch", host], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(async () => {
    if (child.exitCode === null && child.kill()) await once(child, "close");
    rmSync(folder, { recursive: true });
  });
  let errors = "";
  child.stderr.on("data", (chunk) => (errors += chunk));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ready = async (): Promise<string> => {
    for (;;) {
      const { done, value } = await lines.next();
      if (done === true || value.startsWith("Failed running")) throw new Error(`the host ended: ${errors}`);
      if (value.startsWith("ready ")) return value.slice("ready ".length);
    }
  };

  const first = await multiply(await ready(), 21);
  expect(first.result).toBe(42);

  writeFileSync(host, hostSource(3, database));
  const url = await ready();
  expect((await multiply(url, 21)).result).toBe(63);
  const state = await fetch(`${url}/workflows/multiply/executions/${first.executionId}/state`);
  expect(await state.json()).toMatchObject({ data: { status: "completed", input: 21 } });
});
