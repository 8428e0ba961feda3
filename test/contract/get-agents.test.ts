// GET /agents and GET /agents/:id: the registered agents
import { Agent, createAndante } from "@andante/core";
import { expect, test } from "vitest";
import { aborted, echo, echoModel, heldModel } from "../support/agents.ts";
import { gates } from "../support/gates.ts";
import { dataOf, errorOf, payloadOf } from "../support/responses.ts";
import { serveForTest } from "../support/serve-for-test.ts";
import { storeForTest } from "../support/store-for-test.ts";
import { bearer, provider, tokenFor } from "../support/tokens.ts";

const server = await serveForTest();

const echoRecord = {
  id: "echo",
  name: "Echo",
  purpose: "Says it again",
  model: "scripted/scripted",
  tools: [],
  subAgents: [],
  status: "idle",
};

test("the list shows every agent in order of registration, without instructions", async () => {
  const list = payloadOf(await server.get("/agents"));
  expect(list).toMatchObject([
    { id: "echo" },
    { id: "short" },
    { id: "forgetful" },
    { id: "adder" },
    ...Array(11).fill({}),
  ]);
  expect(Array.isArray(list) && list[0]).toEqual(echoRecord);
});

test("the detail shows instructions, tools with their schemas, and sub-agents", async () => {
  expect(dataOf(await server.get("/agents/echo"))).toEqual({ ...echoRecord, instructions: "Repeat." });
  const adder = dataOf(await server.get("/agents/adder"));
  expect(adder.instructions, "instructions made for each call are not shown").toBeNull();
  expect(adder.subAgents).toEqual(["echo"]);
  expect(adder.tools).toMatchObject([
    {
      name: "add",
      description: "Adds two numbers",
      inputSchema: { type: "object", properties: { a: { type: "number" } }, required: ["a", "b"] },
    },
    { name: "fail", description: "" },
  ]);
});

test("once there is authentication, only a caller with a token sees the instructions", async () => {
  const closed = await serveForTest({ auth: provider() });
  const instructions = async (headers: Record<string, string>) =>
    dataOf(await closed.get("/agents/echo", headers)).instructions;
  expect(await instructions({})).toBeNull();
  expect(await instructions(bearer("not.a.token"))).toBeNull();
  expect(await instructions(bearer(await tokenFor("ada")))).toBe("Repeat.");
});

test("an agent of the AI SDK without an id has its key as id, and keeps its instructions to itself", async () => {
  const foreign = dataOf(await server.get("/agents/foreign"));
  expect(foreign).toMatchObject({
    id: "foreign",
    name: "foreign",
    model: null,
    instructions: null,
    tools: [],
  });
});

test("an agent is running while it replies", async () => {
  const answer = server.post("/agents/held/text", { input: "status" });
  await gates.arrival("status");
  expect(dataOf(await server.get("/agents/held")).status).toBe("running");
  gates.open("status");
  await answer;
  expect(dataOf(await server.get("/agents/held")).status).toBe("idle");
  expect([aborted, heldModel.asked.length]).toEqual([[], 1]);
});

test("an unknown agent is 404 on every route, with any body", async () => {
  expect(errorOf(await server.get("/agents/nobody"), 404)).toBe("Agent nobody not found");
  for (const action of ["text", "object", "stream", "stream-object", "chat"]) {
    const answer = await server.post(`/agents/nobody/${action}`, { nonsense: true });
    expect(errorOf(answer, 404)).toBe("Agent nobody not found");
  }
  expect(errorOf(await server.get("/agents/constructor"), 404)).toBe("Agent constructor not found");
});

test("an agent's own id wins over its key, and two of one id are a definition error", async () => {
  const store = storeForTest();
  const make = (agents: Record<string, Agent>) => createAndante({ agents, store });
  const andante = make({ other: echo });
  expect((await andante.agents.list()).map(({ id }) => id)).toEqual(["echo"]);
  await andante.close();
  const twin = new Agent({ id: "echo", model: echoModel });
  expect(() => make({ a: echo, b: twin })).toThrow(
    'Agent registered as "b": another agent already has the id "echo"',
  );
  expect(() => make(JSON.parse('{"a":{}}'))).toThrow(
    'Agent registered as "a": it is not an agent of the AI SDK',
  );
});
