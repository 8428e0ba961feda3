// Schedules by HTTP and with the client: their options, revisions, commands, and who sees which.
import { Agent, createWorkflow } from "@andante/core";
import { scriptedModel } from "@andante/core/test";
import { expect, test } from "vitest";
import { z } from "zod";
import { createClient } from "../../packages/client/src/index.ts";
import { dataOf, errorOf, listOf } from "../support/responses.ts";
import { serveForTest } from "../support/serve-for-test.ts";
import { bearer, provider, tokenFor } from "../support/tokens.ts";

const report = createWorkflow({
  id: "report",
  input: z.object({ day: z.string() }),
  schedules: { yearly: { cron: "0 0 29 2 *", zone: "Europe/Berlin", input: { day: "leap" } } },
}).andThen({ id: "write", execute: ({ data }) => data });

const hostOf = () => ({ workflows: { report } });
const daily = { workflowId: "report", cron: "30 2 * * *", zone: "Europe/Berlin", input: { day: "x" } };

test("a schedule is set, read, changed from a revision, and removed", async () => {
  const server = await serveForTest(hostOf());
  const path = "/api/schedules/nightly";
  const put = (body: object, headers = {}) => server.send("PUT", path, body, headers);
  expect(dataOf(await put(daily))).toMatchObject({
    scheduleId: "nightly",
    revision: 1,
    state: "active",
    origin: "api",
  });
  expect(dataOf(await put(daily))).toMatchObject({ revision: 1 });
  const hourly = { ...daily, cron: "0 * * * *" };
  expect(dataOf(await put(hourly, { "if-match": '"1"' }))).toMatchObject({ revision: 2, cron: "0 * * * *" });
  const refused = await put(daily, { "if-match": '"1"' });
  expect(errorOf(refused, 412)).toBe("Schedule nightly has revision 2");
  expect(refused.headers.get("x-error-code")).toBe("schedule-revision");
  errorOf(await put(daily, { "if-match": "latest" }), 400);
  expect(dataOf(await server.get(path))).toMatchObject({ revision: 2, started: 0, missed: 0 });
  expect(dataOf(await server.send("DELETE", path))).toEqual({ scheduleId: "nightly" });
  errorOf(await server.get(path), 404);
});

test("one that is declared in code is listed, and can only be paused", async () => {
  const server = await serveForTest(hostOf());
  const path = "/api/schedules/report:yearly";
  const found = listOf(dataOf(await server.get("/api/schedules?workflowId=report")), "schedules");
  expect(found).toMatchObject([{ scheduleId: "report:yearly", origin: "code", revision: 1 }]);
  for (const refused of [await server.send("PUT", path, daily), await server.send("DELETE", path)]) {
    expect(errorOf(refused, 409)).toContain(
      'is declared in the code of workflow "report", schedule "yearly"',
    );
    expect(refused.headers.get("x-error-code")).toBe("schedule-conflict");
  }
  expect(dataOf(await server.post(`${path}/pause`, { reason: "later" }))).toMatchObject({
    state: "paused",
    note: "later",
  });
  expect(dataOf(await server.post(`${path}/resume`))).toMatchObject({ state: "active", note: null });
});

test("options that are wrong are 400 with the name of the field, and nothing is kept", async () => {
  const server = await serveForTest(hostOf());
  for (const [body, field] of [
    [{ ...daily, cron: "0 0 31 2 *" }, "cron"],
    [{ ...daily, zone: "Europe/Nowhere" }, "zone"],
    [{ workflowId: "report", every: "1d", zone: "UTC", input: { day: "x" } }, "zone"],
    [{ ...daily, overlap: "sometimes" }, "overlap"],
    [{ ...daily, input: { day: 1 } }, "day"],
  ] as const) {
    const refused = await server.send("PUT", "/api/schedules/some", body);
    expect(errorOf(refused, 400)).toContain(field);
  }
  errorOf(await server.send("PUT", "/api/schedules/some", { ...daily, workflowId: "none" }), 404);
  errorOf(await server.send("PUT", "/api/schedules/a:b", daily), 400);
  errorOf(await server.get("/api/schedules/some"), 404);
});

test("the client triggers, backfills and previews", async () => {
  const server = await serveForTest(hostOf());

  const client = createClient({ baseUrl: server.url });
  const set = await client.schedules.set("mine", daily);
  expect(set.nextAt).toBeTypeOf("string");
  const { executionId } = await client.schedules.trigger("mine");
  await expect
    .poll(async () => dataOf(await server.get(`/api/executions/${encodeURIComponent(executionId)}`)))
    .toMatchObject({ status: "completed", cause: { scheduleId: "mine" }, input: { day: "x" } });
  const span = { from: new Date(Date.now() - 48 * 3_600_000), to: new Date() };
  const { times } = await client.schedules.backfill("mine", { ...span, dryRun: true });
  expect(times).toHaveLength(2);
  await client.schedules.backfill("mine", span);
  await expect.poll(async () => (await client.schedules.get("mine")).started, { timeout: 20_000 }).toBe(3);
  expect((await client.schedules.backfill("mine", span)).times).toEqual([]);
  const outcomes = (await client.schedules.occurrences("mine")).map(({ outcome }) => outcome);
  expect(outcomes).toEqual(["started", "started", "by-hand"]);
  const preview = await client.schedules.preview({ cron: "30 2 * * *", zone: "Europe/Berlin", count: 3 });
  expect(preview).toMatchObject({ follows: "wall clock", times: { length: 3 }, changes: { length: 2 } });
  expect((await client.schedules.list()).schedules.map(({ scheduleId }) => scheduleId)).toEqual([
    "mine",
    "report:yearly",
  ]);
  await client.schedules.remove("mine");
  await expect(client.schedules.get("mine")).rejects.toMatchObject({
    status: 404,
    code: "schedule-not-found",
  });
});

