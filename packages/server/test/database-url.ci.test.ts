// serve() without a store, with a real PostgreSQL in ANDANTE_DATABASE_URL.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createWorkflow } from "@andante/core";
import { RecordingLogger } from "@andante/core/test";
import { type RunningServer, serve } from "@andante/server";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { z } from "zod";
import { type PostgresServer, startPostgres } from "../../postgres/test/postgres-server.ts";

let postgres: PostgresServer;
const folder = mkdtempSync(path.join(tmpdir(), "andante-database-url-"));
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(async () => {
  await postgres.remove();
  rmSync(folder, { recursive: true });
});

let server: RunningServer | undefined;
afterEach(async () => {
  vi.unstubAllEnvs();
  await server?.close();
  server = undefined;
});

const gate = createWorkflow({ id: "gate", input: z.object({}) }).andThen({
  id: "wait",
  execute: ({ suspend, resumeData }) => resumeData ?? suspend("why"),
});

const logger = new RecordingLogger();

async function start(): Promise<RunningServer> {
  logger.lines.length = 0;
  server = await serve({ workflows: { gate }, port: 0, handleSignals: false, logger });
  return server;
}

const location = () => `postgres://127.0.0.1:${postgres.port}/postgres (schema andante)`;

test("PostgreSQL is used and logged, with a warning about open executions that a file still holds", async () => {
  const file = path.join(folder, "andante.db");
  vi.stubEnv("ANDANTE_DB", file);
  const { andante } = await start();
  await andante.execute("gate", {});
  await andante.execute("gate", {});
  const ended = await andante.execute("gate", {});
  await andante.resume("gate", ended.executionId, "yes");
  await server?.close();

  vi.stubEnv("ANDANTE_DATABASE_URL", postgres.url);
  const { url } = await start();
  expect(logger.lines).toContainEqual({
    level: "info",
    store: location(),
    msg: "using PostgreSQL, because ANDANTE_DATABASE_URL is set",
  });
  expect(logger.lines).toContainEqual({
    level: "warn",
    file,
    open: 2,
    msg: "this file holds open executions, which do not run: ANDANTE_DATABASE_URL names another store",
  });
  expect(logger.lines).toContainEqual(
    expect.objectContaining({ msg: "Andante is listening", store: location() }),
  );
  const headers = { "content-type": "application/json" };
  const begun = await fetch(`${url}/workflows/gate/execute`, {
    method: "POST",
    headers,
    body: JSON.stringify({ input: {} }),
  });
  expect(begun.status).toBe(200);
  await server?.close();

  // It is all there at the next start, and the file was left alone.
  const again = await start();
  expect(await again.andante.list()).toMatchObject({ executions: [{ status: "suspended" }] });
  await server?.close();
  vi.stubEnv("ANDANTE_DATABASE_URL", undefined);
  const onFile = await start();
  const { executions } = await onFile.andante.list();
  expect(executions).toHaveLength(3);
});

test("without such a file nothing is warned of, and none is made", async () => {
  vi.stubEnv("ANDANTE_DB", path.join(folder, "other.db"));
  vi.stubEnv("ANDANTE_DATABASE_URL", postgres.url);
  await start();
  expect(logger.messages).toEqual([]);
});
