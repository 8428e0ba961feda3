// GET and DELETE /agents/:id/chat/:conversationId/queue: the messages that wait for their replies
import { expect, test } from "vitest";
import { gates } from "../support/gates.ts";
import { dataOf, errorOf, listOf } from "../support/responses.ts";
import { serveForTest } from "../support/serve-for-test.ts";
import { bearer, provider, tokenFor } from "../support/tokens.ts";

const user = (id: string, text: string) => ({ id, role: "user", parts: [{ type: "text", text }] });
const path = (id: string, messageId = "", agent = "held") =>
  `/agents/${agent}/chat/${id}/queue${messageId && `/${messageId}`}`;

test("messages that wait are listed with the next one first, and one is taken back", async () => {
  const server = await serveForTest();
  expect(dataOf(await server.get(path("line")))).toEqual({ messages: [] });
  const chat = (id: string, text: string) =>
    server.post("/agents/held/chat", { id: "line", messages: [user(id, text)] });
  const first = await server.stream("/agents/held/chat", { id: "line", messages: [user("u1", "line")] });
  await gates.arrival("line");
  const queue = async () => listOf(dataOf(await server.get(path("line"))), "messages");
  const second = chat("u2", "second");
  await expect.poll(queue).toMatchObject([user("u2", "second")]);
  const third = chat("u3", "third");
  await expect.poll(queue).toMatchObject([user("u2", "second"), user("u3", "third")]);
  expect(dataOf(await server.get(path("line", "", "echo"))), "of another agent").toEqual({ messages: [] });
  const unknown = "No message u2 waits in the conversation";
  expect(errorOf(await server.send("DELETE", path("line", "u2", "echo")), 404)).toBe(unknown);
  const gone = await server.send("DELETE", path("line", "u2"));
  expect(dataOf(gone)).toEqual({ conversationId: "line", messageId: "u2" });
  expect(errorOf(await second, 409)).toBe("Message u2 was withdrawn while it waited");
  expect(errorOf(await server.send("DELETE", path("line", "u2")), 404)).toBe(unknown);
  expect(errorOf(await server.get(path("line", "", "no-such")), 404)).toContain("no-such");
  gates.open("third");
  gates.open("line");
  await first.rest();
  expect((await third).status).toBe(200);
  const kept = listOf(dataOf(await server.get("/api/conversations/line/messages")), "messages");
  expect(kept.map(({ id, role }) => (role === "user" ? id : role))).toEqual([
    ...["u1", "assistant", "u3", "assistant"],
  ]);
});

test("a user sees and takes back only messages of their own", async () => {
  const server = await serveForTest({ auth: provider() });
  const [ada, eve] = [bearer(await tokenFor("ada")), bearer(await tokenFor("eve"))];
  const body = (id: string, text: string) => ({ id: "own", messages: [user(id, text)] });
  const first = await server.stream("/agents/held/chat", body("u1", "own"), ada);
  await gates.arrival("own");
  const second = server.post("/agents/held/chat", body("u2", "more"), ada);
  const queue = async (headers: Record<string, string>) =>
    listOf(dataOf(await server.get(path("own"), headers)), "messages");
  await expect.poll(() => queue(ada)).toHaveLength(1);
  expect(await queue(eve)).toEqual([]);
  expect((await server.send("DELETE", path("own", "u2"), undefined, eve)).status).toBe(404);
  expect((await server.get(path("own"))).status).toBe(401);
  expect((await server.send("DELETE", path("own", "u2"), undefined, ada)).status).toBe(200);
  expect((await second).status).toBe(409);
  gates.open("own");
  await first.rest();
});
