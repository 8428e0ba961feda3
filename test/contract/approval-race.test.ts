// One approval of a chat and its four doors at once: the inbox in code, HTTP, the chat itself and the deadline.
import { Agent } from "@andante/core";
import { TestClock } from "@andante/core/test";
import { tool } from "ai";
import { expect, test } from "vitest";
import { z } from "zod";
import { controlledModel } from "../../packages/core/test/support/controlled-model.ts";
import { dataOf, errorOf, fieldsOf, listOf, type TestResponse } from "../support/responses.ts";
import { serveForTest } from "../support/serve-for-test.ts";
import { bearer, provider, tokenFor } from "../support/tokens.ts";

test("of a hundred racers over four doors one wins, the tool runs once, and the others learn who has won", async () => {
  const removed: string[] = [];
  const model = controlledModel(({ prompt }) =>
    prompt.at(-1)?.role === "tool"
      ? { text: ["Done."] }
      : { calls: [{ id: "call-1", name: "remove", input: { file: "a.txt" } }] },
  );
  const remove = tool({
    inputSchema: z.object({ file: z.string() }),
    execute: ({ file }) => {
      removed.push(file);
      return "gone";
    },
  });
  const limited = new Agent({
    id: "limited",
    model,
    tools: { remove },
    toolApproval: { remove: () => ({ type: "user-approval", deadline: "2d", onDeadline: "approve" }) },
    recoverWithin: "30d",
  });
  const clock = new TestClock({ skipSleeps: false });
  const server = await serveForTest({ agents: { limited }, clock, auth: provider() });
  const ada = bearer(await tokenFor("ada", { expiresIn: "30d" }));
  const id = "talk";
  const question = { id: "u1", role: "user", parts: [{ type: "text", text: "go" }] };
  await (await server.stream("/agents/limited/chat", { id, messages: [question] }, ada)).rest();
  const lastMessage = async () => {
    const messages = listOf(dataOf(await server.get(`/api/conversations/${id}/messages`, ada)), "messages");
    return messages.at(-1) ?? {};
  };
  const asked = await lastMessage();
  const parts = listOf(asked, "parts").map((part) =>
    part.state === "approval-requested"
      ? { ...part, state: "approval-responded", approval: { ...fieldsOf(part, "approval"), approved: true } }
      : part,
  );
  const request = parts.find(({ state }) => state === "approval-responded") ?? {};
  const approvalId = String(fieldsOf(request, "approval").id);

  const refused = (response: TestResponse) => (response.status === 200 ? undefined : errorOf(response, 409));
  const decision = { approvalId, approved: true };
  const doors = [
    (n: number) =>
      server.andante.agents
        .decide(id, { ...decision, by: `person-${n}` })
        .then(() => undefined)
        .catch((error: Error) => error.message),
    async () => refused(await server.post(`/api/conversations/${id}/decisions`, decision, ada)),
    async () => {
      const body = { id, messages: [{ id: asked.id, role: "assistant", parts }] };
      const response = await fetch(`${server.url}/agents/limited/chat`, {
        method: "POST",
        headers: { "content-type": "application/json", ...ada },
        body: JSON.stringify(body),
      });
      const text = await response.text();
      return response.ok ? undefined : String(JSON.parse(text).error);
    },
  ];
  const racers = Array.from({ length: 99 }, (_, n) => doors[n % doors.length]?.(n));
  clock.advance("3d");
  const losers = (await Promise.all(racers)).filter((message) => message !== undefined);
  const approval = async () => {
    const part = listOf(await lastMessage(), "parts").find(({ state }) => state === "output-available");
    return part === undefined ? {} : fieldsOf(fieldsOf(part, "approval"), "decision");
  };
  await expect.poll(approval).toMatchObject({ at: expect.any(String) });
  await server.andante.settled();
  const { by, byDeadline } = await approval();
  expect(removed).toEqual(["a.txt"]);
  expect(losers).toHaveLength(byDeadline === true ? 99 : 98);
  const winner = byDeadline === true ? "the deadline" : String(by);
  expect(losers.filter((message) => !message.includes(`approved by ${winner}`))).toEqual([]);
});
