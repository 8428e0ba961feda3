// serve() without a store, with a real Restate in ANDANTE_RESTATE_URL.
import { createWorkflow } from "@andante/core";
import { RecordingLogger } from "@andante/core/test";
import { serve } from "@andante/server";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { z } from "zod";
import { type RestateServer, startRestate } from "./restate-server.ts";

let server: RestateServer;
beforeAll(async () => {
  server = await startRestate();
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await server.remove();
});

const gate = createWorkflow({ id: "gate", input: z.object({}) }).andThen({
  id: "wait",
  execute: ({ suspend, resumeData }) => resumeData ?? suspend("why"),
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
