// GET and DELETE /agents/:id/chat/:conversationId/stream: coming back to a running answer, and stopping it
import { expect, test } from "vitest";
import { aborted, agents, carefulHeld } from "../support/agents.ts";
import { typesOf } from "../support/event-reader.ts";
import { gates } from "../support/gates.ts";
import { dataOf, errorOf, type Fields, listOf } from "../support/responses.ts";
import { serveForTest } from "../support/serve-for-test.ts";
import { bearer, provider, tokenFor } from "../support/tokens.ts";

const server = await serveForTest({ agents: { ...agents, carefulHeld } });

const user = (id: string, text: string) => ({ id, role: "user", parts: [{ type: "text", text }] });
const path = (id: string, agent = "held") => `/agents/${agent}/chat/${id}/stream`;
const said = (chunks: readonly Fields[]) =>
  chunks
    .filter(({ type }) => type === "text-delta")
    .map(({ delta }) => delta)
    .join("");
const messagesOf = async (id: string) =>
  listOf(dataOf(await server.get(`/api/conversations/${id}/messages`)), "messages");
const textsOf = async (id: string) =>
  (await messagesOf(id)).map((message) =>
    listOf(message, "parts")
      .map((part) => part.text ?? "")
      .join(""),
  );

/** A chat whose answer has said its first word and waits at the door of the same name. */
const begin = async (id: string, options: Fields = {}) => {
  const reader = await server.stream("/agents/held/chat", { id, messages: [user("u1", id)], options });
  await reader.until("text-delta");
  await gates.arrival(id);
  return reader;
};

test("a dropped connection does not stop the answer, and attaching reads it from its beginning", async () => {
  const reader = await begin("attach");
  await reader.drop();
  const attached = await server.stream(path("attach"));
  expect(attached.status).toBe(200);
  expect(attached.headers.get("x-vercel-ai-ui-message-stream")).toBe("v1");
  const start = await attached.next();
  expect(start).toMatchObject({ type: "start", messageId: expect.any(String) });
  gates.open("attach");
  const chunks = await attached.rest();
  expect(said(chunks)).toBe("first second third");
  expect(chunks.at(-1)).toEqual({ type: "[DONE]" });
  expect(aborted).not.toContain("attach");
  expect(await textsOf("attach")).toEqual(["attach", "first second third"]);
  expect((await messagesOf("attach"))[1]?.id).toBe(start?.messageId);
});

test("many read the same answer, each at its own pace", async () => {
  const first = await begin("shared");
  const readers = await Promise.all([1, 2, 3].map(() => server.stream(path("shared"))));
  const slow = await server.stream(path("shared"));
  gates.open("shared");
  for (const reader of readers) expect(said(await reader.rest())).toBe("first second third");
  await first.rest();
  expect(said(await slow.rest())).toBe("first second third");
});

test("a reply continues without any reader", async () => {
  const reader = await begin("alone");
  await reader.drop();
  gates.open("alone");
  await expect.poll(() => textsOf("alone")).toEqual(["alone", "first second third"]);
});

test("204 when none runs: never, not any more, in another agent, and without an answer that can be resumed", async () => {
  expect((await server.get(path("never"))).status).toBe(204);
  expect((await server.get(path("attach"))).status).toBe(204);
  const reader = await begin("elsewhere");
  expect((await server.get(path("elsewhere", "echo"))).status).toBe(204);
  gates.open("elsewhere");
  await reader.rest();
  const mortal = await begin("mortal", { resumable: false });
  expect((await server.get(path("mortal"))).status).toBe(204);
  gates.open("mortal");
  await mortal.rest();
  expect(errorOf(await server.get(path("x", "nobody")), 404)).toBe("Agent nobody not found");
});

test("DELETE stops the reply, ends every reader's stream, and keeps its text as partial", async () => {
  const reader = await begin("stop");
  const attached = await server.stream(path("stop"));
  expect(dataOf(await server.send("DELETE", path("stop")))).toEqual({ stopped: true });
  expect(aborted).toContain("stop");
  for (const each of [reader, attached]) {
    const chunks = await each.rest();
    expect(chunks.at(-2)).toEqual({ type: "abort", reason: "The reply was stopped" });
    expect(chunks.at(-1)).toEqual({ type: "[DONE]" });
  }
  expect(await textsOf("stop")).toEqual(["stop", "first "]);
  expect((await messagesOf("stop"))[1]?.partial).toBe(true);
  expect(dataOf(await server.send("DELETE", path("stop")))).toEqual({ stopped: false });
});

