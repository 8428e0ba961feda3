// POST /api/conversations/:conversationId/resume: tools of a chat that wait in their own code, resumed from the inbox
import { expect, test } from "vitest";
import { dataOf, errorOf, listOf } from "../support/responses.ts";
import { serveForTest } from "../support/serve-for-test.ts";
import { bearer, provider, tokenFor } from "../support/tokens.ts";
import { waiting } from "../support/waiting-agent.ts";

const user = (id: string, text: string) => ({ id, role: "user", parts: [{ type: "text", text }] });

test("the stream ends with the wait, the inbox has it, and the reply continues when it is resumed", async () => {
  const server = await serveForTest({ agents: { waiting } });
  const stream = await server.stream("/agents/waiting/chat", { id: "w-1", messages: [user("u1", "tea")] });
  const events = await stream.rest();
  expect(events.map((event) => event.type)).toContain("data-waiting");
  expect(events.findLast((event) => event.type === "finish")).toMatchObject({ finishReason: "tool-calls" });
  const [item = {}] = listOf(dataOf(await server.get("/api/inbox")), "items");
  expect(item).toMatchObject({
    ...{ workflowId: "", agentId: "waiting", conversationId: "w-1", approvalId: null },
    suspension: { reason: "Waiting for the payment", data: { toolName: "order", data: { item: "tea" } } },
    example: { paid: expect.any(Boolean) },
  });
  const suspensionId = String(Object(item.suspension).suspensionId);
  const resume = (body: object, id = "w-1") => server.post(`/api/conversations/${id}/resume`, body);
  expect(errorOf(await resume({ suspensionId, resumeData: { paid: 1 } }), 400)).toContain("paid");
  expect((await resume({ suspensionId: "other", resumeData: {} })).status).toBe(404);
  expect((await resume({ suspensionId }, "nobodys")).status).toBe(404);
  expect((await resume({})).status).toBe(400);
  expect(dataOf(await resume({ suspensionId, resumeData: { paid: true } }))).toEqual({
    conversationId: "w-1",
  });
  const parts = async () => {
    const { messages } = Object(dataOf(await server.get("/api/conversations/w-1/messages")));
    return JSON.stringify(messages);
  };
  await expect.poll(parts).toContain("Done:");
  expect(await parts()).not.toContain("data-waiting");
  expect((await resume({ suspensionId, resumeData: { paid: true } })).status, "it is over").toBe(404);
});

test("the user of the conversation may resume it, another may not", async () => {
  const server = await serveForTest({ agents: { waiting }, auth: provider() });
  const [ada, eve] = [bearer(await tokenFor("ada")), bearer(await tokenFor("eve"))];
  await server.post("/agents/waiting/text", { input: "tea", options: { conversationId: "w-2" } }, ada);
  const [item = {}] = listOf(dataOf(await server.get("/api/inbox", ada)), "items");
  const body = { suspensionId: String(Object(item.suspension).suspensionId), resumeData: { paid: false } };
  expect((await server.post("/api/conversations/w-2/resume", body, eve)).status).toBe(404);
  expect((await server.post("/api/conversations/w-2/resume", body)).status).toBe(401);
  expect((await server.post("/api/conversations/w-2/resume", body, ada)).status).toBe(200);
});
