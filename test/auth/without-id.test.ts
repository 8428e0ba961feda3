// Tokens that give no user id: they are let in, and share nothing with each other.
import { jwtAuth } from "@andante/server";
import { expect, test } from "vitest";
import { typesOf } from "../support/event-reader.ts";
import { dataOf, errorOf, listOf, textOf } from "../support/responses.ts";
import { serveForTest } from "../support/serve-for-test.ts";
import { bearer, secret, tokenFor } from "../support/tokens.ts";

const mapUser = ({ sub, roles }: Readonly<Record<string, unknown>>) =>
  String(sub).startsWith("machine") ? { roles } : { id: sub };
const server = await serveForTest({ auth: jwtAuth({ secret, mapUser }) });
const one = bearer(await tokenFor("machine-1"));
const other = bearer(await tokenFor("machine-2"));
const ada = bearer(await tokenFor("ada"));

test.each(["text", "stream", "chat"])(
  "%s in a conversation is refused, with the option to change",
  async (route) => {
    const body = { input: "my secret", options: { conversationId: "shared" } };
    expect(errorOf(await server.post(`/agents/echo/${route}`, body, one), 400)).toContain(
      "a conversation belongs to a user, and this token gives no user id",
    );
  },
);

test("a chat message gets a reply, and is kept nowhere", async () => {
  const message = { id: "u1", role: "user", parts: [{ type: "text", text: "my secret" }] };
  const chat = await server.stream("/agents/echo/chat", { id: "theirs", messages: [message] }, one);
  expect(typesOf(await chat.rest())).toContain("finish");
  for (const headers of [one, other, ada]) {
    errorOf(await server.get("/api/conversations/theirs", headers), 404);
    expect((await server.get("/agents/echo/chat/theirs/stream", headers)).status).toBe(204);
  }
});

test("an id of an execution that another has used is a conflict, also with the same input", async () => {
  const body = { input: { a: 1 }, options: { executionId: "chosen" } };
  const started = dataOf(await server.post("/workflows/sum/execute", body, one));
  expect(textOf(started, "executionId")).toBe("chosen");
  for (const path of ["execute", "stream"]) {
    errorOf(await server.post(`/workflows/sum/${path}`, body, other), 409);
  }
  // An execution without an owner is not theirs to replay.
  const replay = { stepId: "wrap", options: { executionId: "again" } };
  for (const headers of [one, other])
    errorOf(await server.post("/workflows/sum/executions/chosen/replay", replay, headers), 403);
});

test("with an id the same start is still the same execution", async () => {
  const body = { input: { a: 1 }, options: { executionId: "hers" } };
  const first = dataOf(await server.post("/workflows/sum/execute", body, ada));
  expect(dataOf(await server.post("/workflows/sum/execute", body, ada))).toEqual(first);
  errorOf(await server.post("/workflows/sum/execute", body, one), 409);
});

test("lists show them nothing: data without an owner is not theirs", async () => {
  for (const [path, key] of [
    ["/api/executions", "executions"],
    ["/api/conversations", "conversations"],
    ["/api/traces", "traces"],
  ] as const) {
    expect(listOf(dataOf(await server.get(path, other)), key), path).toEqual([]);
  }
});
