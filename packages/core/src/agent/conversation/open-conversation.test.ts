// A conversation for one reply: the messages that the model sees, the message that is kept, and the title.
import { tool, type UIMessage } from "ai";
import { expect, test, vi } from "vitest";
import { z } from "zod";
import type { ConversationStore } from "../../store/conversation-store.ts";
import { type Opening, openConversation, titleOf } from "./open-conversation.ts";

const where = { conversationId: "c", userId: "ada" };
const inputSchema = z.object({});
const tools = { ask: tool({ inputSchema, outputSchema: z.string() }) };
const said = (id: string, role: UIMessage["role"], ...texts: string[]): UIMessage => ({
  ...{ id, role },
  parts: texts.map((text) => ({ type: "text", text })),
});
const stored = (message: UIMessage) => ({
  ...{ sequence: 1, messageId: message.id, createdAt: 0, partial: false, body: JSON.stringify(message) },
});

function opened(sent: UIMessage, recent: readonly UIMessage[] | undefined, changes: Partial<Opening> = {}) {
  const read = vi.fn(async () => recent?.map(stored));
  const store: ConversationStore = Object({ recent: read });
  const agent = { id: "a", window: 3, memory: {} };
  const opening = { agent, tools, ...where, again: false, named: false, at: 9, ...changes };
  return { read, opening: openConversation(store, opening, sent) };
}

const [u1, a1, u2] = [said("u1", "user", "one"), said("a1", "assistant", "reply"), said("u2", "user", "two")];

test("a message of the user is added after those before it", async () => {
  const { read, opening } = opened(u2, undefined);
  const { messages, messageId, message } = await opening;
  expect(read).not.toHaveBeenCalled();
  expect(messageId).toMatch(/^[0-9a-f-]{36}$/);
  expect(message).toEqual({
    ...{ kind: "post", messageId: "u2", body: JSON.stringify(u2), title: "two", again: false, at: 9 },
  });
  expect(messages([])).toEqual([u2]);
  expect(messages([u1, a1].map(stored))).toEqual([u1, a1, u2]);
});

test.each<[string, boolean, readonly UIMessage[] | undefined]>([
  ["the last message", false, [u2, a1]],
  ["the first message of a conversation", false, undefined],
  ["a message that has no user's message beside it", false, [a1]],
  ["an older message whose reply is named", true, [u1, a1]],
])("another reply to %s is wanted", async (_, named, recent) => {
  const { read, opening } = opened(u2, recent, { again: true, named });
  expect((await opening).message).toMatchObject({ kind: "post", messageId: "u2", again: true });
  expect(read.mock.calls).toEqual(named ? [] : [[{ ...where, limit: 2 }]]);
});

test("another reply to an older message is a conflict", async () => {
  const { opening } = opened(u1, [u2, a1], { again: true });
  await expect(opening).rejects.toMatchObject({
    code: "conversation-conflict",
    message: "Message u1 is followed by newer ones: name the reply to replace (messageId)",
  });
});

const call = { type: "tool-ask", toolCallId: "t", input: {} } as const;
const waiting = { ...call, state: "input-available" } as const;
const answered = { ...call, state: "output-available", output: "yes" } as const;
const asking: UIMessage = { id: "a1", role: "assistant", parts: [waiting] };

test("decisions on the last message of the assistant are kept in its place", async () => {
  const decided: UIMessage = { ...asking, parts: [answered] };
  const { read, opening } = opened(decided, [u1, asking]);
  const { messages, messageId, message } = await opening;
  expect(read.mock.calls).toEqual([[{ ...where, limit: 4 }]]);
  expect(messageId).toBe("a1");
  expect(message).toEqual({
    ...{ kind: "replace", messageId: "a1", previous: JSON.stringify(asking) },
    ...{ body: JSON.stringify(decided), at: 9 },
  });
  expect(messages([stored(u2)])).toEqual([u1, decided]);
});

test.each<[string, UIMessage, readonly UIMessage[] | undefined, object]>([
  ["of a conversation that is not there", asking, undefined, { code: "conversation-not-found" }],
  [
    "on a message that is not the last",
    asking,
    [asking, u2],
    {
      code: "input-validation",
      message: expect.stringContaining(
        "input: in a conversation the last message must be from the user, or be the assistant's latest one",
      ),
    },
  ],
  [
    "in an empty conversation",
    asking,
    [],
    { message: expect.stringContaining("the last message must be from the user") },
  ],
  [
    "that do not fit the tool",
    { ...asking, parts: [{ ...answered, output: 5 }] },
    [u1, asking],
    { status: 400, message: expect.stringContaining("input") },
  ],
])("decisions %s are refused", async (_, sent, recent, expected) => {
  await expect(opened(sent, recent).opening).rejects.toMatchObject(expected);
});

test.each<[string | null, UIMessage["parts"]]>([
  [null, []],
  [null, [{ type: "text", text: " \n " }]],
  [
    "one two three",
    [{ type: "text", text: " one\n\t two " }, { type: "step-start" }, { type: "text", text: "three" }],
  ],
  ["x".repeat(80), [{ type: "text", text: "x".repeat(80) }]],
  [`${"x".repeat(79)}…`, [{ type: "text", text: "x".repeat(81) }]],
  [`${"😀".repeat(79)}…`, [{ type: "text", text: "😀".repeat(81) }]],
])("the title %j", (title, parts) => {
  expect(titleOf({ id: "u", role: "user", parts })).toBe(title);
});
