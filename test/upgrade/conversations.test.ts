// Conversations of every earlier release continue: the next message, an approval, a message that nobody had replied to.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findFixtures } from "./fixture.ts";
import { copyOf, OpenedFixture } from "./opened-fixture.ts";

const folder = mkdtempSync(path.join(tmpdir(), "andante-upgrade-"));
afterAll(() => rmSync(folder, { recursive: true }));

const whose = { userId: "ada" };
const found = findFixtures().filter(({ name }) => name === "conversations");

describe.each(found)("$release", (each) => {
  let opened: OpenedFixture;
  // One for all tests: each has a conversation of its own, and opening takes the most time.
  beforeAll(async () => {
    opened = new OpenedFixture(each, copyOf(each, folder));
    await opened.andante.ready();
  });
  afterAll(() => opened.andante.close({ grace: 0 }));

  const chat = async (agentId: string, conversationId: string, message: object) => {
    const chunks = await opened.andante.agents.chat(agentId, [message], { conversationId, ...whose });
    for await (const _ of chunks);
    return (await opened.andante.conversations.messages(conversationId, whose)).messages;
  };
  const user = (id: string, text: string) => ({ id, role: "user", parts: [{ type: "text", text }] });

  test("the next message is replied to with what was said before in view", async () => {
    const messages = await chat("echo", "kept", user("m3", "Good night"));
    expect(messages.map(({ role }) => role)).toEqual(Array(3).fill(["user", "assistant"]).flat());
    expect(messages.at(-1)?.parts).toContainEqual(expect.objectContaining({ text: "You said: Good night" }));
    expect(opened.asked.splice(0)).toEqual(["Good night"]);
    const { title, usage } = await opened.andante.conversations.read("kept", whose);
    expect({ title, calls: usage.calls }).toEqual({ title: "Greetings", calls: 3 });
  });

  test("a tool call that waited for approval is made once it is approved", async () => {
    const { messages } = await opened.andante.conversations.messages("approval", whose);
    const [, waiting] = messages;
    const parts = waiting?.parts.map((part) =>
      part.type === "tool-remove" && part.state === "approval-requested"
        ? { ...part, state: "approval-responded", approval: { id: part.approval.id, approved: true } }
        : part,
    );
    const [, replied] = await chat("careful", "approval", { id: waiting?.id, role: "assistant", parts });
    expect(opened.asked.splice(0)).toEqual(["tool: remove old.txt", "old.txt"]);
    expect(replied?.id).toBe(waiting?.id);
    expect(replied?.parts).toContainEqual(
      expect.objectContaining({
        type: "tool-remove",
        state: "output-available",
        output: "old.txt was removed",
      }),
    );
    expect(replied?.parts).toContainEqual(expect.objectContaining({ type: "text", text: "It is gone." }));
  });

  test("a message that the process died over is replied to when it is sent again", async () => {
    const messages = await chat("echo", "without-reply", user("m1", "Are you there?"));
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
    expect(messages.at(-1)?.parts).toContainEqual(
      expect.objectContaining({ text: "You said: Are you there?" }),
    );
  });

  test("a reply that broke off is still marked so, and the conversation continues", async () => {
    const messages = await chat("echo", "broken", user("m2", "Again"));
    expect(messages.map(({ partial }) => partial)).toEqual([undefined, true, undefined, undefined]);
    expect(messages.at(-1)?.parts).toContainEqual(expect.objectContaining({ text: "You said: Again" }));
  });
});