test("a caller sees and changes only the schedules of its user, and executions are the user's", async () => {
  const server = await serveForTest({ ...hostOf(), auth: provider() });
  const [ada, ben] = [bearer(await tokenFor("ada")), bearer(await tokenFor("ben"))];
  const path = "/api/schedules/of-ada";
  const made = await server.send("PUT", path, { ...daily, userId: "ben" }, ada);
  expect(dataOf(made)).toMatchObject({ userId: "ada" });
  expect(listOf(dataOf(await server.get("/api/schedules", ada)), "schedules")).toHaveLength(1);
  expect(listOf(dataOf(await server.get("/api/schedules", ben)), "schedules")).toEqual([]);
  for (const [method, rest] of [
    ["GET", ""],
    ["GET", "/occurrences"],
    ["DELETE", ""],
    ["POST", "/pause"],
    ["POST", "/resume"],
    ["POST", "/trigger"],
  ] as const)
    errorOf(await server.send(method, path + rest, method === "POST" ? {} : undefined, ben), 404);
  errorOf(await server.send("PUT", path, daily, ben), 409);
  errorOf(await server.send("PUT", path, daily), 401);
  const { executionId } = dataOf(await server.post(`${path}/trigger`, {}, ada));
  const state = `/api/executions/${encodeURIComponent(String(executionId))}`;
  expect(dataOf(await server.get(state, ada))).toMatchObject({ context: { userId: "ada" } });
  errorOf(await server.get(state, ben), 404);
});

test("authorize gets the schedule, its workflow and its user, and the workflow that is to be started", async () => {
  const asked: [action: string, resource: object][] = [];
  const server = await serveForTest({
    ...hostOf(),
    auth: provider(),
    authorize: ({ action, resource }) => {
      asked.push([action, resource]);
      return action !== "schedules.remove";
    },
  });
  const ada = bearer(await tokenFor("ada"));
  dataOf(await server.send("PUT", "/api/schedules/one", daily, ada));
  expect(asked).toContainEqual(["schedules.set", { scheduleId: "one", workflowId: "report" }]);
  expect(asked.map(([action]) => action)).toContain("workflows.execute");
  expect(errorOf(await server.send("DELETE", "/api/schedules/one", undefined, ada), 403)).toBe(
    "Not allowed: schedules.remove",
  );
  dataOf(await server.get("/api/schedules/one", ada));
  expect(asked.at(-1)).toEqual([
    "schedules.read",
    { scheduleId: "one", workflowId: "report", userId: "ada" },
  ]);
});

test("a schedule of an agent is set, posts its prompt, and asks authorize for the agent", async () => {
  const asked: [action: string, resource: object][] = [];
  const clerk = new Agent({ id: "clerk", model: scriptedModel(["well", "well"]) });
  const server = await serveForTest({
    ...hostOf(),
    agents: { clerk },
    auth: provider(),
    authorize: ({ action, resource }) => {
      asked.push([action, resource]);
      return action === "workflows.execute" ? false : "own";
    },
  });
  const [ada, ben] = [bearer(await tokenFor("ada")), bearer(await tokenFor("ben"))];
  const path = "/api/schedules/mornings";
  const body = { agentId: "clerk", prompt: "Report", cron: "0 7 * * mon-fri", conversationId: "talk" };
  const made = dataOf(await server.send("PUT", path, body, ada));
  expect(made).toMatchObject({ agentId: "clerk", workflowId: null, prompt: "Report", userId: "ada" });
  expect(asked).toContainEqual([
    "agents.chat",
    expect.objectContaining({ agentId: "clerk", conversationId: "talk" }),
  ]);
  const { executionId } = dataOf(await server.post(`${path}/trigger`, {}, ada));
  const messages = async (as: Record<string, string>) => server.get("/api/conversations/talk/messages", as);
  await expect.poll(async () => JSON.stringify(await messages(ada)), { timeout: 20_000 }).toContain("well");
  expect(JSON.stringify(dataOf(await messages(ada)))).toContain(String(executionId));
  errorOf(await messages(ben), 404);
  errorOf(await server.get(path, ben), 404);
  errorOf(await server.post(`${path}/trigger`, {}, ben), 404);
  // It may not start workflows.
  errorOf(await server.send("PUT", "/api/schedules/other", daily, ada), 403);
  const paused = dataOf(await server.post(`${path}/pause`, { reason: "later" }, ada));
  expect(paused).toMatchObject({ note: "later", pausedBy: "ada" });
  for (const wrong of [
    { ...body, prompt: undefined },
    { ...body, overlap: "skip" },
    { ...body, conversationId: ".." },
  ])
    errorOf(await server.send("PUT", "/api/schedules/some", wrong, ada), 400);
  errorOf(await server.send("PUT", "/api/schedules/some", { ...body, agentId: "none" }, ada), 404);
  expect(listOf(dataOf(await server.get("/api/schedules?agentId=clerk", ada)), "schedules")).toHaveLength(1);
});

test("a trigger whose input does not fit is 400, and nothing starts", async () => {
  const broken = createWorkflow({
    id: "broken",
    input: z.object({ day: z.string() }),
    schedules: { daily: { cron: "0 9 * * *", input: () => JSON.parse('{"day":1}') } },
  }).andThen({ id: "write", execute: ({ data }) => data });
  const server = await serveForTest({ workflows: { broken } });
  expect(errorOf(await server.post("/api/schedules/broken:daily/trigger"), 400)).toContain("day");
  expect(dataOf(await server.get("/api/schedules/broken:daily"))).toMatchObject({ started: 0 });
});
