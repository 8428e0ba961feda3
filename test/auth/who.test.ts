// Who started, suspended, resumed, rewound, cancelled or replayed an execution is in its journal and state.
import { expect, test } from "vitest";
import { gates } from "../support/gates.ts";
import { dataOf, type Fields, listOf, payloadOf, textOf } from "../support/responses.ts";
import { serveForTest } from "../support/serve-for-test.ts";
import { bearer, provider, tokenFor } from "../support/tokens.ts";

const server = await serveForTest({ auth: provider() });

const as = async (userId: string) => bearer(await tokenFor(userId));
const claims = { userId: "mallory", context: { user: { id: "mallory" }, userId: "mallory", tier: "gold" } };

async function start(workflow: string, input: unknown, user = "ada"): Promise<string> {
  const body = { input, options: claims };
  const answer = await server.post(`/workflows/${workflow}/execute`, body, await as(user));
  return `/workflows/${workflow}/executions/${textOf(dataOf(answer), "executionId")}`;
}

async function eventOf(execution: string, type: string): Promise<Fields | undefined> {
  const events = payloadOf(await server.get(`${execution}/events`, await as("ada")));
  return listOf({ events }, "events").findLast((event) => event.type === type);
}

test("resume", async () => {
  const execution = await start("twice", {});
  dataOf(await server.post(`${execution}/resume`, { resumeData: 1, userId: "mallory" }, await as("bob")));
  expect((await eventOf(execution, "workflow-resumed"))?.userId).toBe("bob");
  // By contract every caller may resume; without a token no user is recorded.
  dataOf(await server.post(`${execution}/resume`, { resumeData: 2, options: { userId: "mallory" } }));
  expect(await eventOf(execution, "workflow-resumed")).not.toHaveProperty("userId");
});

test("going back to a step", async () => {
  const execution = await start("twice", {});
  dataOf(await server.post(`${execution}/resume`, { resumeData: 1 }, await as("bob")));
  const body = { resumeData: 1, options: { stepId: "first" } };
  dataOf(await server.post(`${execution}/resume`, body, await as("carol")));
  expect((await eventOf(execution, "execution-rewound"))?.userId).toBe("carol");
});

test("suspend from outside", async () => {
  const input = { door: "who" };
  const started = server.post("/workflows/gated/execute", { input }, await as("ada"));
  await gates.arrival("who");
  const [{ executionId } = {}] = listOf(
    dataOf(await server.get("/api/executions", await as("ada"))),
    "executions",
  );
  const execution = `/workflows/gated/executions/${executionId}`;
  dataOf(await server.post(`${execution}/suspend`, { reason: "wait" }, await as("bob")));
  expect((await eventOf(execution, "workflow-suspended"))?.userId).toBe("bob");
  gates.open("who");
  dataOf(await started);
});

test("cancel", async () => {
  const execution = await start("twice", {});
  dataOf(await server.post(`${execution}/cancel`, { reason: "no need" }, await as("bob")));
  expect(await eventOf(execution, "workflow-cancelled")).toMatchObject({ userId: "bob", reason: "no need" });
});

test("a replay is its caller's: the context stays, the user is the caller, not the one in the body", async () => {
  // Another user's is replayed by those whom the host lets.
  const open = await serveForTest({
    auth: provider(),
    authorize: ({ action }) => (action === "executions.list" ? "own" : true),
  });
  const source = { input: 1, options: claims };
  const answer = await open.post("/workflows/mirror/execute", source, await as("ada"));
  const execution = `/workflows/mirror/executions/${textOf(dataOf(answer), "executionId")}`;
  const body = { stepId: "look", options: claims };
  const replayed = dataOf(await open.post(`${execution}/replay`, body, await as("bob")));
  const bob = { id: "bob", roles: ["reader"] };
  expect(replayed.result).toMatchObject({
    userId: "bob",
    context: { tier: "gold", user: bob, userId: "bob" },
  });
  const mine = dataOf(await open.get("/api/executions?userId=bob", await as("bob")));
  expect(listOf(mine, "executions").map((each) => each.executionId)).toEqual([replayed.executionId]);
});
