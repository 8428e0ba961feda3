// POST /api/conversations/:conversationId/decisions: approvals of a chat, in the inbox and decided there
import { describe, expect, test } from "vitest";
import { deleted } from "../support/agents.ts";
import { dataOf, errorOf, type Fields, fieldsOf, listOf } from "../support/responses.ts";
import { serveForTest, type TestServer } from "../support/serve-for-test.ts";
import { bearer, provider, tokenFor } from "../support/tokens.ts";

type Headers = Record<string, string>;

let made = 0;
const user = (id: string, text: string) => ({ id, role: "user", parts: [{ type: "text", text }] });

const itemsOf = async (server: TestServer, headers: Headers = {}) =>
  listOf(dataOf(await server.get("/api/inbox", headers)), "items");

const decide = (server: TestServer, id: string, decision: Fields, headers: Headers = {}) =>
  server.post(`/api/conversations/${id}/decisions`, decision, headers);

const lastParts = async (server: TestServer, id: string, headers: Headers = {}) => {
  const messages = listOf(dataOf(await server.get(`/api/conversations/${id}/messages`, headers)), "messages");
  return listOf(messages.at(-1) ?? {}, "parts");
};

/** A chat in which the deletion of a file waits for approval, and its item in the inbox of this caller. */
async function asked(server: TestServer, file: string, headers: Headers = {}, reader = headers) {
  const id = `decided-${++made}`;
  const body = { id, messages: [user("u1", `delete ${file}`)] };
  await (await server.stream("/agents/careful/chat", body, headers)).rest();
  // The server keeps an inbox for a moment.
  const found = async () => (await itemsOf(server, reader)).find((each) => each.conversationId === id);
  await expect.poll(found).toBeDefined();
  const item = (await found()) ?? {};
  return { id, item, approvalId: String(item.approvalId) };
}

const isDone = (server: TestServer, id: string, headers: Headers = {}) =>
  expect
    .poll(async () => (await lastParts(server, id, headers)).map(({ state }) => state))
    .toContain("output-available");

/** The server keeps an inbox for a moment. */
const isGone = (server: TestServer, id: string) =>
  expect.poll(async () => (await itemsOf(server)).map((each) => each.conversationId)).not.toContain(id);

describe("without authentication", async () => {
  const server = await serveForTest();

  test("the inbox has the call, and a decision with another input and a reason continues the reply", async () => {
    const { id, item, approvalId } = await asked(server, "a1.txt");
    expect(item).toMatchObject({
      ...{ workflowId: "", agentId: "careful", conversationId: id, userId: null },
      suspension: {
        reason: "The tool remove needs approval",
        data: { toolName: "remove", input: { file: "a1.txt" } },
        resumeSchema: { required: ["approved"] },
      },
      example: { approved: expect.any(Boolean) },
    });
    const found = await server.get(`/api/executions/${item.executionId}`);
    expect(found.status, "a turn is no execution of a workflow").toBe(404);
    const decision = { approvalId, approved: true, reason: "the newer one", input: { file: "a2.txt" } };
    expect(dataOf(await decide(server, id, decision))).toEqual({ conversationId: id, waiting: 0 });
    await isDone(server, id);
    expect(await lastParts(server, id)).toContainEqual(
      expect.objectContaining({
        ...{ state: "output-available", input: { file: "a2.txt" }, output: "a2.txt is gone" },
        approval: expect.objectContaining({
          ...{ approved: true, reason: "the newer one" },
          // Without authentication it is not known who decides.
          decision: { by: null, at: expect.any(String), waitedMs: expect.any(Number), edited: true },
        }),
      }),
    );
    expect(deleted.filter((file) => String(file).startsWith("a"))).toEqual(["a2.txt"]);
    await isGone(server, id);
  });

  test("the inbox of the chats of one agent, and the counts of each", async () => {
    const { id } = await asked(server, "agent.txt");
    const of = async (query: string) => dataOf(await server.get(`/api/inbox?${query}`));
    const ids = async (query: string) =>
      listOf(await of(query), "items").map(({ conversationId }) => conversationId);
    await expect.poll(() => ids("agentId=careful")).toContain(id);
    expect(await ids("agentId=another")).toEqual([]);
    expect(await ids("agentId=careful&workflowId=another")).toEqual([]);
    expect(await ids("agentId=careful&order=user&text=agent.txt")).toEqual([id]);
    const { chats, agents } = fieldsOf(await of("counts=true"), "counts");
    expect(agents).toEqual([{ agentId: "careful", count: chats }]);
    await server.send("DELETE", `/api/conversations/${id}`);
  });

  test("of two at once one is kept, the other is 409, and so is every later one", async () => {
    const { id, approvalId } = await asked(server, "b.txt");
    const both = await Promise.all([1, 2].map(() => decide(server, id, { approvalId, approved: true })));
    expect(both.map(({ status }) => status).toSorted()).toEqual([200, 409]);
    await isDone(server, id);
    expect(errorOf(await decide(server, id, { approvalId, approved: false }), 409)).toBe(
      `The approval ${approvalId} has already been decided`,
    );
    expect(deleted.filter((file) => file === "b.txt")).toHaveLength(1);
  });

  test("a decision in the chat counts here too, and a chat that attaches reads the reply after a decision here", async () => {
    const first = await asked(server, "c.txt");
    const messages = listOf(dataOf(await server.get(`/api/conversations/${first.id}/messages`)), "messages");
    const { id, role } = messages[1] ?? {};
    const parts = listOf(messages[1] ?? {}, "parts").map((part) =>
      part.state === "approval-requested"
        ? {
            ...part,
            state: "approval-responded",
            approval: { ...fieldsOf(part, "approval"), approved: true },
          }
        : part,
    );
    const body = { id: first.id, messages: [{ id, role, parts }] };
    await (await server.stream("/agents/careful/chat", body)).rest();
    const late = await decide(server, first.id, { approvalId: first.approvalId, approved: false });
    expect(late.status).toBe(409);

    const second = await asked(server, "d.txt");
    await decide(server, second.id, { approvalId: second.approvalId, approved: true });
    const attached = await server.stream(`/agents/careful/chat/${second.id}/stream`);
    if (attached.status === 200) await attached.rest();
    await isDone(server, second.id);
  });

  test("wrong decisions are refused, and the call still waits", async () => {
    const { id, approvalId } = await asked(server, "e.txt");
    const refused = async (decision: Fields, status: number) =>
      errorOf(await decide(server, id, decision), status);
    expect(await refused({ approvalId, approved: true, input: { file: 7 } }, 400)).toContain("remove");
    await refused({ approvalId, approved: "yes" }, 400);
    await refused({ approved: true }, 400);
    expect(await refused({ approvalId: "another", approved: true }, 409)).toContain("does not wait");
    errorOf(await decide(server, "no-such-talk", { approvalId, approved: true }), 404);
    expect((await itemsOf(server)).map((each) => each.conversationId)).toContain(id);
    await server.send("DELETE", `/api/conversations/${id}`);
    await isGone(server, id);
    errorOf(await decide(server, id, { approvalId, approved: true }), 404);
  });

  test("the feed reports a wait, and the count of suspended executions is that of their list", async () => {
    const feed = await server.stream("/api/changes");
    const { suspended } = dataOf(await server.get("/api/server"));
    const { id, item } = await asked(server, "f.txt");
    const change = await feed.until("changes");
    expect(listOf(change, "executions")).toContainEqual(
      expect.objectContaining({ executionId: item.executionId, workflowId: "", status: "suspended" }),
    );
    expect(dataOf(await server.get("/api/server")).suspended).toBe(suspended);
    await server.send("DELETE", `/api/conversations/${id}`);
    await feed.drop();
  });
});

