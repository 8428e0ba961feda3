// serve() on a real Restate: as on its page, chosen by ANDANTE_RESTATE_URL, with values that are too long, and while its
// server is down.
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createWorkflow } from "@andante/core";
import { RecordingLogger } from "@andante/core/test";
import { restateStore } from "@andante/restate";
import { type ServeOptions, serve } from "@andante/server";
import { afterAll, expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { freePort } from "../../../examples/cluster/src/free-ports.ts";
import { modulesOf, root } from "../../../test/docs/pages.ts";
import { isLong, startRestate } from "./restate-server.ts";

const server = await startRestate();
afterAll(async () => {
  vi.unstubAllEnvs();
  await server.remove();
});

const gate = createWorkflow({ id: "gate", input: z.object({}) }).andThen({
  id: "wait",
  execute: ({ suspend, resumeData }) => resumeData ?? suspend("why"),
});

/** A server on Restate; it closes with the test. */
async function serveOn(namespace: string, workflows: NonNullable<ServeOptions["workflows"]>) {
  const store = restateStore({ ...server.options(namespace), lease: 10_000 });
  const logger = new RecordingLogger();
  const limits = { output: 12_000_000 };
  const served = await serve({ workflows, store, port: 0, handleSignals: false, logger, limits });
  onTestFinished(() => served.close());
  return served;
}

test("an output of 13 MB is refused by our own limit", async () => {
  const long = createWorkflow({ id: "long", input: z.object({ length: z.number() }) }).andThen({
    id: "output",
    execute: ({ data }) => "x".repeat(data.length),
  });
  const { andante } = await serveOn("long", { long });
  const { executionId, status } = await andante.execute("long", { length: 13_000_000 });
  expect(status).toBe("error");
  const message = expect.stringContaining("the limit is 12000000 (limits.output)");
  const events = await andante.events("long", executionId);
  expect(events).toContainEqual(
    expect.objectContaining({ type: "step-error", error: expect.objectContaining({ message }) }),
  );
  expect(await andante.execute("long", { length: 11_000_000 })).toMatchObject({ status: "completed" });
});

// At least as long as a call is attempted again; a minute with ANDANTE_LONG=1.
test("without any server callers get 503, bodies wait, and everything continues afterwards", async () => {
  const begun = Promise.withResolvers<void>();
  const held = Promise.withResolvers<string>();
  const wait = createWorkflow({ id: "wait", input: z.object({}) }).andThen({
    id: "body",
    execute: () => {
      begun.resolve();
      return held.promise;
    },
  });
  const { andante, url } = await serveOn("down", { wait, gate });
  await andante.start("wait", {}, { executionId: "running" });
  await begun.promise;
  await server.kill();
  const down = performance.now();
  held.resolve("done");
  const request = { method: "POST", headers: { "content-type": "application/json" }, body: '{"input":{}}' };
  do {
    const refused = await fetch(`${url}/workflows/gate/execute`, request);
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "2"]);
    expect((await fetch(`${url}/health`)).status).toBe(503);
  } while (isLong && performance.now() - down < 60_000);
  await server.start();
  const ended = async () => (await andante.state("wait", "running")).status;
  await expect.poll(ended, { timeout: 60_000 }).toBe("completed");
  const accepted = async () => (await fetch(`${url}/workflows/gate/execute`, request)).status;
  await expect.poll(accepted).toBe(200);
  await expect.poll(async () => (await fetch(`${url}/health`)).status).toBe(200);
});

test("a node closes while its server is gone, though a body does not end", async () => {
  const begun = Promise.withResolvers<void>();
  const stuck = createWorkflow({ id: "stuck", input: z.object({}) }).andThen({
    id: "body",
    execute: () => {
      begun.resolve();
      return new Promise<never>(() => undefined);
    },
  });
  const { andante } = await serveOn("gone", { stuck });
  await andante.start("stuck", {});
  await begun.promise;
  await server.kill();
  const start = performance.now();
  await andante.close({ grace: 1_000 });
  // Each part that waits for the store gets two seconds, the store itself ten.
  expect(performance.now() - start).toBeLessThan(1_000 + 20_000);
  await server.start();
});

test("Restate is used and logged, and holds the executions at the next start", async () => {
  vi.stubEnv("ANDANTE_RESTATE_URL", server.ingressUrl);
  vi.stubEnv("ANDANTE_RESTATE_ADMIN_URL", server.adminUrl);
  vi.stubEnv("ANDANTE_RESTATE_ENDPOINT_URL", `http://127.0.0.1:${server.endpointPort}`);
  const logger = new RecordingLogger();
  const start = () => serve({ workflows: { gate }, port: 0, handleSignals: false, logger });
  const first = await start();
  const { executionId } = await first.andante.execute("gate", {});
  await first.close();
  const store = `restate://${new URL(server.ingressUrl).host} (namespace andante)`;
  const msg = "using Restate, because ANDANTE_RESTATE_URL is set";
  expect(logger.lines).toContainEqual({ level: "info", store, msg });
  const second = await start();
  expect(await second.andante.resume("gate", executionId, "yes")).toMatchObject({ result: "yes" });
  await second.close();
});

test("the application of docs/restate.md runs with the addresses of this server", async () => {
  const { ingressUrl, adminUrl, endpointPort } = server;
  const [page] = modulesOf("docs/restate.md");
  const code = (page?.code ?? "")
    .replaceAll(/http:\/\/restate-\d:8080/g, ingressUrl)
    .replace("http://restate-0:9070", adminUrl)
    .replace("andante.internal:9080", `127.0.0.1:${endpointPort}`)
    .replace("port: 9080", `port: ${endpointPort}`);
  const folder = mkdtempSync(path.join(tmpdir(), "andante-page-"));
  symlinkSync(path.join(root, "node_modules"), path.join(folder, "node_modules"));
  const file = path.join(folder, "main.mts");
  writeFileSync(file, code);
  const port = String(await freePort());
  const execArgv = ["--conditions=andante-source"];
  const node = fork(file, { cwd: folder, execArgv, env: { ...process.env, PORT: port }, stdio: "ignore" });
  const exit = once(node, "exit");
  onTestFinished(async () => {
    node.kill("SIGKILL");
    await exit;
    rmSync(folder, { recursive: true });
  });
  const headers = { "content-type": "application/json" };
  const request = { method: "POST", headers, body: '{"input":{"n":21}}' };
  const execute = () => fetch(`http://127.0.0.1:${port}/workflows/double/execute`, request);
  const result = async () => (await execute().catch(() => undefined))?.json();
  await expect.poll(result, { timeout: 60_000 }).toMatchObject({ data: { result: 42 } });
});