test("attaching to a reply that continues after an approval reads the whole message", async () => {
  const id = "continued";
  const asked = await (
    await server.stream("/agents/careful-held/chat", { id, messages: [user("u1", "go")] })
  ).rest();
  const messageId = asked[0]?.messageId;
  const request = asked.find(({ type }) => type === "tool-approval-request");
  const [, waiting] = await messagesOf(id);
  const parts = listOf(waiting ?? {}, "parts").map((part) =>
    part.type === "tool-remove"
      ? { ...part, state: "approval-responded", approval: { id: request?.approvalId, approved: true } }
      : part,
  );
  const body = { id, messages: [{ id: messageId, role: "assistant", parts }] };
  const reader = await server.stream("/agents/careful-held/chat", body);
  await reader.until("text-delta");
  const attached = await server.stream(path(id, "careful-held"));
  gates.open("careful-held");
  const chunks = await attached.rest();
  expect(typesOf(chunks)).toEqual([
    "start",
    ...["start-step", "text-start", "text-delta", "text-end"],
    ...["tool-input-available", "tool-approval-request", "tool-approval-response", "finish-step"],
    "tool-output-available",
    ...["start-step", "text-start", "text-delta", "text-delta", "text-end", "finish-step"],
    ...["finish", "[DONE]"],
  ]);
  expect(chunks[0]).toMatchObject({ messageId });
  expect(said(chunks)).toBe("May I? It is done.");
  expect(chunks.find(({ type }) => type === "tool-approval-response")).toMatchObject({ approved: true });
  await reader.rest();
  expect(await textsOf(id)).toEqual(["go", "May I? It is done."]);
});

test("a caller that leaves a reply and asks the next thing does not wait for it", async () => {
  const reader = await begin("moved-on");
  await reader.drop();
  const next = { id: "moved-on", messages: [user("u2", "next")] };
  expect(said(await (await server.stream("/agents/echo/chat", next)).rest())).toBe("You said: next");
  expect(aborted).toContain("moved-on");
  expect(await textsOf("moved-on")).toEqual(["moved-on", "first ", "next", "You said: next"]);
});

test("while a client reads it, the next one waits", async () => {
  const reader = await begin("patient");
  const next = server.stream("/agents/echo/chat", { id: "patient", messages: [user("u2", "next")] });
  gates.open("patient");
  expect(said(await reader.rest())).toBe("second third");
  expect(said(await (await next).rest())).toBe("You said: next");
  expect(await textsOf("patient")).toEqual(["patient", "first second third", "next", "You said: next"]);
});

test("another user's message does not wait for the answer: the conversation is missing at once", async () => {
  const guarded = await serveForTest({ auth: provider() });
  const ada = bearer(await tokenFor("ada"));
  const eve = bearer(await tokenFor("eve"));
  const body = { id: "queue", messages: [user("u1", "queue")] };
  const reader = await guarded.stream("/agents/held/chat", body, ada);
  await reader.until("text-delta");
  const asked = { input: "let me in", options: { conversationId: "queue" } };
  expect(errorOf(await guarded.post("/agents/echo/text", asked, eve), 404)).toBe(
    "Conversation queue not found",
  );
  gates.open("queue");
  await reader.rest();
});

test("with authentication another user can neither read nor stop it", async () => {
  const guarded = await serveForTest({ auth: provider() });
  const ada = bearer(await tokenFor("ada"));
  const eve = bearer(await tokenFor("eve"));
  const body = { id: "hers", messages: [user("u1", "hers")] };
  const reader = await guarded.stream("/agents/held/chat", body, ada);
  await reader.until("text-delta");
  expect((await guarded.get(path("hers"), eve)).status).toBe(204);
  expect(dataOf(await guarded.send("DELETE", path("hers"), undefined, eve))).toEqual({ stopped: false });
  errorOf(await guarded.get(path("hers")), 401);
  errorOf(await guarded.send("DELETE", path("hers")), 401);
  const attached = await guarded.stream(path("hers"), undefined, ada);
  expect(attached.status).toBe(200);
  gates.open("hers");
  expect(said(await attached.rest())).toBe("first second third");
  await reader.rest();
});