describe("with authentication", () => {
  const as = async (name: string) => bearer(await tokenFor(name));

  test("by default the user of the chat decides, about the call as it is, and another user learns nothing", async () => {
    const server = await serveForTest({ auth: provider() });
    const [ada, eve] = [await as("ada"), await as("eve")];
    const { id, approvalId } = await asked(server, "g.txt", ada);
    expect(await itemsOf(server, eve)).toEqual([]);
    errorOf(await decide(server, id, { approvalId, approved: true }), 401);
    errorOf(await decide(server, id, { approvalId, approved: true }, eve), 404);
    errorOf(await decide(server, id, { approvalId, approved: true, input: { file: "all" } }, ada), 403);
    expect((await decide(server, id, { approvalId, approved: true }, ada)).status).toBe(200);
    await isDone(server, id, ada);
    expect(deleted.filter((file) => file === "g.txt")).toHaveLength(1);
  });

  test("a colleague whom authorize permits decides, and the reply continues for the user of the chat", async () => {
    const server = await serveForTest({
      auth: provider(),
      authorize: ({ userId, action, resource }) =>
        userId === "boss" ? resource.agentId !== "secret" : action !== "conversations.decide" && "own",
    });
    const [ada, boss] = [await as("ada"), await as("boss")];
    const { id, item, approvalId } = await asked(server, "h.txt", ada, boss);
    expect(item).toMatchObject({ userId: "ada", agentId: "careful" });
    errorOf(await decide(server, id, { approvalId, approved: true }, ada), 403);
    const edited = { approvalId, approved: true, input: { file: "h2.txt" } };
    expect((await decide(server, id, edited, boss)).status).toBe(200);
    await isDone(server, id, ada);
    expect(deleted.filter((file) => String(file).startsWith("h"))).toEqual(["h2.txt"]);
    const decision = expect.objectContaining({ by: "boss", edited: true });
    expect(await lastParts(server, id, ada)).toContainEqual(
      expect.objectContaining({ approval: expect.objectContaining({ decision }) }),
    );
    expect(dataOf(await server.get(`/api/conversations/${id}`, ada)).userId).toBe("ada");
  });

  test("a caller who may not read the messages does not see their calls in the inbox", async () => {
    const server = await serveForTest({
      auth: provider(),
      authorize: ({ userId, action }) => userId === "ada" || action !== "conversations.messages",
    });
    await asked(server, "i.txt", await as("ada"));
    expect(await itemsOf(server, await as("ada"))).toHaveLength(1);
    expect(await itemsOf(server, await as("boss"))).toEqual([]);
  });
});

test("a restart between the decision and the reply loses nothing", async () => {
  const { memoryStore } = await import("@andante/core");
  const { wrapStore } = await import("../../packages/core/test/support/wrapped-store.ts");
  const store = memoryStore();
  await store.open();
  const first = await serveForTest({ store: wrapStore(store), grace: 0 });
  const { id, approvalId } = await asked(first, "j.txt");
  expect((await decide(first, id, { approvalId, approved: true })).status).toBe(200);
  await first.close();
  const second = await serveForTest({ store: wrapStore(store) });
  await isDone(second, id);
  expect(await itemsOf(second)).toEqual([]);
  await second.close();
  await store.close();
});
