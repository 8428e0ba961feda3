// options.whenBusy over HTTP: messages while a reply runs are refused, or stop it.
import { Agent } from "@andante/core";
import { describe, expect, test } from "vitest";
import { aborted, agents, heldModel } from "../support/agents.ts";
import { gates } from "../support/gates.ts";
import { dataOf, errorOf, type Fields, listOf } from "../support/responses.ts";
import { serveForTest } from "../support/serve-for-test.ts";

const strict = new Agent({ id: "strict", model: heldModel, whenBusy: "reject" });
const server = await serveForTest({ agents: { ...agents, strict } });

const user = (id: string, text: string) => ({ id, role: "user", parts: [{ type: "text", text }] });

/** A chat whose reply has sent its first word and is held. */
async function busy(conversationId: string, agent = "held") {
  const reply = await server.stream(`/agents/${agent}/chat`, {
    id: conversationId,
    messages: [user("u1", conversationId)],
  });
  await reply.until("text-delta");
  await gates.arrival(conversationId);
  return reply;
}

/** Text and `partial` of each message that is kept. */
async function kept(conversationId: string) {
  const found = await server.get(`/api/conversations/${conversationId}/messages`);
  return listOf(dataOf(found), "messages").map((message) => [
    listOf(message, "parts")
      .map(({ text }) => text ?? "")
      .join(""),
    message.partial ?? false,
  ]);
}

const said = (chunks: readonly Fields[]) =>
  chunks.map(({ type, delta }) => (type === "text-delta" ? delta : "")).join("");

describe("reject", () => {
  const refusal = (id: string) => `Another reply is under way in the conversation ${id}`;

  test.each(["chat", "text", "stream"])(
    "by %s a message while a reply runs is 409, and nothing of it is kept",
    async (form) => {
      const id = `reject-${form}`;
      const reply = await busy(id);
      const message = { input: [user("u2", "next")], options: { conversationId: id, whenBusy: "reject" } };
      const refused = await server.post(`/agents/held/${form}`, message);
      expect(errorOf(refused, 409)).toBe(refusal(id));
      expect(refused.headers.get("x-error-code")).toBe("conversation-busy");
      gates.open(id);
      expect(said(await reply.rest())).toBe("second third");
      expect(await kept(id)).toEqual([
        [id, false],
        ["first second third", false],
      ]);
      gates.open("next");
      expect((await server.post(`/agents/held/${form}`, message)).status, "no reply runs any more").toBe(200);
    },
  );

  test("is also the agent's own, where a message does not choose to wait", async () => {
    const reply = await busy("strict", "strict");
    const send = (id: string, options: Fields) =>
      server.post("/agents/strict/chat", { id: "strict", messages: [user(id, "later")], options });
    expect(errorOf(await send("u2", {}), 409)).toBe(refusal("strict"));
    const waiting = send("u3", { whenBusy: "queue" });
    await expect.poll(() => kept("strict")).toContainEqual(["later", false]);
    for (const gate of ["strict", "later"]) gates.open(gate);
    await reply.rest();
    expect((await waiting).status).toBe(200);
    expect(await kept("strict")).toHaveLength(4);
  });
});

test("interrupt stops the reply that runs, which is kept as far as it came, and the message gets its own", async () => {
  const reply = await busy("interrupt");
  gates.open("instead");
  const next = await server.stream("/agents/held/chat", {
    id: "interrupt",
    messages: [user("u2", "instead")],
    options: { whenBusy: "interrupt" },
  });
  expect((await reply.rest()).at(-2)).toEqual({ type: "abort", reason: "The reply was stopped" });
  expect(aborted, "the call of the model is ended").toContain("interrupt");
  expect(said(await next.rest())).toBe("first second third");
  expect(await kept("interrupt")).toEqual([
    ["interrupt", false],
    ["first ", true],
    ["instead", false],
    ["first second third", false],
  ]);
});

test("an unknown policy is 400 and named", async () => {
  const body = { input: "hi", options: { conversationId: "unknown", whenBusy: "later" } };
  expect(errorOf(await server.post("/agents/held/text", body), 400)).toContain("whenBusy");
});
