// Runs a workflow with the packages as they would be published: plain JavaScript, the threads, the migrations.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createClient } from "@andante/client";
import { Agent, AndanteError, createLogger, createWorkflow, sqliteStore } from "@andante/core";
import { StoreUnavailableError } from "@andante/core/errors";
import { storedLength } from "@andante/core/store";
import { crashTest, scriptedModel, TestClock } from "@andante/core/test";
import { demoModel } from "@andante/demo-model";
import { serve } from "@andante/server";
import { generateText } from "ai";
import { z } from "zod";

assert.match(import.meta.resolve("@andante/core"), /dist\/index\.js$/);
assert.ok(new StoreUnavailableError({ cause: "" }) instanceof AndanteError);
assert.equal(typeof storedLength, "function");
const folder = mkdtempSync(path.join(tmpdir(), "andante-built-"));
const double = createWorkflow({ id: "double", input: z.object({ n: z.number() }) }).andThen({
  id: "times-two",
  execute: ({ data }) => data.n * 2,
});
const store = sqliteStore({ path: path.join(folder, "built.db") });
const agent = new Agent({ id: "numbers", model: scriptedModel(["42"]) });
const server = await serve({
  workflows: { double },
  agents: { agent },
  store,
  port: 0,
  logger: createLogger({ level: "silent" }),
});
const post = async (place, body) => {
  const headers = { "content-type": "application/json" };
  const response = await fetch(server.url + place, { method: "POST", headers, body: JSON.stringify(body) });
  return (await response.json()).data;
};
assert.equal((await post("/workflows/double/execute", { input: { n: 21 } })).result, 42);
assert.equal((await createClient({ baseUrl: server.url }).workflow("double").execute({ n: 4 })).result, 8);
// The schema is checked by a thread of its own.
assert.equal(await post("/agents/numbers/object", { input: "6 × 7", schema: { type: "number" } }), 42);
await server.andante.trimObservations();
await server.close();
assert.deepEqual((await crashTest({ workflow: double, input: { n: 2 } })).differences, []);
assert.equal(scriptedModel(["hello"]).remaining, 1);
assert.equal((await generateText({ model: demoModel(), prompt: "count to 3" })).text, "1 2 3");
assert.equal(new TestClock({ start: 5 }).now(), 5);
rmSync(folder, { recursive: true });
