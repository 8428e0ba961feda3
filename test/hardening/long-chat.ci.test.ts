// A chat of ten thousand messages with large files, set up as the documents say: only the last message is sent.
import { memoryStore } from "@andante/core";
import { DefaultChatTransport, type UIMessage } from "ai";
import { expect, test } from "vitest";
import { echoModel } from "../support/agents.ts";
import { dataOf, listOf } from "../support/responses.ts";
import { serveForTest } from "../support/serve-for-test.ts";

const conversationId = "long";
const usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0, calls: 0 };
const file = `data:application/pdf;base64,${"A".repeat(1_000_000)}`;

/** Every hundredth of the newest messages has a large file. */
function messageOf(index: number): UIMessage {
  const isUsers = index % 2 === 0;
  const text = { type: "text" as const, text: `message ${index}` };
  const large = { type: "file" as const, mediaType: "application/pdf", url: file };
  const parts = isUsers && index >= 9_000 && index % 100 === 0 ? [text, large] : [text];
  return { id: `m${index}`, role: isUsers ? "user" : "assistant", parts };
}

test("it is loaded newest first, continued, and no request is large", { timeout: 120_000 }, async () => {
  const store = memoryStore();
  const server = await serveForTest({ store });
  for (let index = 0; index < 10_000; index++) {
    const { id: messageId, role, ...rest } = messageOf(index);
    const body = JSON.stringify({ id: messageId, role, ...rest });
    const where = { key: messageId, conversationId, userId: null, at: 1_000 + index };
    if (role === "user")
      await store.conversations.post({
        ...where,
        agentId: "echo",
        title: null,
        messageId,
        body,
        again: false,
      });
    else await store.conversations.keep({ ...where, message: { messageId, body, partial: false }, usage });
  }
  const path = `/api/conversations/${conversationId}/messages?order=newest&limit=100`;
  const newest = listOf(dataOf(await server.get(path)), "messages");
  expect(newest.map(({ id }) => id).slice(0, 2)).toEqual(["m9999", "m9998"]);
  const sizes: number[] = [];
  const transport = new DefaultChatTransport({
    api: `${server.url}/agents/echo/chat`,
    prepareSendMessagesRequest: ({ id, messages, trigger, messageId }) => ({
      body: { id, messages: messages.slice(-1), trigger, messageId },
    }),
    fetch: (input, init) => {
      sizes.push(String(init?.body).length);
      return fetch(input, init);
    },
  });
  const messages = Array.from({ length: 10_000 }, (_, index) => messageOf(index));
  const next: UIMessage = { id: "next", role: "user", parts: [{ type: "text", text: "and now?" }] };
  const sent = { trigger: "submit-message" as const, chatId: conversationId, messageId: undefined };
  const stream = await transport.sendMessages({
    ...sent,
    messages: [...messages, next],
    abortSignal: undefined,
  });
  const types: string[] = [];
  for await (const { type } of stream) types.push(type);
  expect(types.at(-1)).toBe("finish");
  expect(sizes).toEqual([expect.any(Number)]);
  expect(sizes[0]).toBeLessThan(1_000);
  const last = listOf(dataOf(await server.get(path)), "messages").slice(0, 2);
  expect(last.map(({ role }) => role)).toEqual(["assistant", "user"]);
  // The model saw a window of it.
  expect(echoModel.asked.at(-1)?.prompt.length).toBeLessThanOrEqual(52);
});
